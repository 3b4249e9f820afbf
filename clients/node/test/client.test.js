// The client with servers that are slow, break off, restart, or are none.
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";

import { BadReply, Client, ConnectionLost, GmError, connect, encode, encodeFrame } from "../index.js";
import { addresses } from "../lib/connection.js";
import { HELLO, serve } from "../test-support/scripted_server.js";

const OK = { error: null };

async function connected(t, port, options = {}) {
  const client = await connect({ port, patience: 10, ...options });
  t.after(() => client.close());
  return client;
}

test("hello names the client and the player, and the reply is kept", async (t) => {
  const reply = { ...HELLO, player: 7 };
  const port = await serve(t, async (peer) => {
    const hello = { kind: "hello", protocol: 2, client: "mybot/1.0", player: 7, key: "k" };
    assert.deepEqual(await peer.greet(reply), hello);
  });
  const client = await connected(t, port, { client: "mybot/1.0", player: 7, key: "k" });
  const { server, protocol, kinds, limits, player } = client;
  assert.deepEqual({ server, protocol, kinds, limits, player, error: null }, reply);
});

test("every kind is a method", async (t) => {
  const kinds = [
    ...["ping", "new_game", "game_from_pgn", "move", "sense", "end_game", "state", "wait", "actions", "games"],
    ...["history", "register", "rekey", "join", "players", "revoke", "hello", "belief"],
  ];
  const port = await serve(t, async (peer) => {
    await peer.greet();
    for (const kind of kinds) {
      const { token, ...request } = await peer.read();
      assert.deepEqual(request, { kind, game_id: 3 });
      peer.write(HELLO);
    }
  });
  const client = await connected(t, port);
  for (const kind of kinds) assert.equal((await client[kind]({ game_id: 3 })).error, null);
});

test("requests go out without waiting, and replies go to them in order", async (t) => {
  const port = await serve(t, async (peer) => {
    await peer.greet();
    const ids = [];
    while (ids.length < 100) ids.push((await peer.read()).id);
    peer.write(...ids.map((id) => (id % 2 ? { ...OK, id } : { id, error: "no", code: "bad_request" })));
  });
  const client = await connected(t, port);
  const settled = await Promise.allSettled(Array.from({ length: 100 }, (_, id) => client.ping({ id })));
  settled.forEach(({ value, reason }, id) => assert.equal((value ?? reason.reply).id, id));
});

test("a reply cut into single bytes, and one of many megabytes, are read", async (t) => {
  const pgn = "1.e4 ".repeat(2_000_000);
  const port = await serve(t, async (peer) => {
    await peer.greet();
    await peer.read();
    for (const byte of encodeFrame(encode({ ...OK, id: "é" }))) {
      await new Promise(setImmediate);
      peer.writeBytes(Buffer.from([byte]));
    }
    await peer.read();
    peer.write({ ...OK, pgn });
  });
  const client = await connected(t, port);
  assert.deepEqual(await client.ping(), { ...OK, id: "é" });
  assert.equal((await client.history({ game_id: 1 })).pgn, pgn);
});

test("a refusal is an error with the server's code and words", async (t) => {
  const refusal = { state: null, code: "too_many", error: "slow down", retry_after: 1.5 };
  const port = await serve(t, async (peer) => {
    await peer.greet();
    await peer.read();
    peer.write(refusal);
    await peer.read();
    peer.write(OK);
  });
  const client = await connected(t, port);
  const error = await client.move({ game_id: 1, move: "e4" }).catch((error) => error);
  assert.ok(error instanceof GmError);
  const { name, message, code, kind, retry_after, reply } = error;
  assert.deepEqual({ name, message, code, kind, retry_after, reply }, {
    name: "GmError",
    message: "slow down",
    code: "too_many",
    kind: "move",
    retry_after: 1.5,
    reply: refusal,
  });
  assert.deepEqual(await client.ping(), OK);
});

test("a request longer than the server takes is refused before it is sent", async (t) => {
  const port = await serve(t, async (peer) => {
    await peer.greet({ ...HELLO, limits: { max_message: 100 } });
    assert.equal((await peer.read()).kind, "ping");
    peer.write(OK);
  });
  const client = await connected(t, port);
  const pgn = "1.e4 ".repeat(100);
  await assert.rejects(client.game_from_pgn({ player_white: 1, player_black: 2, pgn }), { code: "bad_frame" });
  assert.deepEqual(await client.ping(), OK);
});

