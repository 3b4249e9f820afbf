// @ts-check
/** Finds among the moves that the server lists those that somebody means by two squares. */

import { FILES } from "./pieces.js";

/** @typedef {import("./pieces.js").Key} Key */

/**
 * Return the moves by the squares where they begin, and by the squares that may be chosen as their ends.
 *
 * Castling is listed once. It may be chosen by the king's target as well as by the rook's square, unless another move
 * ends there.
 * @param {readonly string[]} moves in UCI; drops are left out
 * @param {ReadonlyMap<Key, import("./pieces.js").Piece>} pieces
 * @returns {Map<Key, Map<Key, string[]>>}
 */
export function bySquares(moves, pieces) {
  /** @type {Map<Key, Map<Key, string[]>>} */
  const found = new Map();
  for (const move of moves) {
    if (move.includes("@")) continue;
    const [from, end] = squaresOf(move);
    const ends = found.get(from) ?? new Map();
    ends.set(end, [...(ends.get(end) ?? []), move]);
    found.set(from, ends);
  }
  for (const [from, ends] of found) {
    for (const [end, same] of [...ends]) {
      const other = otherEnd(from, end, pieces);
      if (other !== null && other !== from && !ends.has(other)) ends.set(other, same);
    }
  }
  return found;
}

/**
 * Return the other square by which castling may be chosen; null for another move.
 * @param {Key} from
 * @param {Key} end
 * @param {ReadonlyMap<Key, import("./pieces.js").Piece>} pieces
 */
function otherEnd(from, end, pieces) {
  const king = pieces.get(from);
  if (king?.role !== "king") return null;
  const step = FILES.indexOf(end[0] ?? "") - FILES.indexOf(from[0] ?? "");
  if (pieces.get(end)?.color === king.color) return /** @type {Key} */ (`${step > 0 ? "g" : "c"}${from[1]}`);
  const rook = /** @type {Key} */ (`${step > 0 ? "h" : "a"}${from[1]}`);
  return Math.abs(step) === 2 && pieces.get(rook)?.role === "rook" ? rook : null;
}

/**
 * Return the squares of a move in UCI: of a drop its target alone.
 * @param {string | null} move
 */
export function squaresOf(move) {
  return /** @type {[Key, Key]} */ (move?.match(/[a-h][1-8]/g) ?? []);
}
