// @ts-check
/** The form for a new game: where the chosen opponent does not play the chosen variant, another one is chosen. */

const form = document.querySelector("form.play-form");

/** The opponents' radio buttons. */
const opponents = /** @type {HTMLInputElement[]} */ ([...(form?.querySelectorAll("input[name=opponent]") ?? [])]);

/**
 * Return whether an opponent plays a variant.
 * @param {HTMLInputElement} opponent
 * @param {string} variant
 */
function plays(opponent, variant) {
  return (opponent.closest("label")?.dataset.plays ?? "").split(" ").includes(variant);
}

form?.addEventListener("change", (event) => {
  const changed = event.target;
  if (!(changed instanceof HTMLInputElement) || changed.name !== "variant") return;
  if (opponents.some((each) => each.checked && plays(each, changed.value))) return;
  const able = opponents.filter((each) => plays(each, changed.value));
  const bots = able.filter((each) => each.value.startsWith("bot:"));
  const other = bots[1] ?? bots[0] ?? able[0]; // the weakest bot that plays to win, as the server begins with
  if (other !== undefined) other.checked = true;
});