test("what is safe to send again is sent again, in order, after any break", async (t) => {
  const requests = [
    ["state", { game_id: 1 }],
    ["move", { game_id: 1, move: "e4", ply: 0 }],
    ["sense", { game_id: 2, square: null, ply: 0n }],
    ["end_game", { game_id: 3, termination: "resignation_white", ply: 4 }],
    ["new_game", { player_white: 1, player_black: 2 }],
    ["game_from_pgn", { player_white: 1, player_black: 2, pgn: "", token: "mine" }],
    ["register", { name: "bot" }],
    ["rekey", {}],
    ["join", { game_id: 4 }],
    ["wait", { any: true }],
  ];
  const read = async (peer) => {
    assert.equal((await peer.greet()).player, 5);
    const found = [];
    for (const [kind] of requests) {
      found.push(await peer.read());
      assert.equal(found.at(-1).kind, kind);
    }
    return found;
  };
  let first;
  const port = await serve(
    t,
    async (peer) => {
      first = await read(peer);
      peer.writeBytes(encodeFrame(encode({ ...OK, id: 0 })).subarray(0, 9)); // cut inside the first reply
      peer.reset();
    },
    async (peer) => {
      assert.deepEqual(await read(peer), first);
      peer.write({ ...OK, id: 0 }, { ...OK, id: 1 });
      peer.close();
    },
    async (peer) => {
      await peer.greet();
      for (const request of first.slice(2)) assert.deepEqual(await peer.read(), request);
      peer.write(...first.slice(2).map((_, index) => ({ ...OK, id: index + 2 })));
    },
  );
  const client = await connected(t, port, { player: 5 });
  const replies = await Promise.all(requests.map(([kind, fields]) => client[kind](fields)));
  assert.deepEqual(replies.map(({ id }) => id), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(new Set([4, 6, 7].map((index) => first[index].token)).size, 3);
  assert.equal(first[5].token, "mine");
});

test("what could be carried out twice is not sent again, and what stands behind it is", async (t) => {
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet();
      for (const kind of ["move", "sense", "ping"]) assert.equal((await peer.read()).kind, kind);
      peer.reset();
    },
    async (peer) => {
      await peer.greet();
      assert.equal((await peer.read()).kind, "ping");
      peer.write(OK);
    },
  );
  const client = await connected(t, port);
  const [move, sense, ping] = await Promise.allSettled([
    client.move({ game_id: 1, move: "e4" }),
    client.sense({ game_id: 1, square: "e4" }),
    client.ping(),
  ]);
  for (const { reason } of [move, sense]) {
    assert.ok(reason instanceof ConnectionLost);
    assert.equal(reason.sent, true);
  }
  assert.match(move.reason.message, /it is not known whether this move was carried out; with "ply" the client would/);
  assert.deepEqual(ping.value, OK);
});

test("an idle connection that is lost is made anew with the next request", async (t) => {
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet();
      peer.close();
    },
    async (peer) => {
      await peer.greet();
      await peer.read();
      peer.write(OK);
    },
  );
  const client = await connected(t, port);
  assert.deepEqual(await client.ping(), OK);
});

test("a server that is stopping is tried again, and so is one that has too many connections", async (t) => {
  const turnAway = (code) => async (peer) => {
    await peer.read();
    peer.write({ error: "not now", code, retry_after: 0.01 });
    peer.close();
  };
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet();
      assert.equal((await peer.read()).kind, "move");
      peer.write({ error: "the server is stopping", code: "shutting_down" });
      peer.close();
    },
    turnAway("shutting_down"),
    turnAway("too_many"),
    (peer) => peer.reset(),
    async (peer) => {
      await peer.greet();
      assert.equal((await peer.read()).kind, "move"); // without a ply: it was not carried out
      peer.write(OK);
    },
  );
  const client = await connected(t, port);
  assert.deepEqual(await client.move({ game_id: 1, move: "e4" }), OK);
});

test("a request is sent again that a server without its database has refused", async (t) => {
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet();
      assert.equal((await peer.read()).ply, 0);
      peer.write({ error: "the database cannot be reached now", code: "internal", retry_after: 0 });
    },
    async (peer) => void (await peer.greet({ error: "not now", code: "internal", retry_after: 0 })),
    async (peer) => {
      await peer.greet();
      assert.equal((await peer.read()).ply, 0);
      peer.write(OK);
    },
  );
  const client = await connected(t, port);
  assert.deepEqual(await client.move({ game_id: 1, move: "e4", ply: 0 }), OK);
});

