import { BadReply } from "./errors.js";

/** The size of the length before each message, in bytes: network order, signed. */
const HEADER = 4;

/**
 * The default size of the largest reply accepted, in bytes. The longest game's history is some 10 MB. A server of
 * another protocol is recognised by its first four bytes: "HTTP" would be a length of 1.2 GB.
 */
export const MAX_REPLY = 64 << 20;

/** A message with its header, to be sent in one write. */
export function encodeFrame(body) {
  const frame = Buffer.allocUnsafe(HEADER + body.length);
  frame.writeInt32BE(body.length);
  frame.set(body, HEADER);
  return frame;
}

/** Splits a stream of bytes into messages. Keeps the chunks as received, and joins them once a message is complete. */
export class FrameDecoder {
  #limit;
  #chunks = [];
  #held = 0;
  #length = null; // of the current message, once its header has arrived

  constructor(limit = MAX_REPLY) {
    this.#limit = limit;
  }

  /** The number of bytes that are not part of a message taken yet. */
  get pending() {
    return this.#held + (this.#length === null ? 0 : HEADER);
  }

  /** Adds received bytes, split anywhere. */
  feed(chunk) {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
  }

  /** The next complete message, or null while more bytes are needed. Throws BadReply if a length is out of range. */
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
        "is this a gm server, and do both sides use TLS, or neither?",
    );
  }

  /** Removes and returns the first `size` of the bytes held, of which there are at least as many. */
  #take(size) {
    const joined = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const rest = joined.subarray(size);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#held -= size;
    return joined.subarray(0, size);
  }
}
