import { randomUUID } from "node:crypto";

import { Connection, addresses } from "./connection.js";
import { BadReply, ConnectionLost, GmError } from "./errors.js";
import { decode, encode } from "./json.js";
import { ACTING, MAKING, READING } from "./kinds.js";
import { turns } from "./turns.js";

/** Codes of a reply to hello that a retry may overcome. */
const PASSING = new Set(["too_many", "shutting_down"]);

/** Default seconds of retries after a lost connection: enough to restart a server. */
const PATIENCE_SECONDS = 60;

/** Seconds between two attempts, at first and at most. They double each time, with jitter for crowds of clients. */
const FIRST_DELAY = 0.05;
const LONGEST_DELAY = 2;

/** Seconds without a reply, in addition to the longest wait, after which the connection counts as lost. */
const SILENCE_SECONDS = 30;

/** Seconds for connecting to each of several servers, and for its first reply: a frozen one may never answer. */
const ANSWER_SECONDS = 5;

/** Connects and says hello, in one attempt at each server. Rejects with ConnectionLost, or with GmError if the server refuses. */
export async function connect(options) {
  const client = new Client(options);
  await client.open();
  return client;
}

/** A session that outlives its connections. */
export class Client {
  server = null;
  protocol = null;
  kinds = [];
  limits = {};
  player = null;

  #options;
  #greeting;
  #said = null; // the greeting that the connection, or a later hello on it, began with
  #connection = null;
  #unanswered = []; // oldest first: those already sent, then the others
  #opening = null; // the attempt in progress
  #recovering = false;
  #lostAt = null; // when requests that are still unanswered first lost their connection
  #attempts = 0; // to connect, since then
  #closed = false;
  #servers; // the hosts and ports to try in turn, first the one that answered last; shared with the children
  #wake = () => {}; // ends the pause between two attempts
  #children = new Set(); // the clients of loops of turns

  constructor(options = {}) {
    const { client = "gm-client/0.3.0", patience = PATIENCE_SECONDS, ...others } = options;
    const { player, name, key, password, spectator_key, host, port, ...where } = others;
    this.#servers = addresses(host, port);
    this.#options = { ...where, patience };
    this.#greeting = { protocol: 2, client, player, name, key, password, spectator_key };
  }