test("patience ends", async (t) => {
  const port = await serve(t, async (peer) => {
    await peer.greet();
    await peer.read();
    peer.reset();
  });
  const client = await connected(t, port, { patience: 0 });
  await assert.rejects(client.ping(), (error) => error instanceof ConnectionLost && !error.sent);
});

test("a request that the server cannot bear ends in an error", async (t) => {
  let died = 0;
  const dies = async (peer) => {
    await peer.greet();
    await peer.read();
    died++;
    peer.reset();
  };
  const port = await serve(t, ...Array(100).fill(dies));
  const client = await connected(t, port, { patience: 0.3 });
  await assert.rejects(client.ping(), ConnectionLost);
  assert.ok(died > 1 && died < 10, `${died} connections in 0.3 seconds`);
});

test("a hello that is refused later rejects what waits for it, with the server's word", async (t) => {
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet();
      peer.close();
    },
    async (peer) => {
      await peer.greet({ error: "the key was revoked", code: "unauthorized" });
    },
  );
  const client = await connected(t, port);
  await assert.rejects(client.ping(), { name: "GmError", code: "unauthorized", kind: "hello" });
});

test("connect says at once what is wrong", async (t) => {
  const refused = await serve(t, async (peer) => {
    await peer.greet({ error: "no such player", code: "unauthorized" });
  });
  await assert.rejects(connect({ port: refused }), { name: "GmError", code: "unauthorized" });

  const free = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = free.address();
  await new Promise((resolve) => free.close(resolve));
  await assert.rejects(connect({ port }), (error) => {
    assert.ok(error instanceof ConnectionLost);
    assert.match(error.message, new RegExp(`cannot connect to 127\\.0\\.0\\.1:${port}: .*ECONNREFUSED`));
    return true;
  });
});

for (const [name, bytes] of [
  ["a web server", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["one that sends no JSON", encodeFrame(Buffer.from("hello"))],
]) {
  test(`${name} is found out, when connecting and later`, async (t) => {
    const port = await serve(
      t,
      (peer) => peer.writeBytes(bytes),
      async (peer) => {
        await peer.greet();
        await peer.read();
        peer.writeBytes(bytes);
      },
    );
    await assert.rejects(connect({ port }), BadReply);
    const client = await connected(t, port);
    const both = await Promise.allSettled([client.ping(), client.ping()]);
    for (const { reason } of both) assert.ok(reason instanceof BadReply);
  });
}

test("a later hello is what the next connection begins with", async (t) => {
  const port = await serve(
    t,
    async (peer) => {
      assert.equal((await peer.greet()).player, 1);
      await peer.greet({ ...HELLO, player: 2 });
      peer.reset();
    },
    async (peer) => {
      assert.deepEqual(await peer.greet(), { kind: "hello", protocol: 2, client: "gm-client/0.3.0", player: 2 });
      await peer.read();
      peer.write(OK);
    },
  );
  const client = await connected(t, port, { player: 1, key: "one's" });
  assert.equal((await client.hello({ player: 2 })).player, 2);
  assert.equal(client.player, 2);
  assert.deepEqual(await client.ping(), OK);
});

const NO = { error: "that key is no good", code: "unauthorized" };

test("a rekey whose reply is lost is asked again with the old key, and all else waits for the new one", async (t) => {
  const hello = (key) => ({ kind: "hello", protocol: 2, client: "gm-client/0.3.0", player: 7, key });
  let token;
  const port = await serve(
    t,
    async (peer) => {
      assert.deepEqual(await peer.greet({ ...HELLO, player: 7 }), hello("old"));
      assert.equal((await peer.read()).kind, "state");
      ({ token } = await peer.read());
      assert.deepEqual(await peer.read(), { kind: "move", game_id: 1, move: "e4", ply: 0 });
      peer.reset();
    },
    async (peer) => {
      assert.deepEqual(await peer.greet(NO), hello("old"));
      assert.deepEqual(await peer.read(), { kind: "rekey", token, player: 7, key: "old" });
      peer.reset(); // lost again
    },
    async (peer) => {
      await peer.greet(NO);
      await peer.read();
      peer.write({ player: 7, name: "bot", key: "new", error: null });
      assert.equal(await peer.read(), null);
    },
    async (peer) => {
      assert.deepEqual(await peer.greet({ ...HELLO, player: 7 }), hello("new"));
      for (const kind of ["state", "move"]) {
        assert.equal((await peer.read()).kind, kind);
        peer.write({ ...OK, kind });
      }
    },
  );
  const client = await connected(t, port, { player: 7, key: "old" });
  const requests = [client.state({ game_id: 1 }), client.rekey(), client.move({ game_id: 1, move: "e4", ply: 0 })];
  const [state, rekey, move] = await Promise.all(requests);
  assert.deepEqual([state.kind, rekey.key, move.kind], ["state", "new", "move"]);
});

test("a rekey that is refused with the old key too is an error, and so is all that waits for it", async (t) => {
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet({ ...HELLO, player: 7 });
      await peer.read();
      peer.reset();
    },
    async (peer) => {
      await peer.greet(NO);
      await peer.read();
      peer.write({ error: "nor is it for that", code: "unauthorized" });
    },
  );
  const client = await connected(t, port, { player: 7, key: "old" });
  const [rekey, ping] = await Promise.allSettled([client.rekey(), client.ping()]);
  assert.deepEqual([rekey.reason.kind, rekey.reason.message], ["rekey", "nor is it for that"]);
  assert.deepEqual([ping.reason.kind, ping.reason.message], ["hello", "that key is no good"]);
});

