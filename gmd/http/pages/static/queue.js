// @ts-check
/** The place of a game in the queue of a busy bot. */

/** Milliseconds between two looks. */
const LOOK = 3_000;

/** Look how many games a bot begins before this one, until this one begins. */
export function followQueue() {
  const timer = setInterval(() => void look(), LOOK);

  async function look() {
    const place = document.getElementById("queue");
    if (place === null || place.hidden) return clearInterval(timer);
    if (document.visibilityState !== "visible") return;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      const page = document.createElement("template");
      page.innerHTML = await answer.text();
      const words = page.content.querySelector("#queue")?.textContent;
      if (answer.ok && words && words !== place.textContent) place.textContent = words;
    } catch {
      // the next look brings another try
    }
  }
}
