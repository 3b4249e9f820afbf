// @ts-check
/** Leads a player of a finished game to a later game, such as the rematch that the opponent has begun. */

import { read } from "./live.js";

let looking = false;

/**
 * Follow the visitor's own games, and show the latest of those that came after this one.
 * @param {string} path the address of this game
 */
export function showNextGame(path) {
  const place = document.getElementById("next");
  if (place === null || looking) return;
  looking = true;
  const find = () => void show(place, numberOf(path));
  find();
  read(() => "/events", { mine: find });
}

/**
 * @param {HTMLElement} place
 * @param {number} after the number of this game
 */
async function show(place, after) {
  try {
    const answer = await fetch("/?part=mine", { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const list = document.createElement("template");
    list.innerHTML = await answer.text();
    const links = [...list.content.querySelectorAll("a[href^='/games/']")];
    const numbers = links.map((link) => numberOf(link.getAttribute("href") ?? ""));
    const latest = Math.max(after, ...numbers);
    const link = links[numbers.indexOf(latest)];
    place.replaceChildren(...(link === undefined || latest === after ? [] : ["You have another game: ", link]));
  } catch {
    // the next event brings another try
  }
}

/** @param {string} path */
function numberOf(path) {
  return Number(/^\/games\/(\d+)/.exec(path)?.[1] ?? 0);
}
