// @ts-check
/** The list of moves, which grows with the game. */

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

/** @param {import("./view.js").Move} move */
function newRow(move) {
  const row = document.createElement("li");
  row.dataset.number = String(move.number);
  row.innerHTML = `<span class="number">${move.number}.</span>`;
  if (move.color === "black") row.insertAdjacentHTML("beforeend", ' <span class="gap">…</span> ');
  list?.append(row);
  return row;
}
