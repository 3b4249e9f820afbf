// @ts-check
/** Draws the pieces of a board: cm-chessboard does, or else the server's own picture. */

import { isQuiet, makeBoard } from "./chessboard.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {object} Painter
 * @property {(placement: string, animated: boolean) => void} show
 * @property {(bottom: import("./view.js").Color) => void} turn
 * @property {(piece: string) => Element | null} picture
 */

/**
 * Return what draws the board.
 * @param {HTMLElement} place where the moving board is to stand
 * @param {HTMLElement} still the picture of the server's, which it replaces
 * @param {string | undefined} sprite the address of the pieces; undefined without cm-chessboard
 * @returns {Promise<Painter>}
 */
export async function makePainter(place, still, sprite) {
  if (sprite !== undefined) {
    try {
      return await movingBoard(place, still, sprite);
    } catch (error) {
      console.warn("the moving board cannot be shown", error);
    }
  }
  return stillBoard(still);
}

/**
 * @param {HTMLElement} place
 * @param {HTMLElement} still
 * @param {string} sprite
 * @returns {Promise<Painter>}
 */
async function movingBoard(place, still, sprite) {
  const library = await import("./cm-chessboard/src/Chessboard.js");
  still.hidden = true;
  place.hidden = false;
  const board = makeBoard(library, place, sprite);
  return {
    show: (placement, animated) => void board.setPosition(placement, animated && !isQuiet()),
    turn: (bottom) => void board.setOrientation(bottom === "white" ? "w" : "b", false),
    picture: (piece) => drawn(piece, sprite),
  };
}

/**
 * Return a picture of a piece.
 * @param {string} piece
 * @param {string} sprite
 */
export function drawn(piece, sprite) {
  const name = `${piece === piece.toUpperCase() ? "w" : "b"}${piece.toLowerCase()}`;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 40 40");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${sprite}#${name}`);
  svg.append(use);
  return svg;
}

/**
 * @param {HTMLElement} still
 * @returns {Painter}
 */
function stillBoard(still) {
  const image = /** @type {HTMLImageElement} */ (still.querySelector("img"));
  const address = new URL(image.src);
  still.parentElement?.classList.add("framed");
  const load = () => {
    address.searchParams.set("at", String(Date.now()));
    image.src = address.href;
  };
  let shown = "";
  return {
    show: (placement) => {
      if (shown !== "" && shown !== placement) load();
      shown = placement;
    },
    turn: (bottom) => {
      const turned = address.searchParams.get("flip") === "1";
      if (turned === (bottom === "black")) return;
      if (turned) address.searchParams.delete("flip");
      else address.searchParams.set("flip", "1");
      load();
    },
    picture: () => null,
  };
}
