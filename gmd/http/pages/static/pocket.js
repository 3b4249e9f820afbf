// @ts-check
/** The pieces that a player of crazyhouse has in hand: each is dragged to a square, or pressed and then a square chosen. */

import { drawnPiece, NAMES } from "./pieces.js";

/** @typedef {import("./chessground/dist/types").Piece} Piece */
/** @typedef {import("./chessground/dist/types").MouchEvent} MouchEvent */

export class Pocket {
  /** @type {string | null} */
  #held = null;

  /**
   * @param {HTMLElement} place
   * @param {{ hold: () => void, drag: (piece: Piece, event: MouchEvent) => void }} handlers
   */
  constructor(place, handlers) {
    this.place = place;
    this.handlers = handlers;
  }

  /** The letter of the piece to be dropped, in capitals; null for none. */
  get held() {
    return this.#held;
  }

  /**
   * Show the pieces in hand.
   * @param {import("./view.js").Color} side
   * @param {string} letters
   */
  show(side, letters) {
    const kinds = [...new Set(letters.toUpperCase())];
    if (this.#held !== null && !kinds.includes(this.#held)) this.#held = null;
    this.place.hidden = kinds.length === 0;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.drop : undefined;
    const counted = kinds.map((kind) => this.#button(side, kind, letters.toUpperCase().split(kind).length - 1));
    this.place.replaceChildren(...counted);
    if (focused) /** @type {HTMLElement | null} */ (this.place.querySelector(`[data-drop="${focused}"]`))?.focus();
  }

  /** Put the held piece away. */
  release() {
    if (this.#held !== null) this.#hold(null);
  }

  /**
   * @param {import("./view.js").Color} side
   * @param {string} kind
   * @param {number} count
   */
  #button(side, kind, count) {
    const button = document.createElement("button");
    const role = /** @type {Piece["role"]} */ (NAMES[kind.toLowerCase()]);
    button.type = "button";
    button.className = "plain";
    button.dataset.drop = kind;
    button.append(drawnPiece(side === "white" ? kind : kind.toLowerCase()), String(count));
    button.setAttribute("aria-label", `Drop a ${role}, ${count} in hand`);
    button.setAttribute("aria-pressed", String(kind === this.#held));
    button.addEventListener("click", () => this.#hold(this.#held === kind ? null : kind));
    for (const begin of ["mousedown", "touchstart"]) {
      button.addEventListener(begin, (event) => this.#dragged(button, { role, color: side }, /** @type {MouchEvent} */ (event)));
    }
    return button;
  }

  /**
   * Drag a piece once the pointer that has pressed a button leaves it.
   * @param {HTMLElement} button
   * @param {Piece} piece
   * @param {MouchEvent} pressed
   */
  #dragged(button, piece, pressed) {
    const ending = new AbortController();
    const leave = () => {
      ending.abort();
      this.handlers.drag(piece, pressed);
    };
    const { signal } = ending;
    button.addEventListener("mouseleave", leave, { signal });
    button.addEventListener("touchmove", leave, { signal });
    for (const end of ["mouseup", "touchend", "touchcancel"]) document.addEventListener(end, () => ending.abort(), { signal });
  }

  /** @param {string | null} kind */
  #hold(kind) {
    this.#held = kind;
    for (const button of this.place.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.drop === kind));
    }
    this.handlers.hold();
  }
}
