// A server scripted by a test: it does what a daemon would not do, or not at that moment.
import net from "node:net";

import { FrameDecoder, decode, encode, encodeFrame } from "../index.js";

export const HELLO = {
  protocol: 2,
  server: "scripted/1",
  kinds: ["hello", "ping"],
  player: null,
  limits: { max_message: 1 << 20, max_wait_seconds: 60 },
  error: null,
};

/** The server's end of one connection. */
class Peer {
  #socket;
  #decoder = new FrameDecoder();
  #wake = () => {};

  constructor(socket) {
    this.#socket = socket;
    this.ended = false;
    socket.on("data", (chunk) => {
      this.#decoder.feed(chunk);
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.ended = true;
      this.#wake();
    });
  }

  /** The bytes of the next message, or null where the client has gone. */
  async readBody() {
    for (;;) {
      const body = this.#decoder.next();
      if (body !== null || this.ended) return body;
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  /** The next request, or null where the client has gone. */
  async read() {
    const body = await this.readBody();
    return body === null ? null : decode(body);
  }

  /** Reads a hello and answers it. */
  async greet(reply = HELLO) {
    const request = await this.read();
    this.write(reply);
    return request;
  }

  write(...replies) {
    this.writeBytes(Buffer.concat(replies.map((reply) => encodeFrame(encode(reply)))));
  }

  writeBytes(bytes) {
    this.#socket.write(bytes);
  }

  close() {
    this.#socket.end();
  }

  /** Closes without a last reply. */
  reset() {
    this.#socket.resetAndDestroy();
  }
}

/** Serves one connection after the other with one script each; those beyond the last are closed at once. */
export async function serve(t, ...scripts) {
  const faults = [];
  const server = net.createServer((socket) => {
    const peer = new Peer(socket);
    const script = scripts.shift();
    if (script === undefined) return peer.close();
    Promise.resolve(script(peer)).catch((fault) => {
      faults.push(fault);
      peer.reset();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    if (faults.length > 0) throw faults[0];
  });
  return server.address().port;
}
