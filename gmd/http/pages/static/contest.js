// @ts-check
/**
 * Keeps a contest's page current while the contest runs and the page is visible.
 * The server renders it; this module only asks for the part of the page that changes.
 */

/** Milliseconds between two looks, and after a look that failed. */
const LOOK = 5_000;
const RETRY = 30_000;

const contest = /** @type {HTMLElement} */ (document.getElementById("contest"));
/** @type {number | undefined} */
let timer;

/** Return whether the contest may still change. */
function runs() {
  return contest.querySelector("[data-state]")?.getAttribute("data-state") === "running";
}

/** Return the table, which may be scrolled sideways. */
function table() {
  return /** @type {HTMLElement | null} */ (contest.querySelector("section[tabindex]"));
}

/** Show the contest as it stands. */
async function look() {
  let next = LOOK;
  try {
    const answer = await fetch(`${contest.dataset.path}?part=1`, { headers: { accept: "text/html" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.text());
  } catch {
    next = RETRY;
  }
  plan(next);
}

/**
 * Replace the part that changes; what the reader has opened stays open, and what has the focus keeps it. While the
 * reader is at a link that the new part lacks, the old one stays.
 * @param {string} text
 */
function show(text) {
  const opened = [...contest.querySelectorAll("details")].map((each) => each.open);
  const [focused, scrolled] = [focusedIn(contest), table()?.scrollLeft ?? 0];
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  const [selector, number] = focused ?? ["", 0];
  if (focused !== null && fresh.content.querySelector(selector) === null) return;
  contest.replaceChildren(fresh.content);
  contest.querySelectorAll("details").forEach((each, index) => (each.open = opened[index] ?? false));
  table()?.scrollTo({ left: scrolled });
  if (focused === null) return;
  const alike = contest.querySelectorAll(selector);
  const again = alike[Math.min(number, alike.length - 1)];
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/**
 * Return a selector of what has the focus in a part of the page, and its number among those that it selects; null if
 * nothing there has it.
 * @param {Element} part
 * @returns {[string, number] | null}
 */
function focusedIn(part) {
  const active = document.activeElement;
  if (active === null || active === part || !part.contains(active)) return null;
  const href = active.getAttribute("href");
  const selector = href === null ? active.tagName.toLowerCase() : `a[href="${CSS.escape(href)}"]`;
  return [selector, [...part.querySelectorAll(selector)].indexOf(active)];
}

/**
 * Look again after some time, if the page is visible then.
 * @param {number} milliseconds
 */
function plan(milliseconds) {
  clearTimeout(timer);
  if (runs() && document.visibilityState === "visible") timer = setTimeout(look, milliseconds);
}

document.addEventListener("visibilitychange", () => plan(0));
plan(LOOK);
