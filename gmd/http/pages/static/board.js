// @ts-check
/**
 * A game's page while the game is played: it shows every state that the server sends, and sends what the player does.
 * The server says which moves there are; nothing here knows the rules.
 */

import { setClock } from "./clocks.js";
import { keepFocus } from "./focus.js";
import { addMoves, lastListed } from "./movelist.js";
import { dropsOf, endsFrom } from "./moves.js";
import { makePainter } from "./painter.js";
import { showNextGame } from "./nextgame.js";
import { readPlacement, windowAround, writePlacement } from "./pieces.js";
import { Pocket } from "./pocket.js";
import { choosePromotion } from "./promotion.js";
import { sayReady } from "./ready.js";
import { fieldsOf, send } from "./sending.js";
import { Squares } from "./squares.js";
import { Suspects } from "./suspects.js";

/** @typedef {import("./view.js").LiveView} LiveView */

const game = element("game");
const live = element("live");
const controls = element("controls");
const said = element("said");
const complaint = element("complaint");
const path = game.dataset.path ?? "";
const list = document.getElementById("movetext");
const blind = game.dataset.senses === "1";

/** @type {LiveView} */
let shown = JSON.parse(element("view").textContent ?? "");
/** @type {import("./view.js").Color} */
let bottom = game.dataset.bottom === "black" ? "black" : "white";
/** The square that is chosen, or the piece in hand, and the moves by the squares where they end. */
/** @type {{ from: string | null, ends: Map<string, string[]> } | null} */
let chosen = null;
let sending = false;
/** @type {string | null} */
let dropped = null;
/**
 * The square under the pointer or with the focus.
 * @type {string | null}
 */
let over = null;

const squares = new Squares(element("cells"), { choose, hover, lift, drop, cancel }, (piece) => painter.picture(piece));
const painter = await makePainter(element("board"), element("still"), game.dataset.assets);
const pocket = new Pocket(element("pocket"), (piece) => choosePiece(piece));
const aid = blind && shown.seat !== null ? await import("./aid.js") : null;
const suspects =
  blind && shown.seat !== null
    ? new Suspects(`gmd.marks ${path} ${shown.seat}`, element("marks"), (marks) => squares.suspect(marks))
    : null;

/**
 * Show a state of the game, unless a later one is shown already.
 * @param {LiveView} view
 */
export function apply(view) {
  if (view.seq < shown.seq) return;
  if (list !== null && view.moves.length === 0 && lastListed() < view.ply) return location.reload(); // it lacks too many
  const isNew = view.seq > shown.seq;
  const before = shown;
  shown = view;
  if (view.html) live.innerHTML = view.html;
  if (isNew) release();
  draw(before !== view && dropped !== view.board.last_move);
  dropped = null;
  addMoves(view.moves, path);
  setClock(view.clock);
  keepFocus(controls, toggle, view.over);
  hover(over);
  if (isNew) announce();
  aid?.follow(view, (possible) => squares.mark("possible", possible));
  if (view.over) suspects?.forget();
  if (view.over && view.seat !== null) showNextGame(path);
  sayReady(view, lastListed, apply);
}

/**
 * Draw the board.
 * @param {boolean} animated
 */
function draw(animated) {
  const { placement, last_move, check, window, unseen } = shown.board;
  const pieces = readPlacement(placement);
  painter.show(writePlacement(pieces), animated);
  squares.name(pieces);
  squares.mark("last", last_move === null ? [] : [last_move.slice(0, 2), last_move.slice(2, 4)]);
  squares.mark("check", check === null ? [] : [check]);
  squares.mark("window", window);
  squares.mark("unseen", unseen);
  squares.mark("own", movable());
  const hands = shown.board.pockets;
  if (hands !== null && shown.seat !== null) pocket.show(hands[shown.seat === "white" ? 0 : 1]);
}