test("a new key is what the next connection begins with, and nobody else's is", async (t) => {
  const greetings = [];
  const rekeyed = (player) => async (peer) => {
    greetings.push(await peer.greet({ ...HELLO, player: 7 }));
    assert.equal((await peer.read()).kind, "rekey");
    peer.write({ player, name: "bot", key: `new for ${player}`, error: null });
    peer.close();
  };
  const port = await serve(t, rekeyed(8), rekeyed(7), async (peer) => {
    greetings.push(await peer.greet({ ...HELLO, player: 7 }));
    await peer.read();
    peer.write(OK);
  });
  const client = await connected(t, port, { name: "bot", password: "a long secret" });
  await client.rekey({ player: 8, key: "old for 8" });
  await client.rekey();
  await client.ping();
  const own = { kind: "hello", protocol: 2, client: "gm-client/0.3.0", name: "bot" };
  const secret = { ...own, password: "a long secret" };
  assert.deepEqual(greetings, [secret, secret, { ...own, key: "new for 7" }]);
});

test("a loop of turns goes on with the new key where its own has been replaced", async (t) => {
  const hello = { ...HELLO, player: 7 };
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet(hello);
      assert.equal((await peer.read()).kind, "rekey");
      peer.write({ player: 7, name: "bot", key: "new", error: null });
    },
    async (peer) => {
      assert.equal((await peer.greet(hello)).key, "old");
      assert.equal((await peer.read()).kind, "wait");
      await client.rekey();
      peer.write(NO);
    },
    async (peer) => {
      assert.equal((await peer.greet(hello)).key, "new");
      assert.equal((await peer.read()).kind, "wait");
      peer.write({ state: { game_id: 1, phase: "over" }, move_actions: null, error: null });
    },
  );
  const client = await connected(t, port, { player: 7, key: "old" });
  for await (const turn of client.turns({ game_id: 1 })) assert.fail(turn);
});

test("the session that got the new key goes on, and what it is not authorised to do is an error", async (t) => {
  const port = await serve(t, async (peer) => {
    await peer.greet({ ...HELLO, player: 7 });
    await peer.read();
    peer.write({ player: 7, name: "bot", key: "new", error: null });
    await peer.read();
    peer.write(NO);
    await peer.read();
    peer.write(OK);
  });
  const client = await connected(t, port, { player: 7, key: "old" });
  await client.rekey();
  await assert.rejects(client.state({ game_id: 1, player: 8, key: "no idea" }), { code: "unauthorized", kind: "state" });
  assert.deepEqual(await client.ping(), OK);
});

test("a hello that is refused makes the session nobody's, and those that follow", async (t) => {
  const nobody = { kind: "hello", protocol: 2, client: "gm-client/0.3.0" };
  const port = await serve(
    t,
    async (peer) => {
      await peer.greet({ ...HELLO, player: 1 });
      await peer.greet(NO);
      peer.close();
    },
    async (peer) => {
      assert.deepEqual(await peer.greet(), nobody);
      await peer.read();
      peer.write(OK);
    },
  );
  const client = await connected(t, port, { player: 1 });
  await assert.rejects(client.hello({ player: 7, key: "wrong" }), { code: "unauthorized", kind: "hello" });
  assert.equal(client.player, null);
  assert.deepEqual(await client.ping(), OK);
});

