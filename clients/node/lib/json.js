import { randomUUID } from "node:crypto";

import { BadReply } from "./errors.js";

// Ids are 64-bit integers, but a number in JavaScript is exact only up to 2**53 - 1. Larger integers are BigInts, in
// requests and in replies; all other values are as JSON has them.

/** The fewest digits of an integer that a number may not hold exactly: sixteen. */
const MAYBE_LARGE = /\d{16}/;

/** A string or a number; strings are matched so that digits in them are skipped. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const INTEGER = /^-?\d+$/;

/** Marks a BigInt for JSON.parse: a string with a prefix that no sender can know. */
const MARK = randomUUID();

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The JSON of a request, in UTF-8, with its members in order; undefined members are left out. */
export function encode(request) {
  return Buffer.from(text(request));
}

function text(value) {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map((element) => text(element ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${text(member)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} cannot be sent as JSON`);
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`${String(value)} cannot be sent as JSON`);
  return json;
}

/** The JSON object in a message. Throws BadReply if there is none. */
export function decode(body) {
  let value;
  try {
    value = parse(utf8.decode(body).replace(/\0+$/, ""));
  } catch (cause) {
    throw new BadReply(`a reply is not JSON: ${cause.message}`, { cause });
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  throw new BadReply(`a reply is not a JSON object: ${body.subarray(0, 100)}`);
}

function parse(json) {
  if (!MAYBE_LARGE.test(json)) return JSON.parse(json);
  let found = false;
  const marked = json.replace(STRING_OR_NUMBER, (token) => {
    if (!INTEGER.test(token) || Number.isSafeInteger(Number(token))) return token;
    found = true;
    return `"${MARK}${token}"`;
  });
  return found ? JSON.parse(marked, revive) : JSON.parse(json);
}

function revive(_name, value) {
  return typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value;
}
