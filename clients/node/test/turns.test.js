// The loop of turns with a server that plays what the tests say. The daemon's own games are in the project's tests.
import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../index.js";
import { HELLO, serve } from "../test-support/scripted_server.js";

const state = (ply_index, more = {}) => ({ game_id: 4, ply_index, turn: "white", phase: "move", ...more });
const due = (ply_index) => ({ state: state(ply_index), sense_actions: null, move_actions: ["e2e4"], error: null });
const idle = (ply_index) => ({ ...due(ply_index), move_actions: null });
const over = (ply_index) => ({ ...idle(ply_index), state: state(ply_index, { phase: "over", result: "0-1" }) });
const WAIT = { kind: "wait", game_id: 4, actions: true };

/** A client, and a server that reads what it is told and answers it, on the loop's own connection. */
async function looping(t, dialogue) {
  const main = async (peer) => {
    await peer.greet();
    await peer.read();
  };
  const loop = async (peer) => {
    assert.equal((await peer.greet()).player, 1);
    await dialogue(peer);
    assert.equal(await peer.read(), null); // the loop closes its connection
  };
  const client = await connect({ port: await serve(t, main, loop), player: 1, patience: 10 });
  t.after(() => client.close());
  return client;
}

async function expect(peer, ...requests) {
  for (const request of requests) assert.deepEqual(await peer.read(), request);
}

test("it waits until a turn is due, and waits for the next behind the move", async (t) => {
  const client = await looping(t, async (peer) => {
    for (const reply of [idle(0), idle(0), due(0)]) {
      await expect(peer, WAIT);
      peer.write(reply);
    }
    await expect(peer, { kind: "move", game_id: 4, move: "e2e4", ply: 0 }, WAIT);
    peer.write({ state: state(1), error: null }, due(2));
    const drawn = { offer_draw: true, claim_draw: true };
    await expect(peer, { kind: "move", game_id: 4, move: "d2d4", ...drawn, ply: 2 }, WAIT);
    peer.write({ state: state(3), error: null }, over(4));
  });
  const moves = [["e2e4"], ["d2d4", { offer_draw: true, claim_draw: true }]];
  const ends = [];
  for await (const turn of client.turns({ game_id: 4, over: (last) => ends.push(last) })) {
    assert.deepEqual([turn.game_id, turn.color, turn.move_actions], [4, "white", ["e2e4"]]);
    const { state: seen, requested_move, taken_move } = await turn.move(...moves[0]);
    assert.equal(seen, turn.state);
    assert.deepEqual([requested_move, taken_move], [moves.shift()[0], null]);
  }
  assert.deepEqual(ends, [over(4).state]);
});

test("a turn senses, then moves, at one ply", async (t) => {
  const sense_result = [["e7", "bp"]];
  const client = await looping(t, async (peer) => {
    const wait = { ...WAIT, seat: "white", brief: true };
    const seat = { game_id: 4, seat: "white", brief: true, ply: 6 };
    await expect(peer, wait);
    peer.write({ state: state(6, { phase: "sense" }), sense_actions: ["e7"], move_actions: ["e2e4"], error: null });
    await expect(peer, { kind: "sense", square: "e7", ...seat });
    peer.write({ sense_result, state: state(6), error: null });
    await expect(peer, { kind: "move", move: "e2e4", ...seat }, wait);
    const results = { requested_move: "e2e4", taken_move: "e2e3", capture_square: null };
    peer.write({ ...results, state: state(7), error: null }, over(8));
  });
  for await (const turn of client.turns({ game_id: 4, seat: "white", brief: true })) {
    assert.deepEqual(turn.sense_actions, ["e7"]);
    assert.deepEqual((await turn.sense("e7")).sense_result, sense_result);
    assert.equal(turn.sense_actions, null);
    assert.equal((await turn.move("e2e4")).taken_move, "e2e3");
  }
});

test("a game that ends while the bot thinks is no error", async (t) => {
  const gone = { state: null, code: "game_over", error: "game 4 is over: timeout_white" };
  const client = await looping(t, async (peer) => {
    await expect(peer, WAIT);
    peer.write({ ...due(0), sense_actions: ["e7"] });
    await expect(peer, { kind: "sense", game_id: 4, square: null, ply: 0 });
    peer.write(gone);
    await expect(peer, { kind: "state", game_id: 4 });
    peer.write(over(0));
    await expect(peer, { kind: "move", game_id: 4, move: "e2e4", ply: 0 }, WAIT);
    peer.write(gone, over(0));
    await expect(peer, { kind: "state", game_id: 4 });
    peer.write(over(0));
  });
  for await (const turn of client.turns({ game_id: 4 })) {
    assert.deepEqual((await turn.sense(null)).sense_result, []);
    assert.equal((await turn.move("e2e4")).state.result, "0-1");
  }
});

test("a refused move leaves the turn, and another can be made", async (t) => {
  const client = await looping(t, async (peer) => {
    await expect(peer, WAIT);
    peer.write(due(0));
    await expect(peer, { kind: "move", game_id: 4, move: "e2e5", ply: 0 }, WAIT);
    peer.write({ state: null, code: "illegal_move", error: "no" }, due(0));
    await expect(peer, { kind: "move", game_id: 4, move: "e2e4", ply: 0 }, WAIT);
    peer.write({ state: state(1), error: null }, over(2));
  });
  for await (const turn of client.turns({ game_id: 4 })) {
    await assert.rejects(turn.move("e2e5"), { code: "illegal_move" });
    await turn.move("e2e4");
  }
});

