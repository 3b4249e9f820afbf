// @ts-check
/** Clocks that run on between two states of a game. */

/** Seconds below which a clock is red. */
const LOW = 10;

/** @type {import("./view.js").Clock | null} */
let clock = null;
/** Whether the visitor has been warned of its own clock. */
let warned = false;
let since = 0;
/** @type {number | undefined} */
let timer;

/** @type {(() => void) | null} */
let warn = null;
/** @type {import("./view.js").Color | null} */
let own = null;

/**
 * Warn a player whose clock runs low, once until it has more time again.
 * @param {import("./view.js").Color | null} side
 * @param {() => void} how
 */
export function warnOfLowTime(side, how) {
  own = side;
  warn = how;
}

/**
 * Show a clock, and let it run.
 * @param {import("./view.js").Clock | null} given
 */
export function setClock(given) {
  clock = given;
  since = performance.now();
  clearInterval(timer);
  timer = given !== null && given.running !== null ? setInterval(show, 100) : undefined;
  show();
}

/**
 * Return a time as people read it: 1:02:03, 4:05, or 9.7 in the last ten seconds; "–" where hidden.
 * @param {number | null} seconds
 */
export function clockText(seconds) {
  if (seconds === null) return "–";
  if (seconds < 10) return (Math.floor(Math.max(seconds, 0) * 10) / 10).toFixed(1);
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${two}` : `${minutes}:${two}`;
}

function show() {
  const passed = (performance.now() - since) / 1000;
  for (const shown of document.querySelectorAll("[data-clock]")) {
    if (clock === null || !(shown instanceof HTMLElement)) continue;
    const side = shown.dataset.clock === "white" ? "white" : "black";
    const left = clock[side];
    const now = left === null || clock.running !== side ? left : left - passed;
    const text = clockText(now);
    const low = now !== null && now < LOW;
    shown.classList.toggle("low", low);
    if (side === own && now !== null && clock.running === side) {
      if (low && !warned) warn?.();
      warned = low;
    }
    if (shown.textContent !== text) shown.textContent = text;
  }
}
