// @ts-check
/**
 * A board. chessground draws the pieces and takes the mouse and the finger; under it lie 64 squares, which show marks
 * and serve the keyboard and screen readers: the arrow keys lead from square to square, and Enter or the space bar
 * chooses one. Nothing here knows the rules.
 */

import { Chessground } from "./chessground/dist/chessground.min.js";
import { squaresOf } from "./moves.js";
import { away, drawnPiece, FILES, NAMES, percent, SQUARES } from "./pieces.js";

/** @typedef {import("./pieces.js").Key} Key */
/** @typedef {import("./view.js").Position} Position */

/**
 * What a player's board reports.
 * @typedef {object} Handlers
 * @property {(square: Key) => void} choose A square was chosen, by a press or by a key.
 * @property {(from: Key, to: Key, isPremove: boolean) => void} move A piece was moved on the board.
 * @property {(letter: string, to: Key) => void} drop A piece in hand, by its letter of FEN, was dragged to a square.
 * @property {(square: Key | null) => void} hover The square under the pointer or with the focus.
 * @property {() => void} cancel
 */

/**
 * What a player may do on the board.
 * @typedef {object} Freedom
 * @property {import("./view.js").Color} side whose pieces it moves
 * @property {boolean} moves whether they can be moved now
 * @property {boolean} premoves whether they can be moved before it is their turn
 * @property {Map<Key, Key[]>} ends the squares where their moves end, by those where they begin
 */

/** @type {Record<string, [number, number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
/** What a screen reader says of squares with a mark. */
const WORDS = { window: "sensed", unseen: "not seen", lost: "your loss", hint: "the sense that would tell most" };

