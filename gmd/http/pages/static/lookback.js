// @ts-check
/**
 * Looking back while a game goes on: by the keys or by the list of moves, or of a blind player's turns, the board shows
 * an earlier one. A press on the board leads back to the game.
 */

import { reveal, stepByKeys } from "./movelist.js";

/** @typedef {import("./view.js").Position} Position */

/**
 * What is looked back at. Each step has a number, which its entry in the list has as "data-step" or "data-ply".
 * @typedef {object} Steps
 * @property {number} first
 * @property {() => number} last
 * @property {(number: number) => Promise<Position>} board
 * @property {(number: number) => string} words
 */

export class Lookback {
  /** @type {number | null} */
  #at = null;
  /**
   * The board that is shown; null for the game as it is now.
   * @type {Position | null}
   */
  past = null;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} banner is shown while the board is an earlier one
   * @param {Steps} steps
   * @param {() => void} show is called when another board is to be shown
   */
  constructor(list, banner, steps, show) {
    this.list = list;
    this.banner = banner;
    this.steps = steps;
    this.show = show;
    banner.querySelector("button")?.addEventListener("click", () => void this.go(null));
    list.addEventListener("click", (event) => {
      const entry = event.target instanceof Element ? event.target.closest("[data-step], [data-ply]") : null;
      if (entry === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void this.go(numberOf(entry));
    });
    stepByKeys((step) => {
      const last = steps.last();
      void this.go(Math.max(steps.first, Math.min((this.#at ?? last) + step, last)));
    });
  }

  /**
   * Show a step, or the game as it is now.
   * @param {number | null} number
   */
  async go(number) {
    const at = number === null || number >= this.steps.last() ? null : number;
    if (at === this.#at) return;
    this.#at = at;
    const board = at === null ? null : await this.steps.board(at).catch((error) => (console.warn(error), null));
    if (at !== this.#at) return; // another was asked for meanwhile
    if (board === null) this.#at = null;
    this.past = board;
    this.mark();
    this.show();
  }

  /** Mark in the list what the board shows. */
  mark() {
    this.banner.hidden = this.past === null;
    const words = this.banner.querySelector("span");
    if (words !== null && this.#at !== null) words.textContent = this.steps.words(this.#at);
    for (const entry of this.list.querySelectorAll("[data-step], [data-ply]")) {
      if (numberOf(entry) === (this.#at ?? this.steps.last())) entry.setAttribute("aria-current", "step");
      else entry.removeAttribute("aria-current");
    }
    if (this.past !== null) reveal(this.list, this.list.querySelector("[aria-current]"));
  }
}

/** @param {Element} entry */
function numberOf(entry) {
  return Number(entry.getAttribute("data-step") ?? entry.getAttribute("data-ply"));
}

/**
 * Return the board after a ply of a game of open information.
 * @param {string} path the address of the game
 * @param {number} ply
 * @returns {Promise<Position>}
 */
export async function boardAfter(path, ply) {
  const answer = await fetch(`${path}?ply=${ply}&part=1`, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const part = document.createElement("template");
  part.innerHTML = await answer.text();
  return JSON.parse(part.content.querySelector("[data-board]")?.getAttribute("data-board") ?? "");
}
