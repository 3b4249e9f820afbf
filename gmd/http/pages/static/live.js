// @ts-check
/** Follows a game, or lists of games, by the server's events. */

/** Milliseconds before a stream that the server has refused is asked for again. */
const PAUSE = 5_000;
/** Milliseconds after which a page that nobody looks at reads no more events. */
const AWAY = 30_000;

/**
 * Read events while the page is looked at, until the server says that there are no more. The browser itself connects
 * again when the connection is lost; it then names the last event that it has got.
 * @param {() => string} address where to read from; it names what the page has already
 * @param {Record<string, (data: string) => void>} takers what takes each kind of event
 */
export function read(address, takers) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {number | undefined} */
  let timer;
  let ended = false;

  function open() {
    clearTimeout(timer);
    if (source !== null || ended) return;
    const opened = (source = new EventSource(address()));
    for (const [kind, take] of Object.entries(takers)) {
      opened.addEventListener(kind, (event) => take(/** @type {MessageEvent<string>} */ (event).data));
    }
    opened.addEventListener("end", () => {
      ended = true;
      close();
    });
    opened.addEventListener("error", () => {
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return; // else the browser connects again
      close();
      timer = setTimeout(open, PAUSE);
    });
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") open();
    else {
      clearTimeout(timer);
      timer = setTimeout(close, AWAY);
    }
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}

/**
 * Show every state of a game that the server sends, until the game is over.
 * @param {string} path the address of the game
 * @param {string} seat the seat to look from, for a player of both; else empty
 * @param {() => number} listed the last ply of the list of moves
 * @param {(view: import("./view.js").LiveView) => void} apply
 */
export function follow(path, seat, listed, apply) {
  read(() => `${path}/events?${new URLSearchParams({ since: String(listed()), ...(seat ? { view: seat } : {}) })}`, {
    message: (data) => apply(/** @type {import("./view.js").LiveView} */ (JSON.parse(data))),
  });
}
