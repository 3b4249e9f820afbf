import { randomUUID } from "node:crypto";

import { BadReply } from "./errors.js";

// Ids are 64-bit integers, and a number in JavaScript is exact up to 2**53 - 1 only. Integers beyond that are BigInts,
// in requests and in replies; everything else is what JSON makes of it.

/** Sixteen digits in a row are the fewest that a number may not hold exactly. */
const MAYBE_LARGE = /\d{16}/;

/** A string or a number; strings are matched so that digits in them are passed over. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const INTEGER = /^-?\d+$/;

/** What a BigInt is for JSON.parse: a string that begins with what nobody can have sent. */
const MARK = randomUUID();

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The JSON of a request, in UTF-8, its members in their order; those that are undefined are left out. */
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

/** The JSON object that a message holds. Throws BadReply where it holds none. */
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
