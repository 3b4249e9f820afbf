"""Whoever has not a player's key is not that player, and learns nothing by trying.

Keys that are wrong, missing, cut short, another's, of old and of revoked players, in sessions of either version: no
attempt succeeds, no two of them get other replies, and all cost the same work, which is counted rather than timed.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from gm_protocol.framing import encode_frame
from gmd.players import keys
from gmd.players.account import FIRST_PLAYER
from gmd.players.passwords import Passwords
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon
from tests.helpers_proof import proof_size

PASSWORD = "correct horse"
NAMES = ("alice", "bob", "carol", "dave", "erin")
#: Alice and Bob play game 1; Carol has no seat; Dave, who is revoked, plays game 2 against Erin, who has a second key.
ALICE, BOB, CAROL, DAVE, ERIN = range(FIRST_PLAYER, FIRST_PLAYER + len(NAMES))
NOBODY = 2**53 - 1
TARGETS = (ALICE, BOB, CAROL, DAVE, ERIN, NOBODY)

#: What may be asked as a player, by kind; each would succeed, or fail for another reason, if the key were right.
REQUESTS: dict[str, Json] = {
    "move": {"game_id": 1, "move": "e4"},
    "end_game": {"game_id": 1, "termination": "resignation_white"},
    "state": {"game_id": 1},
    "wait": {"game_id": 2, "timeout": 0},
    "wait any": {"any": True, "timeout": 0},
    "wait games": {"game_ids": [1, 2], "timeout": 0},
    "actions": {"game_id": 2},
    "history": {"game_id": 1},
    "join": {"game_id": 3},
    "new_game": {"player_white": ALICE, "player_black": 5},
    "game_from_pgn": {"player_white": 5, "player_black": ALICE, "pgn": "1. e4"},
    "rekey": {},
    "rekey again": {"token": "t"},
    "hello": {},
    "nowhere": {"kind": "move", "game_id": 9, "move": "e4"},
}
#: Digests that each attempt takes: of the key, and for rekey also what a repeated one needs.
WORK = defaultdict(lambda: 1, {"rekey": 3, "rekey again": 3, "nowhere": 0})


class Counted:
    """A function that says how often it was called."""

    def __init__(self, function: Callable[[str], bytes]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, text: str) -> bytes:
        self.calls += 1
        return self._function(text)


class House(NamedTuple):
    daemon: MemoryDaemon
    digest: Counted
    #: Every key there is or has been, by its player.
    keys: dict[int, list[str]]


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    async with memory_daemon(max_failures_per_minute=10**9) as daemon:
        daemon.gate.passwords = Passwords(passes=1, memory_kib=64)
        client = await daemon.connect()
        found: dict[int, list[str]] = {NOBODY: []}
        for name in NAMES:
            reply = await client.ask("register", name=name, password=PASSWORD)
            found[reply["player"]] = [reply["key"]]
        for game_id, (white, black) in enumerate([(ALICE, BOB), (DAVE, ERIN)], 1):
            await client.new_game(white, black, player=white, key=found[white][0])
            await client.ask("join", game_id=game_id, player=black, key=found[black][0])
        await client.new_game(None, None)
        found[ERIN].append((await client.ask("rekey", player=ERIN, key=found[ERIN][0], token="r"))["key"])
        await daemon.gate.registry.revoke(DAVE)
        await client.aclose()
        digest = daemon.gate._digest = Counted(keys.digest)
        yield House(daemon, digest, found)


def bad_keys(target: int, known: dict[int, list[str]]) -> list[Json]:
    """Fields with which nobody may act as a player."""
    others = [key for player, each in known.items() if player != target for key in each]
    void = known[target] if target == DAVE else known[target][:-1]
    current = [] if target == DAVE else known[target][-1:]
    spoilt = [
        bad for key in current for bad in (key[:-1], key[1:], key + "A", key.swapcase(), f" {key}", key[::-1], key[:22])
    ]
    texts = [*others, *void, *spoilt, "", "x", "A" * 43, "\0", PASSWORD, "\U0001f511", "k" * 256]
    return [{}, {"key": None}, *({"key": text} for text in texts)]


async def begin(daemon: MemoryDaemon, version: str, known: dict[int, list[str]], target: int) -> Client:
    """A connection of an impostor's, who may be a player, but another one."""
    client = await daemon.connect(hello=version != "1")
    if version == "2, somebody":
        other = CAROL if target != CAROL else ALICE
        assert (await client.ask("hello", player=other, key=known[other][-1]))["error"] is None
    return client


async def attempt(client: Client, kind: str, target: int, fields: Json) -> bytes:
    """The reply to an attempt, byte for byte."""
    request: Json = {"kind": kind.split()[0], **REQUESTS[kind], "player": target, **fields}
    await client.send(request)
    body = await client.receive_body()
    assert body is not None
    return body


