// @ts-check
/**
 * Steps through a game without loading the page again: by the keyboard, by the links to plies, and by "#ply=23".
 * The server draws every position; this module only asks for the part of the page that changes.
 */

import { copyOnClick, showButtons } from "./copying.js";
import { reveal, stepByKeys } from "./movelist.js";
import { showNextGame } from "./nextgame.js";

const game = /** @type {HTMLElement} */ (document.getElementById("game"));
const position = /** @type {HTMLElement} */ (document.getElementById("position"));
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const path = game.dataset.path ?? "";
const query = game.dataset.query ?? "";
const last = Number(game.dataset.last);

const counts = document.getElementById("counts");
/** The boards of the page, which stay the same from ply to ply while the figures around them change. */
/** @type {import("./board.js").Board[]} */
const boards = [];
/** @type {typeof import("./board.js") | null} */
let moving = null;

/** The ply that was asked for, the one to be shown once the address names it, and the one that is drawn. */
let asked = Number(game.dataset.ply);
let shown = asked;
let drawn = asked;
/** @type {AbortController | null} */
let loading = null;

/**
 * Return the ply that the address names after "#".
 * @returns {number | null}
 */
function plyOfHash() {
  const found = /^#ply=(\d{1,9})$/.exec(location.hash);
  return found ? Math.min(Number(found[1]), last) : null;
}

/**
 * Show a ply.
 * @param {number} ply
 */
async function show(ply) {
  asked = ply;
  if (ply === shown) return;
  shown = ply;
  loading?.abort();
  loading = new AbortController();
  const fields = new URLSearchParams(query);
  fields.set("ply", String(ply));
  const address = `${path}?${fields}`;
  try {
    const answer = await fetch(`${address}&part=1`, { signal: loading.signal, headers: { accept: "text/html" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const focused = document.activeElement instanceof HTMLAnchorElement && position.contains(document.activeElement);
    const name = focused ? document.activeElement?.textContent : null;
    const part = document.createElement("template"); // in which pictures are not loaded
    part.innerHTML = await answer.text();
    said.textContent = part.content.querySelector("img")?.alt ?? "";
    stand(part.content, Math.abs(ply - drawn) === 1);
    drawn = ply;
    position.replaceChildren(part.content);
    showButtons(position);
    mark(ply);
    for (const link of name ? position.querySelectorAll("a") : []) {
      if (link.textContent === name) link.focus();
    }
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) location.assign(address);
  }
}

/**
 * Put moving boards in place of the server's pictures.
 * @param {ParentNode} part of the page
 * @param {boolean} animated
 */
function stand(part, animated) {
  if (moving === null) return;
  for (const [index, figure] of [...part.querySelectorAll("figure[data-board]")].entries()) {
    const shown = /** @type {import("./view.js").Position} */ (JSON.parse(figure.getAttribute("data-board") ?? ""));
    const image = /** @type {HTMLImageElement} */ (figure.querySelector("img"));
    const place = placeOf(index);
    place.setAttribute("aria-label", image.alt);
    image.replaceWith(place);
    const board = (boards[index] ??= new moving.Board(place, null));
    board.turn(shown.orientation);
    board.show(shown, animated);
  }
}

/** @param {number} index of the board on the page */
function placeOf(index) {
  const found = boards[index]?.squares.parentElement;
  if (found) return found;
  const place = document.createElement("div");
  place.className = "place";
  place.setAttribute("role", "img");
  return place;
}

/**
 * Mark a ply in the list of moves.
 * @param {number} ply
 */
function mark(ply) {
  game.querySelector(".moves [aria-current]")?.removeAttribute("aria-current");
  const link = game.querySelector(`.moves [data-ply="${ply}"]`);
  link?.setAttribute("aria-current", "step");
  reveal(game.querySelector(".past"), link);
  if (counts instanceof HTMLImageElement) counts.src = `${path}.counts.svg?ply=${ply}`;
}

/**
 * Name a ply in the address; the page then shows it.
 * @param {number} ply
 */
function go(ply) {
  if (ply < 0 || ply > last) return;
  asked = ply; // at once: keys may come faster than the browser reports the new address
  location.hash = `#ply=${ply}`;
}

/** Load the largest surprises, which the server finds only if somebody wants to see them. */
async function loadSurprises() {
  const place = document.getElementById("surprises");
  if (place === null || place.childElementCount > 0) return;
  try {
    const answer = await fetch(`${path}/counts?part=1`, { headers: { accept: "text/html" } });
    if (answer.ok) place.innerHTML = await answer.text();
  } catch (error) {
    console.warn(error); // the table has them, too
  }
}

/** Return the address of the ply that is shown. */
function address() {
  const page = new URL(`${path}${query}`, location.href);
  page.hash = `#ply=${shown}`;
  return page.href;
}

document.querySelector("details.counts")?.addEventListener("toggle", () => void loadSurprises());
copyOnClick(address, said);
showButtons(document);
showNextGame(path);

if (game.querySelector("[data-ply]")) {
  stepByKeys((step) => go(Math.max(0, Math.min(asked + step, last))));
  game.addEventListener("click", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[data-ply]") : null;
    if (!(link instanceof HTMLElement)) return;
    event.preventDefault();
    go(Number(link.dataset.ply));
  });
  const first = shown;
  addEventListener("hashchange", () => void show(plyOfHash() ?? first));
  const wanted = plyOfHash();
  if (wanted !== null) void show(wanted);
}

try {
  moving = await import("./board.js");
  stand(document, false);
} catch (error) {
  console.warn("the moving boards cannot be shown", error);
}
