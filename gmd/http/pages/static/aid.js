// @ts-check
/**
 * The aid of a player of blind chess: where enemy pieces may stand, as the server counts the positions that are possible
 * for the player, and which sense would tell most.
 */

import { NAMES, percent, SQUARES, SYMBOLS } from "./pieces.js";

/** @typedef {import("./view.js").Aid} Aid */
/** @typedef {import("./board.js").Board} Board */

const button = document.getElementById("aid");
const panel = document.getElementById("aid-panel");
const words = document.getElementById("aid-words");
const places = document.getElementById("aid-places");
const hint = document.getElementById("hint");
const hintWords = document.getElementById("hint-words");
const path = document.getElementById("game")?.dataset.path ?? "";
const named = document.getElementById("game")?.dataset.named ?? "";

/** What a choice of all pieces is called. */
const ANY = "any";
/** Squares that are named for a piece. */
const MOST_PLACES = 8;
/** The longest pause in seconds after which the page asks again by itself. */
const PATIENCE = 5;

let on = false;
let hinting = false;
/** The piece whose squares are shown. */
let kind = ANY;
/** @type {Aid | null} */
let aid = null;
/** The state and the wish for a hint for which the aid was asked last. */
let asked = "";
/** @type {import("./view.js").LiveView | null} */
let view = null;
/** @type {Board | null} */
let board = null;
let isPast = false;

/**
 * Show the aid for a state, if it is on.
 * @param {import("./view.js").LiveView} shown
 * @param {Board | null} on_board
 */
export function follow(shown, on_board) {
  [view, board] = [shown, on_board];
  if (view.over) on = false;
  void refresh();
}

/**
 * Keep the aid, which is of the present, off a board that shows an earlier turn.
 * @param {boolean} past whether it shows one
 */
export function lookBack(past) {
  if (isPast === past) return;
  isPast = past;
  draw();
}

async function refresh() {
  if (!on || view === null) {
    aid = null;
    asked = "";
    return draw();
  }
  const wanted = `${view.seq} ${hinting}`;
  if (asked === wanted) return;
  asked = wanted;
  const fields = new URLSearchParams({ ...(named ? { view: named } : {}), ...(hinting ? { hint: "1" } : {}) });
  try {
    const answer = await fetch(`${path}/aid?${fields}`, { headers: { accept: "application/json" } });
    const body = await answer.json();
    if (!on || asked !== wanted) return;
    aid = answer.ok ? body : null;
    draw();
    if (!answer.ok) refuse(body, wanted);
  } catch (error) {
    console.warn(error);
    say(words, "The server cannot be reached.");
  }
}

/**
 * Say why there is no answer; ask again if the server has more to count.
 * @param {{ error: string, code: string, retry_after?: number }} refusal
 * @param {string} wanted
 */
function refuse({ error, code, retry_after }, wanted) {
  const isSoon = code === "too_many" && (retry_after ?? PATIENCE + 1) <= PATIENCE;
  say(words, isSoon ? "The positions are being counted …" : error);
  if (!isSoon) return;
  setTimeout(() => {
    if (asked !== wanted) return;
    asked = "";
    void refresh();
  }, Math.max(0.1, retry_after ?? 0) * 1_000);
}

/** Show what is known of the chosen piece. */
function draw() {
  if (panel !== null) panel.hidden = !on;
  const shares = aid === null ? null : kind === ANY ? sum(Object.values(aid.shares)) : (aid.shares[kind] ?? null);
  board?.share(isPast ? null : shares, NAMES[kind] ?? "enemy");
  board?.mark("hint", !isPast && aid?.hint ? [aid.hint.square] : []);
  say(words, aid?.words ?? "");
  say(places, shares === null || kind === ANY ? "" : `${SYMBOLS[kind]} ${likeliest(shares)}`);
  if (hint !== null && aid !== null) hint.hidden = !aid.hints;
  say(hintWords, !hinting || aid === null ? "" : aid.hint_words || "A sense is suggested when it is your turn to sense.");
  for (const each of panel?.querySelectorAll("button[data-kind]") ?? []) {
    each.setAttribute("aria-pressed", String(each instanceof HTMLElement && each.dataset.kind === kind));
  }
}

/** @param {readonly (readonly number[])[]} rows */
function sum(rows) {
  return SQUARES.map((_, index) => Math.min(1, rows.reduce((total, row) => total + (row[index] ?? 0), 0)));
}

/**
 * Return the squares where a piece is most likely, in words.
 * @param {readonly number[]} shares
 */
function likeliest(shares) {
  const order = [...shares.entries()].filter(([, share]) => share > 0).sort((one, other) => other[1] - one[1]);
  const listed = order.slice(0, MOST_PLACES).map(([index, share]) => `${SQUARES[index]} ${percent(share)}`);
  const more = order.length - listed.length;
  return [...listed, ...(more > 0 ? [`${more} more`] : [])].join(", ") || "none";
}

/**
 * @param {HTMLElement | null} place
 * @param {string} text
 */
function say(place, text) {
  if (place !== null && place.textContent !== text) place.textContent = text;
}

button?.addEventListener("click", () => {
  on = !on;
  button.setAttribute("aria-pressed", String(on));
  void refresh();
});
hint?.addEventListener("click", () => {
  hinting = !hinting;
  hint.setAttribute("aria-pressed", String(hinting));
  void refresh();
});
panel?.addEventListener("click", (event) => {
  const chosen = event.target instanceof Element ? event.target.closest("button[data-kind]") : null;
  if (!(chosen instanceof HTMLElement)) return;
  kind = chosen.dataset.kind ?? ANY;
  draw();
});
