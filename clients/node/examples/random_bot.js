#!/usr/bin/env node
// A bot that senses and moves at random, in reconnaissance blind chess or in any other variant the server plays.
//
//     node examples/random_bot.js --player 1 --opponent 2 --variant rbc     makes a game and plays White
//     node examples/random_bot.js --player 1 --opponent open                leaves Black to the first player who joins
//     node examples/random_bot.js --player 2 --game 1                       plays in a game, and joins it if necessary
//
// A registered player has an id or a name, and needs its key: --key KEY, --key @FILE, or the variable GM_KEY.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { BadReply, ConnectionLost, GmError, connect } from "../index.js";

process.on("uncaughtException", (error) => {
  const expected = [BadReply, ConnectionLost, GmError].some((type) => error instanceof type);
  console.error(expected ? `random_bot: ${error.message}` : error);
  process.exit(1);
});

const { values } = parseArgs({
  options: {
    server: { type: "string" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "7100" },
    tls: { type: "boolean", default: false },
    player: { type: "string" },
    key: { type: "string" },
    opponent: { type: "string" },
    game: { type: "string" },
    variant: { type: "string", default: "rbc" },
    seed: { type: "string" },
  },
});

if (values.player === undefined || (values.opponent === undefined) === (values.game === undefined)) {
  console.error("random_bot: give --player ID, and either --opponent ID or --game ID");
  process.exit(2);
}

const random = values.seed === undefined ? Math.random : seeded(Number(values.seed));
const pick = (list) => list[Math.floor(random() * list.length)] ?? null; // null: sense nothing, pass

const { server, host, port, tls } = values;
const client = await connect({ host: server ?? host, port: Number(port), tls, ...named(values.player), key: key(values.key) });
const game_id = values.game === undefined ? await newGame() : await joined(id(values.game));
console.log(`game ${game_id}`);

for await (const turn of client.turns({ game_id, brief: true })) {
  if (turn.sense_actions) await turn.sense(pick(turn.sense_actions));
  await turn.move(pick(turn.move_actions));
}

const { state } = await client.state({ game_id, brief: true });
console.log(`${state.result} ${state.termination}`);
client.close();

async function newGame() {
  const draws = values.variant === "rbc" ? undefined : "automatic"; // otherwise random moves would go on for long
  const opponent = values.opponent === "open" ? null : id(values.opponent);
  const players = { player_white: client.player, player_black: opponent };
  return (await client.new_game({ ...players, variant: values.variant, draws, brief: true })).game_id;
}

/** Joins the game if the bot has no seat in it yet. Returns the game. */
async function joined(game_id) {
  await client.join({ game_id, brief: true });
  return game_id;
}

function named(player) {
  return /^-?\d+$/.test(player) ? { player: id(player) } : { name: player };
}

/** A key, or the one in @FILE, which is safer: every program on the machine may read the arguments. */
function key(argument = process.env.GM_KEY || undefined) {
  return argument?.startsWith("@") ? readFileSync(argument.slice(1), "utf8").trim() : argument;
}

/** An id, which may be larger than a number can hold exactly. */
function id(text) {
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (Marsaglia's xorshift, 32 bits). */
function seeded(seed) {
  let x = (seed ^ 0x9e3779b9) | 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}
