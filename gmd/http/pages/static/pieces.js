// @ts-check
/** Pieces by their squares, and their names. Nothing here knows how they move. */

/** @typedef {Map<string, string>} Pieces Squares with the letters of FEN: "e1" has "K". */

export const FILES = "abcdefgh";

/** @type {Readonly<Record<string, string>>} */
export const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/**
 * The symbols of pieces, drawn as text.
 * @type {Readonly<Record<string, string>>}
 */
export const SYMBOLS = { p: "♟", n: "♞", b: "♝", r: "♜", q: "♛", k: "♚" };

/**
 * Return the pieces of the first field of a FEN.
 * @param {string} placement
 * @returns {Pieces}
 */
export function readPlacement(placement) {
  /** @type {Pieces} */
  const pieces = new Map();
  placement.split("/").forEach((row, index) => {
    let file = 0;
    for (const each of row.replaceAll("~", "")) {
      if (/\d/.test(each)) file += Number(each);
      else pieces.set(`${FILES[file++]}${8 - index}`, each);
    }
  });
  return pieces;
}

/**
 * Return the first field of a FEN.
 * @param {Pieces} pieces
 */
export function writePlacement(pieces) {
  const rows = [8, 7, 6, 5, 4, 3, 2, 1].map((rank) => [...FILES].map((file) => pieces.get(`${file}${rank}`) ?? "1"));
  return rows.map((row) => row.join("").replace(/1+/g, (gap) => String(gap.length))).join("/");
}

/**
 * Return the side of a piece.
 * @param {string} piece
 * @returns {import("./view.js").Color}
 */
export function sideOf(piece) {
  return piece === piece.toUpperCase() ? "white" : "black";
}

/**
 * Return a piece's name, as "white knight".
 * @param {string} piece
 */
export function nameOf(piece) {
  return `${sideOf(piece)} ${NAMES[piece.toLowerCase()] ?? piece}`;
}

/**
 * Return the square so many files and ranks away; null beside the board.
 * @param {string} square
 * @param {number} files
 * @param {number} ranks
 */
export function away(square, files, ranks) {
  const file = FILES[FILES.indexOf(square[0] ?? "") + files];
  const rank = Number(square[1]) + ranks;
  return file !== undefined && rank >= 1 && rank <= 8 ? `${file}${rank}` : null;
}

/**
 * Return the squares of the window around a square.
 * @param {string} square
 * @returns {string[]}
 */
export function windowAround(square) {
  const steps = [-1, 0, 1];
  const found = steps.flatMap((ranks) => steps.map((files) => away(square, files, ranks)));
  return found.flatMap((each) => (each === null ? [] : [each]));
}
