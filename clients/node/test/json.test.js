import assert from "node:assert/strict";
import { test } from "node:test";

import { BadReply, decode, encode } from "../index.js";

const json = (request) => encode(request).toString();
const value = (text) => decode(Buffer.from(text)).v;

test("members keep their order, and those that are undefined are left out", () => {
  const request = { kind: "move", move: null, ply: undefined, id: "é\n" };
  assert.equal(json(request), '{"kind":"move","move":null,"id":"é\\n"}');
});

test("integers of 64 bits are BigInts both ways", () => {
  for (const digits of ["9223372036854775807", "-9223372036854775808", "9007199254740992", "-9007199254740992"]) {
    assert.equal(value(`{"v":${digits}}`), BigInt(digits));
    assert.equal(json({ v: BigInt(digits) }), `{"v":${digits}}`);
    assert.equal(json({ v: [{ w: BigInt(digits) }, 1] }), `{"v":[{"w":${digits}},1]}`);
  }
});

test("integers that a number holds exactly are numbers", () => {
  for (const number of [0, -1, 2 ** 52, 2 ** 53 - 1, 1 - 2 ** 53]) {
    assert.equal(value(`{"v":${number}}`), number);
    assert.equal(json({ v: BigInt(number) }), `{"v":${number}}`);
  }
});

test("digits elsewhere than in integers are left alone", () => {
  assert.equal(value('{"large":12345678901234567890,"v":"12345678901234567890"}'), "12345678901234567890");
  assert.equal(value('{"v":"say \\"12345678901234567890\\""}'), 'say "12345678901234567890"');
  assert.equal(value('{"large":12345678901234567890,"v":0.12345678901234567}'), 0.12345678901234567);
  assert.equal(value('{"large":12345678901234567890,"v":1234567890123456789e2}'), 1234567890123456789e2);
  assert.deepEqual(decode(Buffer.from('{"12345678901234567890":12345678901234567890}')), {
    "12345678901234567890": 12345678901234567890n,
  });
});

test("NUL bytes behind the object are ignored", () => {
  assert.deepEqual(decode(Buffer.from('{"v":1}\0\0')), { v: 1 });
});

for (const [name, body] of [
  ["no JSON", Buffer.from("{")],
  ["an array", Buffer.from("[1]")],
  ["null", Buffer.from("null")],
  ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
]) {
  test(`a reply that is ${name} is refused`, () => assert.throws(() => decode(body), BadReply));
}

for (const [name, bad] of [
  ["NaN", NaN],
  ["a function", () => 1],
]) {
  test(`${name} cannot be sent`, () => assert.throws(() => encode({ kind: "ping", bad }), TypeError));
}
