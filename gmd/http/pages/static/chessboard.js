// @ts-check
/** The pieces of a board, drawn by cm-chessboard: it moves them, and everything else is drawn by others. */

/** @typedef {typeof import("./cm-chessboard/src/Chessboard.js")} Library */

/**
 * Return an empty board.
 * @param {Library} library
 * @param {HTMLElement} place the element that it fills
 * @param {string} sprite the address of the pieces
 */
export function makeBoard({ BORDER_TYPE, Chessboard, FEN }, place, sprite) {
  return new Chessboard(place, {
    position: FEN.empty,
    assetsUrl: "",
    assetsCache: false, // the sprite has styles of its own, which may not stand in the page
    style: {
      cssClass: "gmd",
      showCoordinates: false, // they have styles of their own, which the page's policy forbids
      borderType: BORDER_TYPE.none,
      pieces: { file: sprite },
      animationDuration: isQuiet() ? 0 : 200,
    },
  });
}

/** Return whether the visitor wants nothing to move. */
export function isQuiet() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
