import assert from "node:assert/strict";
import { test } from "node:test";

import { BadReply, FrameDecoder, encodeFrame } from "../index.js";

const bodies = (decoder) => {
  const found = [];
  for (let body; (body = decoder.next()) !== null; ) found.push(body.toString());
  return found;
};

test("a frame is four bytes of length and then the message", () => {
  assert.deepEqual([...encodeFrame(Buffer.from("{}"))], [0, 0, 0, 2, 0x7b, 0x7d]);
});

test("frames cut anywhere come out whole and in order", () => {
  const messages = ["a", "bc".repeat(300), "{}"];
  const stream = Buffer.concat(messages.map((message) => encodeFrame(Buffer.from(message))));
  for (const size of [1, 2, 3, 5, 7, stream.length]) {
    const decoder = new FrameDecoder();
    const found = [];
    for (let start = 0; start < stream.length; start += size) {
      decoder.feed(stream.subarray(start, start + size));
      found.push(...bodies(decoder));
    }
    assert.deepEqual(found, messages);
    assert.equal(decoder.pending, 0);
  }
});

test("what is not yet a message is pending, header included", () => {
  const decoder = new FrameDecoder();
  decoder.feed(Buffer.from([0, 0]));
  assert.equal(decoder.next(), null);
  assert.equal(decoder.pending, 2);
  decoder.feed(Buffer.from([0, 3, 1]));
  assert.equal(decoder.next(), null);
  assert.equal(decoder.pending, 5);
});

for (const [name, header] of [
  ["0", [0, 0, 0, 0]],
  ["-1", [255, 255, 255, 255]],
  ["11", [0, 0, 0, 11]],
  ["1213486160", [...Buffer.from("HTTP")]],
]) {
  test(`a length of ${name} is refused by its header, whenever it is asked`, () => {
    const decoder = new FrameDecoder(10);
    decoder.feed(Buffer.concat([encodeFrame(Buffer.from("fine")), Buffer.from(header)]));
    assert.equal(decoder.next().toString(), "fine");
    assert.throws(() => decoder.next(), BadReply);
  });
}

test("the longest message that is allowed is taken", () => {
  const decoder = new FrameDecoder(10);
  decoder.feed(encodeFrame(Buffer.alloc(10, "x")));
  assert.equal(decoder.next().length, 10);
});