test("a server that falls silent is left", async (t) => {
  const silent = async (peer) => {
    await peer.greet({ ...HELLO, limits: { max_wait_seconds: -29.9 } }); // and 30 more
    await peer.read();
  };
  const port = await serve(t, silent, async (peer) => {
    await peer.greet();
    await peer.read();
    peer.write(OK);
  });
  assert.deepEqual(await (await connected(t, port)).ping(), OK);
});

test("closing rejects what is under way, and what comes later", async (t) => {
  const port = await serve(t, async (peer) => {
    await peer.greet();
    assert.equal((await peer.read()).kind, "wait");
    client.close();
    assert.equal(await peer.read(), null);
  });
  const client = await connect({ port });
  await assert.rejects(client.wait({ game_id: 1 }), { name: "ConnectionLost", message: "the client was closed" });
  await assert.rejects(client.ping(), { name: "ConnectionLost", message: "the client was closed" });
  await assert.rejects(client.open(), { name: "ConnectionLost", message: "the client was closed" });
});

test("closing ends the attempts to connect", async (t) => {
  const port = await serve(t, async (peer) => peer.reset(), async (peer) => {
    client.close();
    peer.reset();
  });
  const client = new Client({ port });
  await assert.rejects(client.ping(), { name: "ConnectionLost", message: "the client was closed" });
});

const STOPPING = { error: "stopping", code: "shutting_down" };

const pings = async (peer) => {
  await peer.greet();
  assert.deepEqual(await peer.read(), { kind: "ping" });
  peer.write(OK);
};

/** A port on which nothing listens. */
async function closedPort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const at = (...ports) => ({ host: ports.map((port) => `127.0.0.1:${port}`).join(), port: 7100 });

test("servers are tried in turn, from the one that answered last", async (t) => {
  const tried = [];
  const noted = (name, script) => async (peer) => {
    tried.push(name);
    await script(peer);
  };
  const frozen = noted("frozen", async (peer) => assert.equal(await (await peer.read(), peer.read()), null));
  const stopping = noted("second", async (peer) => void (await peer.greet(STOPPING)));
  const stops = noted("third", async (peer) => {
    await peer.greet();
    await peer.read();
    peer.write(STOPPING);
  });
  const second = await serve(t, stopping);
  const third = await serve(t, stops, noted("third", pings));
  const client = await connect({ ...at(await closedPort(), await serve(t, frozen), second, third), patience: 10 });
  t.after(() => client.close());
  assert.deepEqual(await client.ping(), OK);
  assert.deepEqual(tried, ["frozen", "second", "third", "third"]);
});

test("a failure at every server is reported, a refusal before others", async (t) => {
  const closed = await closedPort();
  const lost = await connect(at(closed, closed)).catch((error) => error);
  assert.ok(lost instanceof ConnectionLost);
  assert.equal(lost.message.split("; ").length, 2);
  const full = await serve(t, async (peer) => void (await peer.greet({ error: "full", code: "too_many" })));
  await assert.rejects(connect(at(full, closed)), { name: "GmError", message: "full" });
  const refuses = await serve(t, async (peer) => void (await peer.greet({ error: "no", code: "unauthorized" })));
  const other = await serve(t, () => assert.fail("it was tried"));
  await assert.rejects(connect(at(refuses, other)), { name: "GmError", message: "no" });
});

test("a move without a ply is not repeated at another server", async (t) => {
  const first = await serve(t, async (peer) => {
    await peer.greet();
    await peer.read();
    peer.reset();
  });
  const client = await connected(t, undefined, at(first, await serve(t, pings)));
  await assert.rejects(client.move({ game_id: 1, move: "e4" }), { name: "ConnectionLost", sent: true });
  assert.deepEqual(await client.ping(), OK);
});

test("addresses are read, and a wrong one is named", () => {
  assert.deepEqual(addresses("a:7100,b,[::1]:7101,:9", 7), [
    { host: "a", port: 7100 },
    { host: "b", port: 7 },
    { host: "::1", port: 7101 },
    { host: "127.0.0.1", port: 9 },
  ]);
  assert.deepEqual(addresses("::1"), [{ host: "::1", port: 7100 }]);
  const wrong = { "a,,b": "", "a,b:x": "b:x", "a:0": "a:0", "a,b:65536": "b:65536", "a, b": " b", "::1,b": "::1" };
  for (const [text, item] of Object.entries(wrong)) {
    const message = `'${item}' is not HOST:PORT, with a port from 1 to 65535`;
    assert.throws(() => new Client({ host: text }), { name: "RangeError", message });
  }
});