/** Return whether the visitor wants nothing to move. */
function isQuiet() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export class Board {
  /** @type {Map<Key, HTMLElement>} */
  #cells = new Map();
  /** @type {import("./view.js").Color} */
  bottom = "white";

  /**
   * @param {HTMLElement} place that it fills
   * @param {Handlers | null} handlers null for a board that is only looked at
   */
  constructor(place, handlers) {
    this.handlers = handlers;
    this.squares = place.appendChild(document.createElement("div"));
    this.squares.className = "cells cg-wrap";
    if (handlers !== null) {
      this.squares.setAttribute("role", "group");
      this.squares.setAttribute("aria-label", "Board");
    } else this.squares.setAttribute("aria-hidden", "true");
    for (let index = 0; index < 64; index++) {
      const square = /** @type {Key} */ (`${FILES[index % 8]}${8 - Math.floor(index / 8)}`);
      const cell = document.createElement(handlers === null ? "i" : "button");
      if (cell instanceof HTMLButtonElement) cell.type = "button";
      cell.className = (index + Math.floor(index / 8)) % 2 ? "cell dark" : "cell light";
      cell.dataset.square = square;
      if (handlers !== null) cell.tabIndex = square === "e2" ? 0 : -1;
      this.#cells.set(square, cell);
    }
    this.squares.append(...this.#cells.values());
    const ground = place.appendChild(document.createElement("div"));
    ground.className = "ground";
    ground.setAttribute("aria-hidden", "true");
    this.ground = Chessground(ground, {
      fen: "8/8/8/8/8/8/8/8",
      viewOnly: handlers === null,
      ranksPosition: "left",
      addDimensionsCssVarsTo: place,
      animation: { enabled: !isQuiet(), duration: 200 },
      draggable: { enabled: handlers !== null },
      drawable: { enabled: handlers !== null, visible: handlers !== null },
      movable: {
        free: false,
        events: {
          after: (from, to, { premove }) => handlers?.move(from, to, premove),
          afterNewPiece: (role, to) => handlers?.drop(role === "knight" ? "N" : (role[0] ?? "").toUpperCase(), to),
        },
      },
      premovable: { events: { set: () => this.#label(), unset: () => this.#label() } },
      events: {
        select: (square) => {
          handlers?.choose(square);
          this.#label();
        },
      },
    });
    if (handlers !== null) this.#listen(place, handlers);
  }

  /** The pieces by their squares. */
  get pieces() {
    return this.ground.state.pieces;
  }

  /**
   * Show a position.
   * @param {Position} position
   * @param {boolean} animated
   */
  show(position, animated) {
    this.ground.set({
      animation: { enabled: animated && !isQuiet() },
      fen: position.placement,
      lastMove: squaresOf(position.last_move),
    });
    const king = position.check === null ? undefined : this.pieces.get(/** @type {Key} */ (position.check));
    this.ground.set({ check: king?.color ?? false });
    this.mark("window", position.window);
    this.mark("unseen", position.unseen);
    this.mark("lost", position.lost === null ? [] : [position.lost]);
    this.#remember(position.remembered);
    if (position.shares !== undefined) this.share(position.shares);
  }

  /**
   * Shade the squares by the probability that an enemy piece stands there; a square that is surely empty is not covered.
   * @param {readonly number[] | null} shares for each square from a1, b1 to h8; null for no shades
   * @param {string} piece what it is, for screen readers
   */
  share(shares, piece = "enemy") {
    this.squares.classList.toggle("believing", shares !== null);
    for (const [index, square] of SQUARES.entries()) {
      const cell = /** @type {HTMLElement} */ (this.#cells.get(square));
      const share = shares?.[index] ?? 0;
      cell.classList.toggle("possible", share > 0);
      cell.style.setProperty("--shade", String(0.1 + 0.7 * share ** 0.6));
      if (share === 0) delete cell.dataset.chance;
      else cell.dataset.chance = `${piece} ${percent(share)}`;
      if (share < 0.005 || share >= 0.995) delete cell.dataset.percent;
      else cell.dataset.percent = String(Math.round(100 * share));
    }
    this.#label();
  }

  /**
   * Say what the player may do. A move that waits for the player's turn is made if it is possible now.
   * @param {Freedom} freedom
   */
  free({ side, moves, premoves, ends }) {
    const enabled = moves || premoves;
    this.ground.set({
      turnColor: moves === (side === "white") ? "white" : "black",
      movable: { color: side, dests: ends },
      premovable: { enabled: premoves },
      selectable: { enabled },
      draggable: { enabled },
    });
    if (!enabled) this.release();
    else if (moves) this.ground.playPremove();
    this.#label();
  }

  /** Choose nothing, and forget a move that waits. */
  release() {
    this.ground.cancelMove();
    this.#label();
  }

  /**
   * Put a side at the bottom.
   * @param {import("./view.js").Color} bottom
   */
  turn(bottom) {
    this.ground.set({ orientation: bottom });
    if (bottom === this.bottom) return;
    this.bottom = bottom;
    const focused = document.activeElement;
    this.squares.append(...[...this.squares.querySelectorAll(".cell")].reverse());
    if (focused instanceof HTMLElement && this.squares.contains(focused)) focused.focus();
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
   * Show pieces as they were seen in earlier turns, with their ages.
   * @param {readonly import("./view.js").Remembered[]} pieces
   */
  #remember(pieces) {
    for (const cell of this.#cells.values()) {
      delete cell.dataset.remembered;
      cell.replaceChildren();
    }
    for (const [square, letter, age] of pieces) {
      const cell = this.#cells.get(/** @type {Key} */ (square));
      if (cell === undefined) continue;
      const said = age === 0 ? "at the start" : age === 1 ? "a turn ago" : `${age} turns ago`;
      cell.dataset.remembered = `${NAMES[letter.toLowerCase()]} ${said}`;
      const shown = document.createElement("span");
      shown.className = "age";
      shown.textContent = age ? String(age) : "";
      cell.append(drawnPiece(letter), shown);
    }
    this.#label();
  }

  #label() {
    if (this.handlers === null) return;
    const { selected, premovable, movable } = this.ground.state;
    const ends = selected === undefined ? [] : premovable.dests ?? movable.dests?.get(selected) ?? [];
    for (const [square, cell] of this.#cells) {
      const piece = this.pieces.get(square);
      const words = [square, piece === undefined ? "empty" : `${piece.color} ${piece.role}`];
      for (const [kind, said] of Object.entries(WORDS)) if (cell.classList.contains(kind)) words.push(said);
      if (cell.dataset.remembered) words.push(`enemy ${cell.dataset.remembered}`);
      if (cell.dataset.chance) words.push(cell.dataset.chance);
      if (cell.dataset.suspect) words.push("marked");
      if (square === selected) words.push("chosen");
      if (ends.includes(square)) words.push("can be chosen");
      if (premovable.current?.includes(square)) words.push("premove");
      const label = words.join(", ");
      if (cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label);
    }
  }

  /**
   * @param {HTMLElement} place
   * @param {Handlers} handlers
   */
  #listen(place, handlers) {
    /** @param {PointerEvent} event */
    const at = (event) => this.ground.getKeyAtDomPos([event.clientX, event.clientY]) ?? null;
    const measure = () => this.ground.state.dom.bounds.clear(); // what stands above the board may have grown
    place.addEventListener("pointerenter", measure);
    place.addEventListener("pointerdown", measure, { capture: true });
    place.addEventListener("pointermove", (event) => handlers.hover(at(event)));
    place.addEventListener("pointerleave", () => handlers.hover(null));
    this.squares.addEventListener("focusin", (event) => {
      const square = squareOf(event.target);
      if (square === null) return;
      for (const [name, cell] of this.#cells) cell.tabIndex = name === square ? 0 : -1;
      handlers.hover(square);
    });
    this.squares.addEventListener("focusout", () => handlers.hover(null));
    this.squares.addEventListener("click", (event) => {
      const square = squareOf(event.target);
      if (square === null) return;
      this.ground.selectSquare(this.ground.state.selected === square ? null : square);
      this.#label();
    });
    this.squares.addEventListener("keydown", (event) => {
      const square = squareOf(event.target);
      if (square === null || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") handlers.cancel();
      const step = KEYS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      const sign = this.bottom === "white" ? 1 : -1;
      const next = away(square, sign * step[0], sign * step[1]);
      if (next !== null) this.#cells.get(next)?.focus();
    });
  }
}

/**
 * @param {EventTarget | null} target
 * @returns {Key | null}
 */
function squareOf(target) {
  const cell = target instanceof Element ? target.closest("[data-square]") : null;
  return cell instanceof HTMLElement ? /** @type {Key} */ (cell.dataset.square) : null;
}