  /** The player's turns, on a connection of their own: a `wait` ends when another request is sent after it. */
  async *turns(fields = {}) {
    if (this.#closed) throw closed();
    const child = new Client({ ...this.#options, ...this.#greeting });
    child.#servers = this.#servers;
    this.#children.add(child);
    try {
      yield* turns(child, fields);
    } finally {
      this.#children.delete(child);
      child.close();
    }
  }

  /** Sends a request of any kind. Replies come in the order of the requests. */
  async request(kind, fields = {}) {
    if (this.#closed) throw closed();
    const request = { kind, ...fields };
    if (MAKING.has(kind)) request.token ??= randomUUID();
    const body = this.#encoded(request);
    const repeatable = READING.has(kind) || MAKING.has(kind) || (ACTING.has(kind) && request.ply != null);
    return new Promise((resolve, reject) => {
      const pending = { request, body, repeatable, sent: false, resolve, reject };
      this.#unanswered.push(pending);
      if (this.#connection) this.#send(pending);
      else this.#recover();
    });
  }

  /** Connects and says hello, in one attempt at each server. Calling this is optional: a request connects. */
  async open() {
    if (this.#closed) throw closed();
    if (this.#connection) return;
    this.#opening ??= this.#open();
    try {
      await this.#opening;
    } finally {
      this.#opening = null;
    }
  }

  async #open() {
    const servers = this.#servers;
    const seconds = servers.length > 1 ? ANSWER_SECONDS : undefined;
    const errors = [];
    for (const server of [...servers]) {
      try {
        await this.#openAt({ ...this.#options, ...server }, seconds);
        servers.push(...servers.splice(0, servers.indexOf(server)));
        return;
      } catch (error) {
        errors.push(error);
        if (this.#closed || !isPassing(error)) break;
      }
    }
    const refusal = errors.findLast((error) => !(error instanceof ConnectionLost)); // of a server that has answered
    if (refusal || errors.length === 1) throw refusal ?? errors[0];
    throw new ConnectionLost(errors.map(({ message }) => message).join("; "));
  }

  async #openAt(where, seconds) {
    const connection = await Connection.open(where, seconds);
    this.#said = this.#greeting;
    const reply = await answer(connection, encode({ kind: "hello", ...this.#said }), seconds);
    if (reply.code === "unauthorized" && (await this.#asksForKey(connection))) return this.#openAt(where, seconds);
    if (reply.error != null) throw refused(connection, reply, "hello");
    if (this.#closed) connection.drop(closed());
    if (connection.lost) throw connection.lost;
    this.#learn(reply);
    connection.onbody = (body) => this.#receive(body);
    connection.onlost = (error) => this.#lose(error);
    connection.onsilence = () => this.#doubt();
    connection.watch((this.limits.max_wait_seconds ?? 60) + (seconds ?? SILENCE_SECONDS));
    this.#connection = connection;
    for (const pending of this.#unanswered) this.#send(pending);
  }

  /**
   * After the reply to a rekey was lost, the key may be an old one. It then still serves to repeat the rekey, in a
   * session without a player. Returns whether the client has a new key now; all other requests wait for a session that
   * begins with that key.
   */
  async #asksForKey(connection) {
    const { key } = this.#greeting;
    const pending = this.#unanswered.find(({ request }) => request.kind === "rekey");
    if (!pending || key === undefined) return false;
    const { request } = pending;
    const proven = { ...request, player: request.player ?? this.player, key: request.key ?? key };
    const reply = await answer(connection, encode(proven));
    if (PASSING.has(reply.code)) throw refused(connection, reply, "rekey");
    connection.close();
    this.#unanswered = this.#unanswered.filter((other) => other !== pending);
    this.#fulfil(pending, reply);
    return this.#greeting.key !== key;
  }

  /** Ends the session. Requests that have no reply yet are rejected. */
  close() {
    this.#closed = true;
    for (const child of this.#children) child.close();
    this.#connection?.close();
    this.#connection = null;
    this.#wake();
    this.#refuse(closed);
  }

  #encoded(request) {
    const body = encode(request);
    const limit = this.limits.max_message ?? Infinity;
    if (body.length <= limit) return body;
    const error = `the request has ${body.length} bytes; the server accepts at most ${limit} (limits.max_message)`;
    throw new GmError({ error, code: "bad_frame" }, request.kind);
  }

  #send(pending) {
    pending.sent = true;
    this.#connection.send(pending.body);
  }

  #receive(body) {
    const reply = decode(body);
    const pending = this.#unanswered[0];
    if (reply.code === "shutting_down" || !pending?.sent) {
      // The request was not carried out, or the server is ending the session.
      if (pending) pending.sent = false;
      this.#connection.drop(new ConnectionLost(`the server ended the session: ${reply.error}`));
      return;
    }
    if (reply.code === "internal" && reply.retry_after !== undefined) {
      // It is sent again if that is safe, as after a lost connection.
      this.#connection.drop(new ConnectionLost(`the server cannot reach its database: ${reply.error}`));
      return;
    }
    if (reply.code === "unauthorized" && this.#said !== this.#greeting) {
      pending.sent = false;
      this.#connection.drop(new ConnectionLost("the session began with a key that has been replaced"));
      return;
    }
    this.#unanswered.shift();
    this.#settle();
    this.#fulfil(pending, reply);
  }

  #fulfil({ request, resolve, reject }, reply) {
    if (request.kind === "hello") this.#reintroduce(request, reply);
    if (reply.error != null) return reject(new GmError(reply, request.kind));
    if (request.kind === "rekey" && reply.key != null && reply.player === this.player) {
      this.#unlock(reply.key);
      this.#said = this.#greeting; // the session of the rekey goes on
    }
    resolve(reply);
  }

  /** The next connection begins with a later hello. A refused hello leaves the session without a player. */
  #reintroduce({ kind, id, ...greeting }, reply) {
    const { protocol, client } = this.#greeting;
    this.#greeting = reply.error == null ? { protocol, client, ...greeting } : { protocol, client };
    this.#said = this.#greeting;
    if (reply.error == null) this.#learn(reply);
    else this.player = null;
  }

  /** The next connection begins with a later key; loops of turns reconnect with it when their own is refused. */
  #unlock(key) {
    this.#greeting = { ...this.#greeting, key, password: undefined };
    for (const child of this.#children) if (child.player === this.player) child.#unlock(key);
  }

  #learn({ server, protocol, kinds, limits, player }) {
    Object.assign(this, { server, protocol, kinds, limits, player });
  }

  #lose(error) {
    this.#connection = null;
    if (error instanceof BadReply) return this.#refuse(() => error);
    const doubtful = this.#unanswered.filter((pending) => pending.sent && !pending.repeatable);
    this.#unanswered = this.#unanswered.filter((pending) => !doubtful.includes(pending));
    for (const pending of this.#unanswered) pending.sent = false;
    for (const { request, reject } of doubtful) reject(unknown(request, error));
    if (this.#unanswered.length > 0) this.#recover(error);
  }

  /** Handles a long silence, which is an error only if a reply is pending. */
  #doubt() {
    if (this.#unanswered.length > 0) this.#connection.drop(new ConnectionLost("the server did not answer in time"));
  }

  /** Reconnects, repeatedly, and sends the unanswered requests; `error` is the error of the last connection. */
  async #recover(error = null) {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#lostAt ??= Date.now();
    while (!this.#connection && !this.#closed && this.#unanswered.length > 0) {
      const seconds = Math.max(delay(this.#attempts++), error?.retry_after ?? 0);
      if (error && (!isPassing(error) || this.#isTooLate(seconds))) {
        this.#refuse(() => error);
        break;
      }
      await this.#pause(seconds);
      error = await this.open().catch((failure) => failure);
    }
    this.#recovering = false;
  }

  #isTooLate(seconds) {
    return Date.now() + seconds * 1000 > this.#lostAt + this.#options.patience * 1000;
  }

  #pause(seconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Resets the count of attempts: a reply has come, or the requests have failed. */
  #settle() {
    this.#lostAt = null;
    this.#attempts = 0;
  }

  /** Rejects every request that has no reply. */
  #refuse(error) {
    this.#settle();
    for (const { reject } of this.#unanswered.splice(0)) reject(error());
  }
}

for (const kind of [...READING, ...ACTING, ...MAKING]) {
  Client.prototype[kind] = function (fields) {
    return this.request(kind, fields);
  };
}

/** The reply to the only message on a connection. If there is none, the connection is closed. */
async function answer(connection, body, silence = SILENCE_SECONDS) {
  const arrived = new Promise((resolve, reject) => {
    connection.onbody = resolve;
    connection.onlost = reject;
    connection.onsilence = () => connection.drop(new ConnectionLost("the server did not answer the hello in time"));
  });
  connection.watch(silence);
  connection.send(body);
  try {
    return decode(await arrived);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The error to throw when the server refuses a connection's hello or rekey; closes the connection. */
function refused(connection, reply, kind) {
  connection.close();
  return new GmError(reply, kind);
}

function unknown({ kind }, cause) {
  const how = ACTING.has(kind) ? '; with "ply" the client would have retried it' : "";
  const message = `the connection was lost, and it is not known whether this ${kind} was carried out${how}`;
  return new ConnectionLost(message, { cause, sent: true });
}

function delay(attempt) {
  return attempt === 0 ? 0 : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

/** Whether a retry may overcome the error of an attempt. */
function isPassing(error) {
  if (error.code === "internal") return error.retry_after !== null;
  return error instanceof ConnectionLost || PASSING.has(error.code);
}

function closed() {
  return new ConnectionLost("the client was closed");
}
