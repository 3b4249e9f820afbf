// @ts-check
/** The pieces that a player of crazyhouse has in hand: buttons, the pressed one of which is dropped on a square. */

import { NAMES, SYMBOLS } from "./pieces.js";

export class Pocket {
  /** @type {string | null} */
  #held = null;

  /**
   * @param {HTMLElement} place
   * @param {(piece: string | null) => void} choose
   */
  constructor(place, choose) {
    this.place = place;
    this.choose = choose;
  }

  /** The piece to be dropped, in capitals; null for none. */
  get held() {
    return this.#held;
  }

  /**
   * Show the pieces in hand.
   * @param {string} pieces
   */
  show(pieces) {
    const kinds = [...new Set(pieces.toUpperCase())];
    const counts = new Map(kinds.map((kind) => [kind, pieces.toUpperCase().split(kind).length - 1]));
    if (this.#held !== null && !counts.has(this.#held)) this.#held = null;
    this.place.hidden = kinds.length === 0;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.drop : undefined;
    this.place.replaceChildren(...kinds.map((kind) => this.#button(kind, counts.get(kind) ?? 0)));
    if (focused) /** @type {HTMLElement | null} */ (this.place.querySelector(`[data-drop="${focused}"]`))?.focus();
  }

  /** Put the held piece away. */
  release() {
    this.#hold(null);
  }

  /**
   * @param {string} kind
   * @param {number} count
   */
  #button(kind, count) {
    const button = document.createElement("button");
    const name = NAMES[kind.toLowerCase()] ?? kind;
    button.type = "button";
    button.className = "plain";
    button.dataset.drop = kind;
    button.textContent = `${SYMBOLS[kind.toLowerCase()]} ${count}`;
    button.setAttribute("aria-label", `Drop a ${name}, ${count} in hand`);
    button.setAttribute("aria-pressed", String(kind === this.#held));
    button.addEventListener("click", () => {
      this.#hold(this.#held === kind ? null : kind);
      this.choose(this.#held);
    });
    return button;
  }

  /** @param {string | null} kind */
  #hold(kind) {
    this.#held = kind;
    for (const button of this.place.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.drop === kind));
    }
  }
}
