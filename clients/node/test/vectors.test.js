// The vectors of the protocol: both ways, and by a server that knows nothing but them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { FrameDecoder, connect, decode, encode, encodeFrame } from "../index.js";
import { serve } from "../test-support/scripted_server.js";

const folder = new URL("../../../protocol/vectors/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));

// decode, since JSON.parse would round large integers.
const read = (name) => decode(Buffer.from(`{"all":${readFileSync(new URL(name, folder))}}`)).all;
const vectors = files.flatMap((name) => read(name).map((vector) => ({ ...vector, name: `${name}: ${vector.name}` })));
const exchanges = vectors.flatMap(({ name, exchanges }) => exchanges.map((exchange) => ({ name, ...exchange })));
const hex = (text) => Buffer.from(text, "hex");
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function unframe(bytes, size = bytes.length) {
  const decoder = new FrameDecoder();
  const bodies = [];
  for (let start = 0; start < bytes.length; start += size) {
    decoder.feed(bytes.subarray(start, start + size));
    for (let body; (body = decoder.next()) !== null; ) bodies.push(body);
  }
  assert.equal(bodies.length, 1);
  assert.equal(decoder.pending, 0);
  return bodies[0];
}

test("there are vectors", () => {
  assert.ok(exchanges.length > 100);
});

test("requests encode to their frames", () => {
  let compared = 0;
  for (const { name, request, send, plain = true } of exchanges) {
    if (!isObject(request)) continue;
    const frame = encodeFrame(encode(request));
    // Not all is written in the plainest way, and 1.0 is 1 here: what counts then is what it means.
    if (plain && frame.equals(hex(send))) compared++;
    assert.deepEqual(decode(unframe(frame)), decode(unframe(hex(send))), name);
  }
  assert.ok(compared > 100);
});

test("replies decode to their JSON, whole and byte by byte", () => {
  for (const { name, reply, receive } of exchanges) {
    assert.deepEqual(decode(unframe(hex(receive))), reply, name);
    assert.deepEqual(decode(unframe(hex(receive), 1)), reply, name);
  }
});

/** Kinds that a client gives a token. */
const MAKES_TOKENS = new Set(["new_game", "game_from_pgn", "challenge", "seek", "pair", "register", "rekey"]);

/** A request as a client's caller would make it: others cannot be made with it. */
const isRequest = ({ request }) => isObject(request) && typeof request.kind === "string";

for (const { name, exchanges } of vectors) {
  const asked = exchanges.filter(isRequest);
  if (asked.length === 0) continue;
  test(`a client asks and is answered: ${name}`, async (t) => {
    const port = await serve(t, async (peer) => {
      await peer.greet();
      for (const { request, receive } of asked) {
        const { token, ...received } = await peer.read();
        assert.deepEqual(received, without(request, "token"));
        if (request.token !== undefined) assert.equal(token, request.token);
        else assert.equal(typeof token, MAKES_TOKENS.has(request.kind) ? "string" : "undefined");
        peer.writeBytes(hex(receive));
      }
    });
    const client = await connect({ port, patience: 2 });
    t.after(() => client.close());
    for (const { request, reply } of asked) {
      const { kind, ...fields } = request;
      const answer = client.request(kind, fields);
      if (reply.error === null) assert.deepEqual(await answer, reply);
      else await assert.rejects(answer, { name: "GmError", code: reply.code, message: reply.error, reply, kind });
    }
  });
}

function without(fields, name) {
  const { [name]: _, ...others } = fields;
  return others;
}
