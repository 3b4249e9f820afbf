import { BadReply } from "./errors.js";

/** Bytes of the length before each message: network order, signed. */
const HEADER = 4;

/**
 * Longest reply taken unless told otherwise, in bytes. The longest game's history is some 10 MB; a server of another
 * protocol gives itself away by its first four bytes: "HTTP" would be a length of 1.2 GB.
 */
export const MAX_REPLY = 64 << 20;

/** A message with its header before it, to be sent in one write. */
export function encodeFrame(body) {
  const frame = Buffer.allocUnsafe(HEADER + body.length);
  frame.writeInt32BE(body.length);
  frame.set(body, HEADER);
  return frame;
}

/** Cuts a stream of bytes into messages. Holds what came as it came, and joins it once a message is whole. */
export class FrameDecoder {
  #limit;
  #chunks = [];
  #held = 0;
  #length = null; // of the message that has begun, once its header is here

  constructor(limit = MAX_REPLY) {
    this.#limit = limit;
  }

  /** Bytes that no message has been made of yet. */
  get pending() {
    return this.#held + (this.#length === null ? 0 : HEADER);
  }

  /** Adds bytes as they came from the network, cut anywhere. */
  feed(chunk) {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
  }

  /** The next whole message, or null while more bytes are needed. Throws BadReply at a length out of range. */
  next() {
    if (this.#length === null) {
      if (this.#held < HEADER) return null;
      this.#length = this.#checked(this.#take(HEADER));
    }
    if (this.#held < this.#length) return null;
    const body = this.#take(this.#length);
    this.#length = null;
    return body;
  }

  #checked(header) {
    const length = header.readInt32BE();
    if (length > 0 && length <= this.#limit) return length;
    const bytes = JSON.stringify(header.toString("latin1"));
    throw new BadReply(
      `a reply begins with ${bytes}, a length of ${length}, which is not between 1 and ${this.#limit}: ` +
        "is this a gm server, and is the connection without TLS, or with it, on both sides?",
    );
  }

  /** The first `size` of the bytes that are held, of which there are at least as many. */
  #take(size) {
    const joined = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const rest = joined.subarray(size);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#held -= size;
    return joined.subarray(0, size);
  }
}
