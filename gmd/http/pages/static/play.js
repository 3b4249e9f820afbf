// @ts-check
/**
 * A game's page while the game is played: it shows every state that the server sends, and sends what the player does.
 * The server says which moves there are; nothing here knows the rules.
 */

import { setClock, warnOfLowTime } from "./clocks.js";
import { keepFocus } from "./focus.js";
import { follow } from "./live.js";
import { boardAfter, Lookback } from "./lookback.js";
import { addMoves, addTurns, lastListed, lastTurn, turns } from "./movelist.js";
import { bySquares } from "./moves.js";
import { windowAround } from "./pieces.js";
import { choosePromotion } from "./promotion.js";
import { sayReady } from "./ready.js";
import { fieldsOf, send } from "./sending.js";
import { play, switchBy } from "./sound.js";

/** @typedef {import("./view.js").LiveView} LiveView */
/** @typedef {import("./pieces.js").Key} Key */

const game = element("game");
const controls = element("controls");
const said = element("said");
const complaint = element("complaint");
const path = game.dataset.path ?? "";
const list = document.getElementById("movetext");
const blind = game.dataset.senses === "1";
const hides = game.dataset.hides === "1";

/** @type {LiveView} */
let shown = JSON.parse(element("view").textContent ?? "");
/** @type {import("./view.js").Color} */
let bottom = game.dataset.bottom === "black" ? "black" : "white";
/** The moves that the player can make, by their squares. */
let moves = bySquares([], new Map());
let sending = false;
/** The move that the board shows already. */
let made = "";
/**
 * The square under the pointer or with the focus.
 * @type {Key | null}
 */
let over = null;

const board = await movingBoard();
const pocket = shown.board.pockets === null
  ? null
  : new (await import("./pocket.js")).Pocket(element("pocket"), {
      hold: () => free(),
      drag: (piece, event) => board?.ground.dragNewPiece(piece, event),
    });
const aid = blind && shown.seat !== null ? await import("./aid.js") : null;
const suspects =
  blind && shown.seat !== null
    ? new (await import("./suspects.js")).Suspects(`gmd.marks ${path} ${shown.seat}`, element("marks"), (marks) => board?.suspect(marks))
    : null;

const entries = list ?? document.getElementById("turns");
const steps = list === null
  ? { first: 1, last: () => turns.length, board: turnBoard, words: (/** @type {number} */ turn) => `Turn ${turn}, as you knew it.` }
  : { first: 0, last: lastListed, board: (/** @type {number} */ ply) => boardAfter(path, ply), words: (/** @type {number} */ ply) => `After ply ${ply}.` };
const lookback = entries === null ? null : new Lookback(entries, element("past"), steps, () => draw(false));

/**
 * Return the board as it was known in a turn of the player's.
 * @param {number} number
 * @returns {Promise<import("./view.js").Position>}
 */
async function turnBoard(number) {
  return /** @type {import("./view.js").Turn} */ (turns[number - 1]).board;
}

/** Return the last ply whose move, or whose turn of the player's, the page has. */
function listed() {
  return list === null ? lastTurn() : lastListed();
}

/** Return the moving board in place of the still one; null where the build could not bring it. */
async function movingBoard() {
  try {
    const { Board } = await import("./board.js");
    const made = new Board(element("place"), { choose, move, drop, hover, cancel });
    made.turn(bottom);
    made.show(shown.board, false); // other scripts are loaded before the page goes on
    element("still").hidden = true;
    return made;
  } catch (error) {
    console.warn("the moving board cannot be shown", error);
    return null;
  }
}

/**
 * Show a state of the game, unless a later one is shown already.
 * @param {LiveView} view
 */
function apply(view) {
  if (view.seq < shown.seq) return;
  if (list !== null && view.moves.length === 0 && lastListed() < view.ply) return location.reload(); // it lacks too many
  const isNew = view.seq > shown.seq;
  const before = shown;
  shown = view;
  if (view.html) replaceParts(view.html);
  addTurns(view.turns);
  draw(before !== view && made !== view.board.last_move);
  made = "";
  addMoves(view.moves, path);
  lookback?.mark();
  setClock(view.clock);
  keepFocus(controls, toggle, view.over);
  hover(over);
  if (isNew) announce();
  if (view.ply > before.ply) play(isCapture(before, view) ? "capture" : "move");
  aid?.follow(view, board);
  suspects?.see(view);
  if (view.over && view.seat !== null) void import("./nextgame.js").then((module) => module.showNextGame(path));
  sayReady(view, listed, apply);
}

/**
 * Return whether a piece has gone between two states, as far as the player may know.
 * @param {LiveView} before
 * @param {LiveView} after
 */
