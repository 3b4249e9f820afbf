// @ts-check
/** Follows a game, or lists of games, by the server's events. */

/** Milliseconds before a lost stream is asked for again, at first and at most. */
const SOON = 500;
const LATER = 4_000;
/** Milliseconds after which a page says that its stream is lost. */
const PATIENCE = 1_000;
/** Milliseconds after which a page that nobody looks at reads no more events. */
const AWAY = 30_000;

/**
 * Read events while the page is looked at, until the server says that there are no more.
 * @param {() => string} address where to read from; it names what the page has already
 * @param {Record<string, (data: string) => void>} takers what takes each kind of event
 * @param {(lost: boolean) => void} [report] is told when the connection is lost, and when it is there again
 */
export function read(address, takers, report = () => {}) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {number | undefined} */
  let timer;
  /** @type {number | undefined} */
  let silence;
  /** @type {number | undefined} */
  let away;
  let pause = SOON;
  let ended = false;

  function open() {
    clearTimeout(timer);
    if (source !== null || ended) return;
    const opened = (source = new EventSource(address()));
    for (const [kind, take] of Object.entries(takers)) {
      opened.addEventListener(kind, (event) => take(/** @type {MessageEvent<string>} */ (event).data));
    }
    opened.addEventListener("open", () => {
      clearTimeout(silence);
      silence = undefined;
      pause = SOON;
      report(false);
    });
    opened.addEventListener("end", () => {
      ended = true;
      close();
    });
    opened.addEventListener("error", () => {
      if (source === opened) lose();
    });
  }

  function lose() {
    close();
    silence ??= setTimeout(() => report(true), PATIENCE);
    timer = setTimeout(open, pause * (1 + Math.random() / 2)); // not all readers of a server at once
    pause = Math.min(2 * pause, LATER);
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  addEventListener("offline", () => {
    if (source !== null) lose();
  });
  addEventListener("online", open);
  document.addEventListener("visibilitychange", () => {
    clearTimeout(away);
    if (document.visibilityState === "visible") open();
    else away = setTimeout(close, AWAY);
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
 * @param {(lost: boolean) => void} report
 */
export function follow(path, seat, listed, apply, report) {
  const address = () => `${path}/events?${new URLSearchParams({ since: String(listed()), ...(seat ? { view: seat } : {}) })}`;
  read(address, { message: (data) => apply(/** @type {import("./view.js").LiveView} */ (JSON.parse(data))) }, report);
}
