// @ts-check
/**
 * A player's turns of blind chess: a list, and the board as the player knew it in each of them. The game goes on beside
 * it, and a press on the board leads back to it.
 */

/** @typedef {import("./view.js").Turn} Turn */

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

export class Memory {
  /** @type {Turn[]} */
  #turns = [];
  /** @type {number | null} */
  #at = null;

  /**
   * @param {HTMLElement} place the list
   * @param {HTMLElement} banner is shown while an earlier turn is
   * @param {() => void} show is called when another turn is to be shown
   */
  constructor(place, banner, show) {
    this.place = place;
    this.banner = banner;
    this.show = show;
    banner.querySelector("button")?.addEventListener("click", () => this.go(null));
    place.addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest("button") : null;
      if (button !== null) this.go(Number(button.dataset.turn));
    });
    document.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      const field = event.target instanceof Element ? event.target.closest("input, textarea, select") : null;
      const typing = field !== null && !(field instanceof HTMLInputElement && field.value === "" && !field.readOnly);
      if (step === undefined || typing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const now = this.#turns.length;
      this.go(Math.max(1, Math.min((this.#at ?? now) + step, now)));
    });
  }

  /** The turn that is shown; null for the game as it is now. */
  get past() {
    return this.#at === null ? null : this.#turns[this.#at - 1] ?? null;
  }

  /** The ply of the latest turn that it has. */
  get ply() {
    return this.#turns[this.#turns.length - 1]?.ply ?? 0;
  }

  /**
   * Take in turns, of which the first may be known in part.
   * @param {readonly Turn[]} turns
   */
  add(turns) {
    for (const turn of turns) {
      this.#turns[turn.number - 1] = turn;
      const item = this.place.children[turn.number - 1] ?? this.place.appendChild(document.createElement("li"));
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.dataset.turn = String(turn.number);
      button.textContent = `${turn.number}. ${turn.words.join(" ")}`;
      const focused = item.contains(document.activeElement);
      item.replaceChildren(button);
      if (focused) button.focus();
    }
    if (turns.length > 0 && this.#at === null) this.place.scrollTop = this.place.scrollHeight;
    this.#mark();
  }

  /**
   * Show a turn, or the game as it is now.
   * @param {number | null} number
   */
  go(number) {
    const at = number === null || number >= this.#turns.length ? null : number;
    if (at === this.#at) return;
    this.#at = at;
    this.#mark();
    this.show();
  }

  #mark() {
    this.banner.hidden = this.#at === null;
    const words = this.banner.querySelector("span");
    if (words !== null) words.textContent = `Turn ${this.#at}, as you knew it.`;
    for (const button of this.place.querySelectorAll("button")) {
      if (Number(button.dataset.turn) === (this.#at ?? this.#turns.length)) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    if (this.#at !== null) this.place.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }
}
