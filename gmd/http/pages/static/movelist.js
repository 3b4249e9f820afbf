// @ts-check
/** The list of moves, or of a blind player's own turns, which grows with the game. */

const list = document.getElementById("movetext");

/** Return the last ply of the list. */
export function lastListed() {
  const links = list?.querySelectorAll("[data-ply]") ?? [];
  const last = links[links.length - 1];
  return last instanceof HTMLElement ? Number(last.dataset.ply) : 0;
}

/**
 * Add moves that the list lacks.
 * @param {readonly import("./view.js").Move[]} moves
 * @param {string} path the address of the game
 */
export function addMoves(moves, path) {
  if (list === null) return;
  for (const move of moves) {
    if (move.ply <= lastListed()) continue;
    const row = list.querySelector(`[data-number="${move.number}"]`) ?? newRow(move);
    const link = document.createElement("a");
    link.href = `${path}?ply=${move.ply}`;
    link.dataset.ply = String(move.ply);
    link.textContent = move.san;
    row.querySelector(".gap:last-child")?.remove();
    row.append(" ", link);
  }
  list.scrollTop = list.scrollHeight;
}

/**
 * Scroll a list, and nothing around it, until it shows an entry.
 * @param {Element | null} scrolled
 * @param {Element | null | undefined} entry
 */
export function reveal(scrolled, entry) {
  if (scrolled === null || !entry) return;
  const [outer, inner] = [scrolled.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (inner.top < outer.top) scrolled.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) scrolled.scrollTop += inner.bottom - outer.bottom;
}

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/**
 * Step through a list by the arrow keys, Home and End, unless somebody is typing. In a field that is empty these keys do
 * nothing else; a field that was hidden with the focus has it until the page is drawn again.
 * @param {(step: number) => void} take
 */
export function stepByKeys(take) {
  document.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const focused = event.target instanceof Element ? event.target.closest("input, textarea, select") : null;
    const field = focused?.closest("[hidden]") ? null : focused;
    if (field !== null && !(field instanceof HTMLInputElement && field.value === "" && !field.readOnly)) return;
    event.preventDefault();
    take(step);
  });
}

/** @param {import("./view.js").Move} move */
function newRow(move) {
  const row = document.createElement("li");
  row.dataset.number = String(move.number);
  row.innerHTML = `<span class="number">${move.number}.</span>`;
  if (move.color === "black") row.insertAdjacentHTML("beforeend", ' <span class="gap">…</span> ');
  list?.append(row);
  return row;
}

// --- A blind player's own turns ---------------------------------------------------------------------------------------

/** @typedef {import("./view.js").Turn} Turn */

const own = document.getElementById("turns");

/**
 * The turns that the page has.
 * @type {Turn[]}
 */
export const turns = [];

/** Return the ply of the last turn of the list. */
export function lastTurn() {
  return turns[turns.length - 1]?.ply ?? 0;
}

/**
 * Add turns that the list lacks, or knows in part.
 * @param {readonly Turn[]} given
 */
export function addTurns(given) {
  if (own === null) return;
  for (const turn of given) {
    turns[turn.number - 1] = turn;
    const item = own.children[turn.number - 1] ?? own.appendChild(document.createElement("li"));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.dataset.step = String(turn.number);
    button.textContent = `${turn.number}. ${turn.words.join(" ")}`;
    const focused = item.contains(document.activeElement);
    item.replaceChildren(button);
    if (focused) button.focus();
  }
  if (given.length > 0) own.scrollTop = own.scrollHeight;
}
