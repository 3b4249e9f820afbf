// @ts-check
/** The aid of a player of blind chess: the squares on which an enemy piece may still stand, as the server counts them. */

const button = document.getElementById("aid");
const words = document.getElementById("aid-words");
const path = document.getElementById("game")?.dataset.path ?? "";
const named = document.getElementById("game")?.dataset.named ?? "";

/** The squares in the order of the server's rows. */
const SQUARES = [..."12345678"].flatMap((rank) => [..."abcdefgh"].map((file) => `${file}${rank}`));

let on = false;
/** @type {(() => void) | null} */
let again = null;
/** The number of the state for which the squares were asked last. */
let asked = -1;

/**
 * Show the squares for a state, if the aid is on.
 * @param {import("./view.js").LiveView} view
 * @param {(squares: readonly string[]) => void} show
 */
export function follow(view, show) {
  again = () => void refresh(view, show);
  if (view.over) on = false;
  again();
}

/**
 * @param {import("./view.js").LiveView} view
 * @param {(squares: readonly string[]) => void} show
 */
async function refresh(view, show) {
  if (!on || words === null) {
    asked = -1;
    if (words !== null) words.textContent = "";
    return show([]);
  }
  if (asked === view.seq) return;
  asked = view.seq;
  try {
    const answer = await fetch(`${path}/aid${named ? `?view=${named}` : ""}`, { headers: { accept: "application/json" } });
    const body = await answer.json();
    if (!on || asked !== view.seq) return;
    const aid = /** @type {import("./view.js").Aid} */ (body);
    words.textContent = answer.ok ? aid.words : body.error;
    show(answer.ok ? Object.values(aid.shares).flatMap((row) => SQUARES.filter((_, index) => row[index])) : []);
  } catch (error) {
    console.warn(error);
    words.textContent = "The server cannot be reached.";
  }
}

button?.addEventListener("click", () => {
  on = !on;
  button.setAttribute("aria-pressed", String(on));
  again?.();
});
