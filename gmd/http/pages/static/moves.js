// @ts-check
/** Finds among the moves that the server lists those that somebody means by two squares. */

import { FILES, sideOf } from "./pieces.js";

/**
 * Return the moves that lead from a square, by the squares that may be chosen as their ends.
 *
 * Castling is listed once. It may be chosen by the king's target as well as by the rook's square, unless another move
 * ends there.
 * @param {readonly string[]} moves in UCI
 * @param {string} from
 * @param {import("./pieces.js").Pieces} pieces
 * @returns {Map<string, string[]>}
 */
export function endsFrom(moves, from, pieces) {
  /** @type {Map<string, string[]>} */
  const ends = new Map();
  const mine = moves.filter((move) => move.startsWith(from) && !move.includes("@"));
  for (const move of mine) {
    const end = move.slice(2, 4);
    ends.set(end, [...(ends.get(end) ?? []), move]);
  }
  for (const move of mine) {
    const other = otherEnd(move, from, pieces);
    if (other !== null && other !== from && !ends.has(other)) ends.set(other, [move]);
  }
  return ends;
}

/**
 * Return the other square by which castling may be chosen; null for another move.
 * @param {string} move
 * @param {string} from
 * @param {import("./pieces.js").Pieces} pieces
 * @returns {string | null}
 */
function otherEnd(move, from, pieces) {
  const king = pieces.get(from);
  if (king === undefined || king.toLowerCase() !== "k") return null;
  const end = move.slice(2, 4);
  const rank = from[1] ?? "";
  const step = FILES.indexOf(end[0] ?? "") - FILES.indexOf(from[0] ?? "");
  const target = pieces.get(end);
  if (target !== undefined && sideOf(target) === sideOf(king)) return `${step > 0 ? "g" : "c"}${rank}`;
  if (Math.abs(step) !== 2) return null;
  const rook = `${step > 0 ? "h" : "a"}${rank}`;
  return pieces.get(rook)?.toLowerCase() === "r" ? rook : null;
}

/**
 * Return the squares on which a piece in hand may be dropped.
 * @param {readonly string[]} moves
 * @param {string} piece in capitals
 * @returns {Map<string, string[]>}
 */
export function dropsOf(moves, piece) {
  const drops = moves.filter((move) => move.startsWith(`${piece}@`));
  return new Map(drops.map((move) => [move.slice(2), [move]]));
}
