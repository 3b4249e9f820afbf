// @ts-check
/**
 * Moving boards for a replay: cm-chessboard in place of the server's pictures, so that pieces are seen to move.
 *
 * What is on a board comes from the server, as JSON in the attribute data-board of its figure. No rules are here.
 */

import { isQuiet, makeBoard } from "./chessboard.js";

/**
 * What a board shows, as board_data (picture_view.py) writes it.
 * @typedef {object} BoardData
 * @property {string} placement the first field of a FEN
 * @property {string | null} last_move in UCI
 * @property {string | null} check the square of a king in check
 * @property {string[]} window the squares of a sense
 * @property {string[]} unseen
 * @property {"white" | "black"} orientation
 */

const FILES = "abcdefgh";

/** A board that stays the same from ply to ply, while the figures around it change. */
class MovingBoard {
  /**
   * @param {import("./chessboard.js").Library} library
   * @param {string} sprite the address of the pieces
   */
  constructor(library, sprite) {
    this.element = document.createElement("div");
    this.element.className = "replayed";
    this.element.setAttribute("role", "img");
    this.still = isQuiet();
    this.squares = this.element.appendChild(document.createElement("div"));
    this.squares.className = "replayed-squares";
    this.squares.setAttribute("aria-hidden", "true"); // the element has the words of the picture
    const pieces = this.element.appendChild(document.createElement("div"));
    pieces.setAttribute("aria-hidden", "true");
    this.board = makeBoard(library, pieces, sprite);
    this.busy = false;
  }

  /**
   * Stand in a figure in place of its picture, and show what the picture shows.
   * @param {HTMLElement} figure
   * @param {boolean} animated
   */
  stand(figure, animated) {
    const image = /** @type {HTMLImageElement} */ (figure.querySelector("img"));
    const data = /** @type {BoardData} */ (JSON.parse(figure.dataset.board ?? ""));
    this.element.setAttribute("aria-label", image.alt);
    image.replaceWith(this.element);
    void this.show(data, animated);
  }

  /**
   * Show a position. A step that comes while pieces still move is not drawn as a movement.
   * @param {BoardData} data
   * @param {boolean} animated
   */
  async show(data, animated) {
    this.mark(data);
    const moves = animated && !this.still && !this.busy;
    this.busy = true;
    const side = data.orientation === "black" ? "b" : "w";
    if (this.board.getOrientation() !== side) await this.board.setOrientation(side, false);
    await this.board.setPosition(data.placement.replaceAll("~", ""), moves);
    this.busy = false;
  }

  /**
   * Draw the squares with their marks, and name the files and ranks.
   * @param {BoardData} data
   */
  mark(data) {
    const moved = data.last_move?.replace(/^.@/, "").match(/[a-h][1-8]/g) ?? [];
    const cells = [];
    for (let row = 0; row < 8; row++) {
      for (let column = 0; column < 8; column++) {
        const turned = data.orientation === "black";
        const file = FILES[turned ? 7 - column : column];
        const rank = String(turned ? row + 1 : 8 - row);
        const square = `${file}${rank}`;
        const cell = document.createElement("i");
        cell.classList.add((row + column) % 2 ? "dark" : "light");
        cell.classList.toggle("moved", moved.includes(square));
        cell.classList.toggle("check", data.check === square);
        cell.classList.toggle("window", data.window.includes(square));
        cell.classList.toggle("unseen", data.unseen.includes(square));
        if (row === 7) cell.dataset.file = file;
        if (column === 0) cell.dataset.rank = rank;
        cells.push(cell);
      }
    }
    this.squares.replaceChildren(...cells);
  }
}

/** The moving boards of a page. Without cm-chessboard, the server's pictures stay. */
export class MovingBoards {
  /** @type {MovingBoard[]} */
  #boards = [];
  /** @type {import("./chessboard.js").Library | null} */
  #library = null;

  /** @param {string | undefined} sprite the address of the pieces; undefined without cm-chessboard */
  constructor(sprite) {
    this.sprite = sprite;
  }

  /** Load cm-chessboard. */
  async load() {
    if (this.sprite === undefined) return;
    try {
      this.#library = await import("./cm-chessboard/src/Chessboard.js");
    } catch (error) {
      console.warn("the moving board cannot be shown", error);
    }
  }

  /**
   * Put moving boards in place of the pictures of a part of the page.
   * @param {ParentNode} part
   * @param {boolean} animated
   */
  stand(part, animated) {
    if (this.#library === null || this.sprite === undefined) return;
    for (const [index, figure] of [...part.querySelectorAll("figure[data-board]")].entries()) {
      const board = (this.#boards[index] ??= new MovingBoard(this.#library, this.sprite));
      board.stand(/** @type {HTMLElement} */ (figure), animated);
    }
  }
}
