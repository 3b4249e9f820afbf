// @ts-check
/**
 * A player's own marks for enemy pieces that it suspects. They stay in the browser, for as long as the game goes on;
 * the server never learns of them.
 */

import { NAMES, SYMBOLS } from "./pieces.js";

/** What erases a mark. */
const ERASER = "x";

export class Suspects {
  /** @type {Map<string, string>} */
  #marks = new Map();
  /** @type {string | null} */
  #held = null;
  /** The ply of the latest sense that has taken marks away. */
  #sensed = -1;

  /**
   * @param {string} key names the game and the seat in the browser's storage
   * @param {HTMLElement} place for the palette
   * @param {(marks: ReadonlyMap<string, string>) => void} show
   */
  constructor(key, place, show) {
    this.key = key;
    this.show = show;
    this.#read();
    place.append(this.#palette());
    this.#refresh();
  }

  /** Whether a choice of a square means a mark. */
  get active() {
    return this.#held !== null;
  }

  /**
   * Mark a square with the piece of the palette that is held, or erase its mark.
   * @param {string} square
   */
  mark(square) {
    const held = this.#held;
    if (held === null) return;
    if (held === ERASER || this.#marks.get(square) === held) this.#marks.delete(square);
    else this.#marks.set(square, held);
    this.#write();
    this.#refresh();
  }

  /** Put the palette's piece away. */
  release() {
    this.#hold(null);
  }

  /**
   * Take the marks away of squares that a new sense has shown, and all of them once the game is over.
   * @param {import("./view.js").LiveView} view
   */
  see(view) {
    if (view.over) {
      this.release();
      this.#marks.clear();
      localStorage.removeItem(this.key);
      return this.#refresh();
    }
    const { phase } = view.can ?? { phase: "open" };
    const sensed = phase === "move" ? view.ply : phase === "wait" ? view.ply - 1 : -1;
    if (sensed <= this.#sensed) return;
    this.#sensed = sensed;
    for (const square of view.board.window) this.#marks.delete(square);
    this.#write();
    this.#refresh();
  }

  #palette() {
    const group = document.createElement("div");
    group.className = "palette";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Your own marks for enemy pieces that you suspect");
    for (const [piece, words] of [...Object.entries(NAMES), [ERASER, "eraser"]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.dataset.piece = piece;
      button.textContent = SYMBOLS[piece ?? ""] ?? "⌫";
      button.setAttribute("aria-label", piece === ERASER ? "Erase marks" : `Mark a ${words}`);
      button.title = button.getAttribute("aria-label") ?? "";
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => this.#hold(this.#held === piece ? null : piece ?? null));
      group.append(button);
    }
    this.group = group;
    return group;
  }

  /** @param {string | null} piece */
  #hold(piece) {
    this.#held = piece;
    for (const button of this.group?.querySelectorAll("button") ?? []) {
      button.setAttribute("aria-pressed", String(button.dataset.piece === piece));
    }
  }

  #refresh() {
    this.show(new Map([...this.#marks].map(([square, piece]) => [square, SYMBOLS[piece] ?? "?"])));
  }

  #read() {
    try {
      const { sensed, ...kept } = JSON.parse(localStorage.getItem(this.key) ?? "{}");
      if (typeof sensed === "number") this.#sensed = sensed;
      for (const [square, piece] of Object.entries(kept)) {
        if (/^[a-h][1-8]$/.test(square) && typeof piece === "string" && piece in NAMES) this.#marks.set(square, piece);
      }
    } catch {
      localStorage.removeItem(this.key);
    }
  }

  #write() {
    localStorage.setItem(this.key, JSON.stringify({ ...Object.fromEntries(this.#marks), sensed: this.#sensed }));
  }
}