/** Return the squares from which the player can move. */
function movable() {
  return shown.can?.phase === "move" ? shown.can.moves.filter((move) => !move.includes("@")).map((move) => move.slice(0, 2)) : [];
}

/** Show what the player can do, and hide the rest. */
function toggle() {
  const { can, over, seat, seq } = shown;
  /** @type {Record<string, boolean>} */
  const shows = {
    open: can === null ? !over && seq % 16 < 4 : can.phase === "open",
    sense: can?.phase === "sense",
    move: can?.phase === "move",
    offer: can?.draw === "offer",
    accept: can?.draw === "accept",
    claim: (can?.claim.length ?? 0) > 0,
    resign: can?.resign === true,
    over: over && seat !== null,
    play: !over && seat !== null,
  };
  for (const part of game.querySelectorAll("[data-act]")) {
    if (part instanceof HTMLElement) part.hidden = shows[part.dataset.act ?? ""] !== true;
  }
  for (const field of game.querySelectorAll("input[name=ply]")) {
    if (field instanceof HTMLInputElement) field.value = String(shown.ply);
  }
  const fen = document.getElementById("fen");
  if (fen instanceof HTMLInputElement) fen.value = shown.board.fen;
  const legal = document.getElementById("legal");
  legal?.replaceChildren(...(can?.moves ?? []).map((move) => new Option(move, move)));
  game.classList.toggle("sensing", can?.phase === "sense");
  document.title = `${can?.phase === "move" || can?.phase === "sense" ? "Your turn – " : ""}${title()}`;
}

/** Return the page's title: the players, and the game. */
function title() {
  const names = ["white", "black"].map((side) => live.querySelector(`.bar.${side} .player`)?.textContent ?? "open seat");
  return `${names.join(" – ")}, game ${path.replace("/games/", "")} – gmd`;
}

/** Say how the game stands, for those who do not see it. */
function announce() {
  const last = shown.moves[shown.moves.length - 1];
  const words = [...live.querySelectorAll(".status p, .observed li")].map((each) => each.textContent?.trim() ?? "");
  said.textContent = [...(last ? [`${last.color} played ${last.san}.`] : []), ...words].join(" ");
}

// --- What the player does --------------------------------------------------------------------------------------------

/**
 * A square was chosen, by a click or by a key.
 * @param {string} square
 */
function choose(square) {
  const { can } = shown;
  if (suspects?.active) return suspects.mark(square);
  if (can === null || sending) return;
  if (can.phase === "sense" && can.senses.includes(square)) return void act({ kind: "sense", square });
  if (can.phase !== "move") return;
  if (chosen !== null && chosen.ends.has(square)) return void finish(square, true);
  const again = chosen?.from === square;
  release();
  if (!again) begin(square);
}

/**
 * Choose the square of a piece, and show where it can go.
 * @param {string} from
 */
function begin(from) {
  const ends = endsFrom(shown.can?.moves ?? [], from, squares.pieces);
  if (ends.size === 0) return false;
  pocket.release();
  chosen = { from, ends };
  squares.mark("selected", [from]);
  squares.mark("target", ends.keys());
  return true;
}

/**
 * Choose a piece in hand; null to put it away.
 * @param {string | null} piece
 */
function choosePiece(piece) {
  chosen = null;
  squares.mark("selected", []);
  const ends = piece === null ? new Map() : dropsOf(shown.can?.moves ?? [], piece);
  chosen = piece === null ? null : { from: null, ends };
  squares.mark("target", ends.keys());
}

/**
 * Make the move that ends on a square.
 * @param {string} end
 * @param {boolean} animated
 */