test("resigning names the color", async (t) => {
  const client = await looping(t, async (peer) => {
    await expect(peer, WAIT);
    peer.write(due(0));
    await expect(peer, { kind: "end_game", game_id: 4, termination: "resignation_white", ply: 0 });
    peer.write({ state: over(0).state, error: null });
    await expect(peer, WAIT);
    peer.write(over(0));
  });
  for await (const turn of client.turns({ game_id: 4 })) await turn.resign();
});

test("without a game it is all games, for ever", async (t) => {
  const wait = { kind: "wait", any: true, actions: true };
  const client = await looping(t, async (peer) => {
    await expect(peer, wait);
    peer.write({ state: null, sense_actions: null, move_actions: null, error: null }); // nothing by the timeout
    await expect(peer, wait);
    peer.write({ ...over(9), game_id: 4 });
    await expect(peer, wait);
    peer.write({ ...due(0), state: state(0, { game_id: 5 }), game_id: 5 });
    // The reply to the move shows the end; the wait behind it may show it again.
    await expect(peer, { kind: "move", game_id: 5, move: "e2e4", ply: 0 }, wait);
    const last = state(1, { game_id: 5, phase: "over" });
    peer.write({ state: last, error: null }, { ...over(1), state: last, game_id: 5 });
    await expect(peer, wait);
    peer.write({ ...due(2), game_id: 4 });
  });
  const ends = [];
  const games = [];
  for await (const turn of client.turns({ over: (last) => ends.push(last.ply_index) })) {
    games.push(turn.game_id);
    if (turn.game_id === 4) break;
    await turn.move("e2e4");
    assert.deepEqual(ends, [9, 1]);
  }
  assert.deepEqual(games, [5, 4]);
  assert.deepEqual(ends, [9, 1]);
});

const ALL = { kind: "wait", any: true, actions: true };
const invitation = (game_id) => ({ ...idle(0), state: state(0, { game_id, phase: "open" }) });

test("invitations are taken up, also when they are withdrawn meanwhile", async (t) => {
  const client = await looping(t, async (peer) => {
    await expect(peer, ALL);
    peer.write(invitation(4));
    await expect(peer, { kind: "join", game_id: 4 });
    peer.write({ seat: "white", state: state(0), error: null });
    await expect(peer, ALL);
    peer.write(invitation(5));
    await expect(peer, { kind: "join", game_id: 5 });
    peer.write({ error: "game 5 is over", code: "game_over" });
    await expect(peer, ALL);
    peer.write(due(0));
  });
  for await (const turn of client.turns()) {
    assert.equal(turn.game_id, 4);
    break;
  }
});

test("an unwanted invitation is left out of the waits that follow, and declined if a hundred stand", async (t) => {
  const others = Array.from({ length: 103 }, (_, index) => index + 10);
  const except = others.slice(0, 100);
  const key = "k";
  const client = await looping(t, async (peer) => {
    for (const [index, game_id] of except.entries()) {
      await expect(peer, { ...ALL, key, brief: true, ...(index > 0 && { except: except.slice(0, index) }) });
      peer.write(invitation(game_id));
    }
    const answers = [
      [110, { state: state(0, { game_id: 110, phase: "over", termination: "declined" }), error: null }],
      [111, { error: "game 111 is over: white_timeout", code: "game_over" }],
      [112, { error: "game 112 has begun and cannot be called off; resign instead", code: "not_available" }],
    ];
    for (const [game_id, answer] of answers) {
      await expect(peer, { ...ALL, key, brief: true, except });
      peer.write(invitation(game_id));
      await expect(peer, { kind: "decline", game_id, key });
      peer.write(answer);
    }
    await expect(peer, { ...ALL, key, brief: true, except });
    peer.write(due(0));
  });
  const asked = [];
  const invited = async ({ game_id }) => asked.push(game_id) > 1000;
  for await (const turn of client.turns({ invited, key, brief: true })) {
    assert.equal(turn.game_id, 4);
    break;
  }
  assert.deepEqual(asked, others);
});

test("a lost connection does not show", async (t) => {
  const main = async (peer) => {
    await peer.greet();
    await peer.read();
  };
  const move = { kind: "move", game_id: 4, move: "e2e4", ply: 0 };
  const port = await serve(
    t,
    main,
    async (peer) => {
      await peer.greet();
      await expect(peer, WAIT);
      peer.reset();
    },
    async (peer) => {
      await peer.greet();
      await expect(peer, WAIT);
      peer.write(due(0));
      await expect(peer, move, WAIT);
      peer.reset();
    },
    async (peer) => {
      await peer.greet({ ...HELLO });
      await expect(peer, move, WAIT);
      peer.write({ state: state(1), error: null }, over(2));
      assert.equal(await peer.read(), null);
    },
  );
  const client = await connect({ port, player: 1, patience: 10 });
  t.after(() => client.close());
  let turns = 0;
  for await (const turn of client.turns({ game_id: 4 })) {
    turns++;
    assert.equal((await turn.move("e2e4")).state.ply_index, 1);
  }
  assert.equal(turns, 1);
});

test("closing the client ends its loops", async (t) => {
  const client = await looping(t, async (peer) => {
    await expect(peer, WAIT);
    client.close();
  });
  const closed = { name: "ConnectionLost", message: "the client was closed" };
  await assert.rejects(client.turns({ game_id: 4 }).next(), closed);
  await assert.rejects(client.turns({ game_id: 4 }).next(), closed);
});