function isCapture(before, after) {
  /** @param {LiveView} view */
  const count = (view) => view.board.fen.split(" ")[0]?.replace(/\[.*|[^a-zA-Z]/g, "").length ?? 0;
  return count(after) < count(before);
}

/**
 * Put the parts of the page that have changed in the place of those with the same names.
 * @param {string} html
 */
function replaceParts(html) {
  const parts = document.createElement("template");
  parts.innerHTML = html;
  for (const part of parts.content.querySelectorAll("[data-live]")) {
    game.querySelector(`[data-live="${part.getAttribute("data-live")}"]`)?.replaceWith(part);
  }
}

/**
 * Draw the board.
 * @param {boolean} animated
 */
function draw(animated) {
  if (board === null) drawStill();
  const past = lookback?.past ?? null;
  board?.show(past ?? shown.board, animated);
  element("place").classList.toggle("past", past !== null);
  aid?.lookBack(past !== null);
  moves = bySquares(shown.can?.moves ?? [], board?.pieces ?? new Map());
  const hands = shown.board.pockets;
  if (hands !== null && shown.seat !== null) pocket?.show(shown.seat, hands[shown.seat === "white" ? 0 : 1]);
  free();
}

/** Show the server's picture of the position, where there is no moving board. */
function drawStill() {
  const drawn = /** @type {HTMLElement} */ (element("still").querySelector(".drawn"));
  const image = new Image();
  image.alt = "";
  image.src = `${drawn.dataset.picture}&at=${shown.seq}`;
  drawn.replaceChildren(image);
}

/** Let the player move on the board what can be moved now. */
function free() {
  if (board === null) return;
  const held = pocket?.held ?? null;
  const marking = suspects?.active === true || held !== null || (lookback?.past ?? null) !== null;
  const phase = shown.can?.phase;
  board.free({
    side: shown.seat ?? "white",
    moves: !marking && phase === "move",
    premoves: !marking && !hides && (phase === "move" || phase === "wait"),
    ends: new Map([...moves].map(([from, ends]) => [from, [...ends.keys()]])),
  });
  board.mark("target", held === null ? [] : drops(held));
}

/**
 * Return the squares on which a piece in hand can be dropped.
 * @param {string} letter
 */
function drops(letter) {
  return (shown.can?.moves ?? []).filter((move) => move.startsWith(`${letter}@`)).map((move) => move.slice(2));
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
    play: can !== null && can.phase !== "open",
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
  document.title = `${can?.phase === "move" || can?.phase === "sense" ? "Your turn – " : ""}${title()}`;
}

/** Return the page's title: the players, and the game. */
function title() {
  const names = ["white", "black"].map((side) => game.querySelector(`.bar.${side} .player`)?.textContent ?? "open seat");
  return `${names.join(" – ")}, game ${path.replace("/games/", "")} – gmd`;
}

/** Say how the game stands, for those who do not see it. */
function announce() {
  const last = shown.moves[shown.moves.length - 1];
  const words = [...game.querySelectorAll(".status p, .observed li")].map((each) => each.textContent?.trim() ?? "");
  said.textContent = [...(last ? [`${last.color} played ${last.san}.`] : []), ...words].join(" ");
}

// --- What the player does --------------------------------------------------------------------------------------------

/**
 * A square was chosen for something other than a move: for a mark, a drop or a sense.
 * @param {Key} square
 */
function choose(square) {
  if (lookback !== null && lookback.past !== null) return void lookback.go(null);
  if (suspects?.active) return suspects.mark(square);
  if (pocket !== null && pocket.held !== null) return drop(pocket.held, square);
  if (shown.can?.phase === "sense" && shown.can.senses.includes(square)) void act({ kind: "sense", square });
}

/**
 * @param {Key} from
 * @param {Key} to
 * @param {boolean} isPremove a premoved pawn becomes a queen
 */
async function move(from, to, isPremove) {
  const found = moves.get(from)?.get(to) ?? [];
  const several = found.length > 1 && !isPremove && board !== null;
  const wanted = several ? await choosePromotion(element("place"), found, bottom) : found.find((each) => !/[nrbk]$/.test(each)) ?? found[0];
  if (!wanted) return draw(false);
  if (!blind) made = wanted;
  const offer = /** @type {HTMLInputElement | null} */ (controls.querySelector("input[name=offer_draw]"));
  await act({ kind: "move", move: wanted, ...(offer?.checked ? { offer_draw: "1" } : {}) });
  if (offer !== null) offer.checked = false;
}

/**
 * Drop a piece in hand.
 * @param {string} letter
 * @param {Key} to
 */
function drop(letter, to) {
  pocket?.release();
  if (drops(letter).includes(to)) void act({ kind: "move", move: `${letter}@${to}` });
  else draw(false);
}

/** @param {Key | null} square */
function hover(square) {
  over = square;
  const senses = shown.can?.phase === "sense" && square !== null && !suspects?.active && !lookback?.past;
  board?.mark("aim", senses ? windowAround(square) : []);
}

function cancel() {
  void lookback?.go(null);
  suspects?.release();
  pocket?.release();
  board?.release();
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
  fields.set("since", String(listed()));
  const answer = await send(`${path}/act`, fields);
  sending = false;
  complaint.hidden = "view" in answer;
  if ("view" in answer) {
    complaint.textContent = "";
    for (const field of controls.querySelectorAll("#move, #square")) clear(field);
    return apply(answer.view);
  }
  complaint.textContent = answer.refusal;
  made = "";
  draw(false);
}

/**
 * Turn the board.
 * @param {import("./view.js").Color} side
 */
function turn(side) {
  bottom = side;
  game.classList.toggle("flipped", side === "black");
  board?.turn(side);
}

addTurns(shown.turns);
turn(bottom);
draw(false);
setClock(shown.clock);
toggle();
game.classList.add("scripted");
aid?.follow(shown, board);
suspects?.see(shown);
sayReady(shown, listed, apply);
warnOfLowTime(shown.seat, () => play("low"));
switchBy(element("sound"));
const queued = document.getElementById("place-in-queue");
if (queued !== null) void import("./queue.js").then((module) => module.followQueue(path, queued));
follow(path, game.dataset.named ?? "", listed, apply, (lost) => {
  element("lost").hidden = !lost;
});

controls.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.action.endsWith("/act")) return;
  event.preventDefault();
  void submit(fieldsOf(form, event.submitter));
});
document.getElementById("marks")?.addEventListener("click", free);
if (board !== null) {
  element("flip").addEventListener("click", (event) => {
    event.preventDefault();
    turn(bottom === "white" ? "black" : "white");
  });
}
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