def expected(kind: str, target: int) -> bytes:
    """The reply to every attempt of a kind."""
    words = f"player: {target} is a registered player's id, and acts with its key alone"
    code = "unauthorized"
    if kind == "nowhere":
        code, words = "no_such_game", "game_id: there is no game 9"
    state = '"state":null,' if kind in ("move", "end_game", "nowhere", "new_game", "game_from_pgn") else ""
    game_id = '"game_id":null,' if kind in ("new_game", "game_from_pgn") else ""
    return f'{{{game_id}{state}"code":"{code}","error":"{words}"}}'.encode()


async def everything(daemon: MemoryDaemon) -> list[Any]:
    """All that impostors must not change."""
    client = await daemon.connect()
    states = [await client.ask("state", game_id=game_id) for game_id in (1, 2, 3)]
    rows = await client.ask("games")
    await client.aclose()
    registry = daemon.gate.registry
    accounts = [registry.get(player) for player in TARGETS]
    return [states, rows, [account and (account.key, account.password) for account in accounts]]


@pytest.mark.proof
async def test_no_attempt_to_act_in_anothers_place_succeeds_or_is_told_apart_from_another() -> None:
    rng = random.Random(5)
    async with house() as (daemon, digest, known):
        before = await everything(daemon)
        for _ in range(proof_size(600, 10_000)):
            kind, target = rng.choice(list(REQUESTS)), rng.choice(TARGETS)
            version = rng.choice(["1", "2", "2, somebody"])
            if kind == "hello" and version == "1":
                version = "2"
            client = await begin(daemon, version, known, target)
            digest.calls = 0
            fields = rng.choice(bad_keys(target, known))
            assert await attempt(client, kind, target, fields) == expected(kind, target), (kind, target, fields)
            assert digest.calls == WORK[kind], (kind, target, fields)
            await client.aclose()
        assert await everything(daemon) == before


@pytest.mark.parametrize("kind", ["hello by key", "hello by password"])
async def test_nor_is_one_by_name(kind: str) -> None:
    async with house() as (daemon, digest, known):
        before = await everything(daemon)
        client = await daemon.connect()
        for name, target in (*zip(NAMES, TARGETS, strict=False), ("nobody", NOBODY)):
            words = f"name: '{name}' acts with its key or its password alone"
            refused = f'{{"code":"unauthorized","error":"{words}"}}'.encode()
            tries = bad_keys(target, known)
            if kind == "hello by password":
                texts = ["", "correct hors", "correct horse ", "CORRECT HORSE", *known[target]]
                tries = [{"password": text} for text in texts + [PASSWORD] * (target in (DAVE, NOBODY))]
            for fields in tries:
                digest.calls, verified = 0, daemon.gate.passwords.verified
                await client.send({"kind": "hello", "name": name, **fields})
                assert await client.receive_body() == refused, (name, fields)
                work = (digest.calls, daemon.gate.passwords.verified - verified)
                assert work == ((1, 0) if kind == "hello by key" else (0, 1))
        await client.aclose()
        assert await everything(daemon) == before


async def test_the_right_key_does_act() -> None:
    """Or the tests above would prove nothing."""
    async with house() as (daemon, _, known):
        for version in ("1", "2"):
            for target in (ALICE, BOB, CAROL, ERIN):
                client = await begin(daemon, version, known, target)
                body = await attempt(client, "state", target, {"key": known[target][-1]})
                assert b'"error":null' in body
                await client.aclose()
        client = await daemon.connect()
        for name, target in zip(NAMES, TARGETS, strict=False):
            if target != DAVE:
                reply = await client.ask("hello", name=name, password=PASSWORD)
                assert (reply["error"], reply["player"]) == (None, target)


async def test_attempts_pipelined_behind_a_refused_hello_are_refused_too() -> None:
    async with house() as (daemon, _, known):
        client = await daemon.connect(hello=False)
        lines = [
            b'{"kind":"hello","player":%d,"key":"%s"}' % (ALICE, known[ALICE][0].encode()),
            b'{"kind":"hello","player":%d,"key":"x"}' % BOB,
            b'{"kind":"move","game_id":1,"move":"e4"}',
            b'{"kind":"move","game_id":1,"move":"e4","player":%d}' % ALICE,
            b'{"kind":"hello","player":"x"}',
            b'{"kind":"move","game_id":1,"move":"e4","player":%d}' % ALICE,
        ]
        await client.send_bytes(b"".join(map(encode_frame, lines)))
        codes = [(await client.receive()).get("code") for _ in lines]
        assert codes == [None, "unauthorized", "bad_request", "unauthorized", "bad_request", "unauthorized"]
