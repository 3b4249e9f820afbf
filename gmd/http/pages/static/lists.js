// @ts-check
/** The home page's lists of games, which follow the games. The server makes their HTML. */

import { clockText } from "./clocks.js";
import { read } from "./live.js";

const lists = /** @type {HTMLElement} */ (document.getElementById("lists"));

/** When each clock was set, in milliseconds. @type {WeakMap<Element, number>} */
const set = new WeakMap();

/** Note that the clocks of the page's new parts have just been set. */
function noteClocks() {
  for (const clock of lists.querySelectorAll(".clock.running")) {
    if (!set.has(clock)) set.set(clock, performance.now());
  }
}

/** Show how much time is left by now. */
function runClocks() {
  for (const clock of lists.querySelectorAll(".clock.running")) {
    if (!(clock instanceof HTMLElement)) continue;
    const passed = (performance.now() - (set.get(clock) ?? performance.now())) / 1000;
    clock.textContent = clockText(Number(clock.dataset.seconds) - passed);
  }
}

/**
 * Replace a list; a link in it that has the focus keeps it.
 * @param {string} name
 * @param {string} html
 */
async function replace(name, html) {
  const list = lists.querySelector(`[data-list="${name}"]`);
  if (list === null) return;
  await drawn(list, html);
  const focused = document.activeElement;
  const href = focused instanceof HTMLAnchorElement && list.contains(focused) ? focused.getAttribute("href") : null;
  list.innerHTML = html;
  if (href !== null) {
    const link = list.querySelector(`a[href="${CSS.escape(href)}"]`);
    if (link instanceof HTMLElement) link.focus();
  }
  noteClocks();
}

/**
 * Wait until the browser has the picture of a new list, so that the old one stays until then.
 * @param {Element} list
 * @param {string} html
 */
async function drawn(list, html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const [before, after] = [list.querySelector("img"), fresh.content.querySelector("img")];
  if (after === null || before?.getAttribute("src") === after.getAttribute("src")) return;
  const picture = new Image();
  picture.src = after.getAttribute("src") ?? "";
  await picture.decode().catch(() => undefined); // the game may have gone on: then the next event has its picture
}

/** Get the list of the visitor's own games again. */
async function replaceMine() {
  try {
    const answer = await fetch("/?part=mine", { headers: { accept: "text/html" } });
    if (answer.ok) await replace("mine", await answer.text());
  } catch {
    // the next event brings another try
  }
}

noteClocks();
setInterval(runClocks, 1_000);
read(() => lists.dataset.events ?? "/events", {
  lists: (data) => {
    const parts = /** @type {Record<string, string>} */ (JSON.parse(data));
    for (const [name, html] of Object.entries(parts)) void replace(name, html);
  },
  mine: () => void replaceMine(),
});
