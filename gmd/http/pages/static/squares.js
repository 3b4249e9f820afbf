// @ts-check
/**
 * The squares of a board: 64 buttons over its picture, for the mouse, the finger, the keyboard and screen readers.
 *
 * The arrow keys lead from square to square, and Enter or the space bar chooses one. What is shown of a square beside
 * its piece is a class of its button, which the stylesheet draws.
 */

import { FILES, away, nameOf } from "./pieces.js";

/**
 * What the squares ask and report.
 * @typedef {object} Handlers
 * @property {(square: string) => void} choose
 * @property {(square: string | null) => void} hover The square under the pointer or with the focus.
 * @property {(square: string) => boolean} lift Whether a drag may begin there.
 * @property {(from: string, to: string | null) => void} drop A drag has ended; null beside the board.
 * @property {() => void} cancel
 */

/** Pixels that the pointer moves before a press is a drag. */
const DRAG = 6;
/** @type {Record<string, [number, number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Squares {
  /** @type {Map<string, HTMLButtonElement>} */
  #cells = new Map();
  /** @type {import("./view.js").Color} */
  #bottom = "white";
  #dragged = false;
  /** @type {string | null} */
  #reported = null;
  /** @type {HTMLElement | null} */
  #ghost = null;

  /**
   * @param {HTMLElement} place
   * @param {Handlers} handlers
   * @param {(piece: string) => Element | null} picture draws a piece that is dragged
   */
  constructor(place, handlers, picture) {
    this.place = place;
    this.handlers = handlers;
    this.picture = picture;
    for (let index = 0; index < 64; index++) {
      const square = `${FILES[index % 8]}${8 - Math.floor(index / 8)}`;
      const cell = document.createElement("button");
      cell.type = "button";
      cell.className = (index + Math.floor(index / 8)) % 2 ? "cell dark" : "cell light";
      cell.dataset.square = square;
      cell.tabIndex = square === "e2" ? 0 : -1;
      this.#cells.set(square, cell);
    }
    this.pieces = /** @type {import("./pieces.js").Pieces} */ (new Map());
    this.turn("white");
    this.#listen();
  }

  /**
   * Put a side at the bottom.
   * @param {import("./view.js").Color} bottom
   */
  turn(bottom) {
    this.#bottom = bottom;
    const cells = [...this.#cells.values()];
    const focused = document.activeElement;
    this.place.replaceChildren(...(bottom === "white" ? cells : cells.reverse()));
    if (focused instanceof HTMLElement && this.place.contains(focused)) focused.focus();
    const edge = bottom === "white" ? ["1", "a"] : ["8", "h"];
    for (const [square, cell] of this.#cells) {
      const file = square[1] === edge[0] ? [coordinate("file", square[0] ?? "")] : [];
      const rank = square[0] === edge[1] ? [coordinate("rank", square[1] ?? "")] : [];
      cell.replaceChildren(...rank, ...file);
    }
  }

  /**
   * Name the pieces on the squares.
   * @param {import("./pieces.js").Pieces} pieces
   */
  name(pieces) {
    this.pieces = pieces;
    for (const [square, cell] of this.#cells) cell.classList.toggle("full", pieces.has(square));
    this.#label();
  }

  /**
   * Show a class on these squares alone.
   * @param {string} kind
   * @param {Iterable<string>} squares
   */
  mark(kind, squares) {
    const wanted = new Set(squares);
    for (const [square, cell] of this.#cells) cell.classList.toggle(kind, wanted.has(square));
    this.#label();
  }

  /**
   * Show suspected pieces on squares.
   * @param {ReadonlyMap<string, string>} suspects squares with symbols
   */
  suspect(suspects) {
    for (const [square, cell] of this.#cells) {
      const symbol = suspects.get(square);
      if (symbol === undefined) delete cell.dataset.suspect;
      else cell.dataset.suspect = symbol;
    }
    this.#label();
  }

  /**
   * Take the focus to a square.
   * @param {string} square
   */
  focus(square) {
    this.#current(square)?.focus();
  }

  #label() {
    for (const [square, cell] of this.#cells) {
      const piece = this.pieces.get(square);
      const words = [square, piece === undefined ? "empty" : nameOf(piece)];
      if (cell.dataset.suspect) words.push("marked");
      if (cell.classList.contains("selected")) words.push("chosen");
      if (cell.classList.contains("target")) words.push("can be chosen");
      if (cell.classList.contains("possible")) words.push("enemy possible");
      if (cell.classList.contains("window")) words.push("sensed");
      const label = words.join(", ");
      if (cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label);
    }
  }

  /**
   * Make a square the one that the tabulator key leads to.
   * @param {string} square
   */
  #current(square) {
    for (const [name, cell] of this.#cells) cell.tabIndex = name === square ? 0 : -1;
    return this.#cells.get(square);
  }

  #listen() {
    this.place.addEventListener("click", (event) => {
      const square = squareOf(event.target);
      if (square === null || this.#dragged) return;
      this.#current(square);
      this.handlers.choose(square);
    });
    this.place.addEventListener("keydown", (event) => this.#key(event));
    this.place.addEventListener("pointerover", (event) => this.#over(squareOf(event.target)));
    this.place.addEventListener("pointermove", (event) => this.#moved(event));
    this.place.addEventListener("pointerleave", () => this.#over(null));
    this.place.addEventListener("focusin", (event) => this.#over(squareOf(event.target)));
    this.place.addEventListener("focusout", () => this.#over(null));
    this.place.addEventListener("pointerdown", (event) => this.#press(event));
    this.place.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /**
   * Report the square that has the pointer or the focus, whichever came last.
   * @param {string | null} square
   */
  #over(square) {
    this.#reported = square;
    this.handlers.hover(square);
  }

  /**
   * Report a move of the pointer within its square, if the focus has gone to another one meanwhile.
   * @param {PointerEvent} event
   */
  #moved(event) {
    const square = squareOf(event.target);
    const drags = event.target instanceof Element && event.target.hasPointerCapture(event.pointerId);
    if (!drags && square !== this.#reported) this.#over(square);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const square = squareOf(event.target);
    if (square === null || event.altKey || event.ctrlKey || event.metaKey) return;
    this.#dragged = false;
    if (event.key === "Escape") this.handlers.cancel();
    const step = KEYS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const sign = this.#bottom === "white" ? 1 : -1;
    const next = away(square, sign * step[0], sign * step[1]);
    if (next !== null) this.focus(next);
  }

  /** @param {PointerEvent} event */
  #press(event) {
    this.#dragged = false;
    const from = squareOf(event.target);
    const cell = from === null ? undefined : this.#cells.get(from);
    if (from === null || cell === undefined || event.button !== 0 || !this.handlers.lift(from)) return;
    const { clientX, clientY, pointerId } = event;
    cell.setPointerCapture(pointerId);
    const ending = new AbortController();
    /** @param {PointerEvent} moved */
    const move = (moved) => {
      if (!this.#dragged && Math.hypot(moved.clientX - clientX, moved.clientY - clientY) < DRAG) return;
      if (!this.#dragged) this.#lift(from, cell);
      this.#dragged = true;
      this.#carry(moved.clientX, moved.clientY);
      this.#over(squareAt(moved.clientX, moved.clientY));
    };
    /** @param {PointerEvent} up */
    const end = (up) => {
      ending.abort();
      this.#ghost?.remove();
      this.#ghost = null;
      if (this.#dragged) this.handlers.drop(from, up.type === "pointerup" ? squareAt(up.clientX, up.clientY) : null);
    };
    const { signal } = ending;
    cell.addEventListener("pointermove", move, { signal });
    cell.addEventListener("pointerup", end, { signal });
    cell.addEventListener("pointercancel", end, { signal });
  }

  /**
   * Begin to drag the piece of a square.
   * @param {string} from
   * @param {HTMLElement} cell
   */
  #lift(from, cell) {
    const drawn = this.picture(this.pieces.get(from) ?? "");
    if (drawn === null) return;
    const ghost = document.createElement("div");
    ghost.className = "ghost";
    ghost.style.width = ghost.style.height = `${cell.offsetWidth}px`;
    ghost.append(drawn);
    document.body.append(ghost);
    this.#ghost = ghost;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #carry(x, y) {
    if (this.#ghost !== null) this.#ghost.style.transform = `translate(${x}px, ${y}px) translate(-50%, -60%)`;
  }
}

/**
 * Return the letter of a file, or the number of a rank, for a square at the edge.
 * @param {string} kind
 * @param {string} name
 */
function coordinate(kind, name) {
  const shown = document.createElement("span");
  shown.className = kind;
  shown.textContent = name;
  shown.setAttribute("aria-hidden", "true");
  return shown;
}

/**
 * @param {EventTarget | null} target
 * @returns {string | null}
 */
function squareOf(target) {
  const cell = target instanceof Element ? target.closest("[data-square]") : null;
  return cell instanceof HTMLElement ? cell.dataset.square ?? null : null;
}

/**
 * @param {number} x
 * @param {number} y
 */
function squareAt(x, y) {
  return squareOf(document.elementFromPoint(x, y));
}
