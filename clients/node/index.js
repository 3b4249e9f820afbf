// A client of the gm protocol for Node. The types and the documentation are in index.d.ts.
export { Client, connect } from "./lib/client.js";
export { BadReply, ConnectionLost, GmError } from "./lib/errors.js";
export { FrameDecoder, MAX_REPLY, encodeFrame } from "./lib/frames.js";
export { decode, encode } from "./lib/json.js";
export { Turn } from "./lib/turns.js";
