import net from "node:net";
import tls from "node:tls";

import { BadReply, ConnectionLost } from "./errors.js";
import { FrameDecoder, encodeFrame } from "./frames.js";

/** Seconds that connecting may take, including TLS. */
const CONNECT_SECONDS = 10;

/** Seconds of silence after which the system probes a connection, each second: the server's machine may be gone. */
const KEEPALIVE_SECONDS = 5;

/**
 * The hosts and ports in a list as in "a:7100,b"; `port` is that of servers without one. IPv6 addresses are in brackets,
 * except for one alone. Throws a RangeError for what is no address.
 */
export function addresses(servers = "127.0.0.1", port = 7100) {
  if (net.isIPv6(servers)) return [{ host: servers, port }];
  return servers.split(",").map((text) => {
    const [, host, digits] = /^(\[[^[\]\s]+\]|[^[\]:\s]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
    if (!text || host === undefined || digits < 1 || digits > 65535)
      throw new RangeError(`'${text}' is not HOST:PORT, with a port from 1 to 65535`);
    return { host: host.replace(/[[\]]/g, "") || "127.0.0.1", port: digits === undefined ? port : Number(digits) };
  });
}

/** A connection that carries messages, whatever they contain. */
export class Connection {
  /** Called with each message that arrives. */
  onbody = () => {};
  /** Called once, with a ConnectionLost or BadReply, when no more messages will arrive. */
  onlost = () => {};
  /** Called when no data has been received or sent for the time given to `watch`. */
  onsilence = () => {};

  /** Why no more messages will arrive, or null. */
  lost = null;

  #socket;
  #decoder = new FrameDecoder();
  #corked = false;

  /**
   * Connects within `seconds`. `path` is a Unix socket, instead of `host` and `port`; `tls` is true, or options of
   * tls.connect. Rejects with ConnectionLost.
   */
  static open({ host, port, path, tls: secure = false }, seconds = CONNECT_SECONDS) {
    const address = path === undefined ? { host, port, autoSelectFamily: true } : { path };
    const name = path ?? `${host}:${port}`;
    return new Promise((resolve, reject) => {
      const socket = secure ? tls.connect({ ...address, ...named(host), ...secure }) : net.connect(address);
      const fail = (cause) => {
        clearTimeout(patience);
        socket.destroy();
        reject(new ConnectionLost(`cannot connect to ${name}: ${reason(cause)}`, { cause }));
      };
      const late = new Error(`no answer in ${seconds} seconds`);
      const patience = setTimeout(() => fail(late), seconds * 1000);
      socket.once("error", fail);
      socket.once(secure ? "secureConnect" : "connect", () => {
        clearTimeout(patience);
        socket.off("error", fail);
        resolve(new Connection(socket));
      });
    });
  }

  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEPALIVE_SECONDS * 1000);
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("timeout", () => this.onsilence());
    const lose = (why, options) => this.#lose(new ConnectionLost(why, options));
    socket.on("error", (cause) => lose(`the connection was lost: ${reason(cause)}`, { cause }));
    socket.on("close", () => lose("the server closed the connection"));
  }

  /** Sends a message. Messages sent in one turn of the event loop go out in one write. */
  send(body) {
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(encodeFrame(body));
  }

  /** Calls `onsilence` whenever no data has been received or sent for this many seconds. */
  watch(seconds) {
    this.#socket.setTimeout(seconds * 1000);
  }

  /** Ends the connection once all messages have been sent. */
  close() {
    this.#socket.destroySoon();
  }

  /** Ends the connection at once, with an error for `onlost`. */
  drop(error) {
    this.#lose(error);
  }

  #receive(chunk) {
    if (this.lost) return;
    this.#decoder.feed(chunk);
    try {
      for (let body; !this.lost && (body = this.#decoder.next()) !== null; ) this.onbody(body);
    } catch (error) {
      if (!(error instanceof BadReply)) throw error;
      this.#lose(error);
    }
  }

  #lose(error) {
    if (this.lost) return;
    this.lost = error;
    this.#socket.destroy();
    this.onlost(error);
  }
}

/** The name that the server's certificate must have; empty for an IP address, which cannot be requested by SNI. */
function named(host) {
  return net.isIP(host) ? {} : { servername: host };
}

/** The message of an error; for a host with several addresses, the message of each. */
function reason(cause) {
  return cause.errors ? cause.errors.map((error) => error.message).join("; ") : cause.message;
}
