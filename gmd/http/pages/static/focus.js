// @ts-check
/** Keeps the focus with a player who uses the keyboard, while the controls come and go with the turns. */

/** Whether a field with the focus was hidden: its player goes on typing when there is one again. */
let typing = false;

/**
 * Show and hide controls. A field that is hidden while it has the focus leaves it to the next field that is shown; a
 * button leaves it to the board.
 * @param {HTMLElement} controls
 * @param {() => void} change
 * @param {boolean} over whether the game is over: no field will be shown any more
 */
export function keepFocus(controls, change, over) {
  const focused = document.activeElement;
  const byKeys = focused?.matches(":focus-visible") === true;
  change();
  if (focused instanceof HTMLElement && controls.contains(focused)) {
    if (focused.closest("[hidden]") === null) return;
    if (focused instanceof HTMLInputElement && !over) typing = true;
    else if (byKeys) /** @type {HTMLElement | null} */ (document.querySelector(".cells [tabindex='0']"))?.focus({ preventScroll: true });
  } else if (focused !== null && focused !== document.body) typing = false;
  if (!typing) return;
  const field = [...controls.querySelectorAll("#square, #move")].find((each) => each.closest("[hidden]") === null);
  if (!(field instanceof HTMLElement)) return;
  typing = false;
  field.focus({ preventScroll: true });
}