async function finish(end, animated) {
  const moves = chosen?.ends.get(end) ?? [];
  const from = chosen?.from ?? null;
  release();
  const move = moves.length > 1 ? await choosePromotion(moves) : moves[0] ?? null;
  if (move === null || move === undefined) return draw(false);
  if (!animated && from !== null && !blind) {
    const pieces = new Map(squares.pieces);
    const piece = pieces.get(from);
    if (piece !== undefined) pieces.set(end, piece);
    pieces.delete(from);
    painter.show(writePlacement(pieces), false);
    dropped = move;
  }
  const offer = /** @type {HTMLInputElement | null} */ (controls.querySelector("input[name=offer_draw]"));
  await act({ kind: "move", move, ...(offer?.checked ? { offer_draw: "1" } : {}) });
  if (offer !== null) offer.checked = false;
}

/**
 * @param {string} square
 * @returns {boolean}
 */
function lift(square) {
  if (suspects?.active || sending || shown.can?.phase !== "move") return false;
  return movable().includes(square);
}

/**
 * @param {string} from
 * @param {string | null} to
 */
function drop(from, to) {
  release();
  if (to === null || !begin(from)) return;
  if (chosen?.ends.has(to)) void finish(to, false);
  else if (to !== from) release();
}

/** @param {string | null} square */
function hover(square) {
  over = square;
  const senses = shown.can?.phase === "sense" && square !== null && !suspects?.active;
  squares.mark("aim", senses && square !== null ? windowAround(square) : []);
}

function cancel() {
  suspects?.release();
  release();
}

/** Choose nothing. */
function release() {
  chosen = null;
  pocket.release();
  squares.mark("selected", []);
  squares.mark("target", []);
  squares.mark("aim", []);
}

/**
 * Send what the player does, with the fields that every form has.
 * @param {Record<string, string>} fields
 */
async function act(fields) {
  const form = controls.querySelector("form[action$='/act']");
  if (!(form instanceof HTMLFormElement)) return;
  const all = new URLSearchParams();
  for (const name of ["csrf", "seat"]) {
    const value = new FormData(form).get(name);
    if (value !== null) all.set(name, String(value));
  }
  all.set("ply", String(shown.ply));
  for (const [name, value] of Object.entries(fields)) all.set(name, value);
  await submit(all);
}

/** @param {URLSearchParams} fields */
async function submit(fields) {
  if (sending) return;
  sending = true;
  fields.set("since", String(lastListed()));
  const answer = await send(`${path}/act`, fields);
  sending = false;
  complaint.hidden = "view" in answer;
  if ("view" in answer) {
    complaint.textContent = "";
    for (const field of controls.querySelectorAll("#move, #square")) clear(field);
    return apply(answer.view);
  }
  complaint.textContent = answer.refusal;
  dropped = null;
  draw(false);
}

/**
 * Turn the board.
 * @param {import("./view.js").Color} side
 */
function turn(side) {
  bottom = side;
  game.classList.toggle("flipped", side === "black");
  squares.turn(side);
  painter.turn(side);
}

/** Take the page over from its forms. */
export function begun() {
  turn(bottom);
  draw(false);
  setClock(shown.clock);
  toggle();
  game.classList.add("scripted");
  aid?.follow(shown, (possible) => squares.mark("possible", possible));
  sayReady(shown, lastListed, apply);
  controls.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.action.endsWith("/act")) return;
    event.preventDefault();
    void submit(fieldsOf(form, event.submitter));
  });
  element("flip").addEventListener("click", (event) => {
    event.preventDefault();
    turn(bottom === "white" ? "black" : "white");
  });
  const copy = document.getElementById("copy");
  if (copy !== null && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", () => {
      const link = /** @type {HTMLInputElement} */ (element("link"));
      void navigator.clipboard.writeText(link.value).then(() => (said.textContent = copy.textContent = "Copied"));
    });
  }
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload(); // the page was put away, and is out of date
  });
}

/** Return the last ply whose move the page lists, and the number of the state that it shows. */
export function position() {
  return { ply: shown.ply, listed: lastListed(), seq: shown.seq, over: shown.over };
}

/** @param {Element} field */
function clear(field) {
  if (field instanceof HTMLInputElement) field.value = "";
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
function element(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
}
