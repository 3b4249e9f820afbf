// @ts-check
/** Squares, and the names of pieces. Nothing here knows how they move. */

/** @typedef {import("./chessground/dist/types").Key} Key */
/** @typedef {import("./chessground/dist/types").Piece} Piece */

export const FILES = "abcdefgh";

/** The squares in the order of the server's rows: a1, b1 to h8. */
export const SQUARES = [..."12345678"].flatMap((rank) => [...FILES].map((file) => /** @type {Key} */ (`${file}${rank}`)));

/** @type {Readonly<Record<string, string>>} */
export const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/**
 * The symbols of pieces, drawn as text.
 * @type {Readonly<Record<string, string>>}
 */
export const SYMBOLS = { p: "♟", n: "♞", b: "♝", r: "♜", q: "♛", k: "♚" };

/**
 * Return an element that is drawn as a piece inside of an element of the class "cg-wrap".
 * @param {string} letter of FEN: "K" is White's king
 */
export function drawnPiece(letter) {
  const piece = document.createElement("piece");
  piece.className = `${letter === letter.toUpperCase() ? "white" : "black"} ${NAMES[letter.toLowerCase()]}`;
  return piece;
}

/**
 * Return the square so many files and ranks away; null beside the board.
 * @param {string} square
 * @param {number} files
 * @param {number} ranks
 * @returns {Key | null}
 */
export function away(square, files, ranks) {
  const file = FILES[FILES.indexOf(square[0] ?? "") + files];
  const rank = Number(square[1]) + ranks;
  return file !== undefined && rank >= 1 && rank <= 8 ? /** @type {Key} */ (`${file}${rank}`) : null;
}

/**
 * Return the squares of the window around a square.
 * @param {string} square
 */
export function windowAround(square) {
  const steps = [-1, 0, 1];
  const found = steps.flatMap((ranks) => steps.map((files) => away(square, files, ranks)));
  return found.flatMap((each) => (each === null ? [] : [each]));
}

/**
 * Return a probability in percent.
 * @param {number} share from 0 to 1
 */
export function percent(share) {
  if (share > 0 && share < 0.01) return "under 1 %";
  return share > 0.99 && share < 1 ? "over 99 %" : `${Math.round(100 * share)} %`;
}
