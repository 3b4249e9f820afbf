// @ts-check
/** The place of a game in the queue of a busy bot. */

/** Milliseconds between two looks. */
const LOOK = 3_000;

/**
 * Ask for the game's place until it begins.
 * @param {string} path the address of the game
 * @param {HTMLElement} place
 */
export function followQueue(path, place) {
  const timer = setInterval(() => void look(), LOOK);

  async function look() {
    if (place.closest("[hidden]") !== null) return clearInterval(timer);
    if (document.visibilityState !== "visible") return;
    try {
      const answer = await fetch(`${path}/queue`);
      if (!answer.ok) return;
      const { ahead } = /** @type {{ ahead: number | null }} */ (await answer.json());
      if (ahead !== null && place.textContent !== String(ahead + 1)) place.textContent = String(ahead + 1);
    } catch {
      // the next look brings another try
    }
  }
}
