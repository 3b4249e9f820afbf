// @ts-check
/** Tells the server that the player has the game's page in view: the clocks start once both players are present. */

import { fieldsOf, send } from "./sending.js";

const form = document.getElementById("ready");

let sent = false;
/** @type {(() => void) | null} */
let again = null;

/**
 * Send it once, as soon as the page is visible. A request that fails is sent again with the next state of the game.
 * @param {import("./view.js").LiveView} view
 * @param {() => number} listed the last ply of the list of moves
 * @param {(view: import("./view.js").LiveView) => void} apply takes the answer
 */
export function sayReady(view, listed, apply) {
  again = () => void say(view, listed, apply);
  again();
}

/**
 * @param {import("./view.js").LiveView} view
 * @param {() => number} listed
 * @param {(view: import("./view.js").LiveView) => void} apply
 */
async function say(view, listed, apply) {
  if (sent || document.visibilityState !== "visible") return;
  if (!(form instanceof HTMLFormElement) || view.can === null || view.clock === null) return;
  sent = true;
  const fields = fieldsOf(form, null);
  fields.set("since", String(listed()));
  const answer = await send(form.action, fields);
  if ("view" in answer) apply(answer.view);
  else sent = false;
}

document.addEventListener("visibilitychange", () => again?.());
