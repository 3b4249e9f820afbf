"""Only a player's key acts as that player, and a failed attempt reveals nothing.

The keys tried are wrong, missing, cut short, another player's, old, and revoked players', in sessions of either
version: no attempt succeeds, all get the same reply, and all cost the same work, which is counted rather than timed.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from gm_protocol.framing import encode_frame
from gmd.players import keys
from gmd.players.account import FIRST_PLAYER
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon
from tests.proofs import cases

PASSWORD = "correct horse"
NAMES = ("alice", "bob", "carol", "dave", "erin")
#: Alice and Bob play game 1, and game 4, which is blind; Dave, who is revoked, plays game 2 against Erin, who has a
#: second key; game 3 is open; Carol has no password and no seat, but is invited to game 5.
ALICE, BOB, CAROL, DAVE, ERIN = range(FIRST_PLAYER, FIRST_PLAYER + len(NAMES))
NOBODY = 2**53 - 1
TARGETS = (ALICE, BOB, CAROL, DAVE, ERIN, NOBODY)

#: Requests that a player may make, by kind; with the right key each would succeed, or fail for another reason.
ATTEMPTS: dict[str, Json] = {
    "move": {"game_id": 1, "move": "e4"},
    "move blindly": {"game_id": 4, "move": "e2e4"},
    "move in a seat": {"game_id": 1, "move": "e4", "seat": "white"},
    "move again": {"game_id": 1, "move": "e4", "ply": 0},
    "sense": {"game_id": 4, "square": "e7"},
    "sense nothing": {"game_id": 4, "square": None, "seat": "white"},
    "end_game": {"game_id": 1, "termination": "resignation_white"},
    "end_game of black's": {"game_id": 2, "termination": "resignation_black"},
    "state": {"game_id": 1},
    "state of hidden things": {"game_id": 4, "actions": True},
    "wait": {"game_id": 2, "timeout": 0},
    "wait any": {"any": True, "timeout": 0},
    "wait games": {"game_ids": [1, 2], "timeout": 0},
    "actions": {"game_id": 2},
    "belief": {"game_id": 4, "seat": "white"},
    "history": {"game_id": 1},
    "join": {"game_id": 3},
    "join where one is invited": {"game_id": 5, "seat": "black"},
    "new_game": {"player_white": ALICE, "player_black": 5},
    "game_from_pgn": {"player_white": 5, "player_black": ALICE, "pgn": "1. e4"},
    "challenge": {"opponent": "erin"},
    "challenge again": {"opponent": "erin", "token": "t"},
    "seek": {"variant": "rbc"},
    "invitations": {},
    "accept": {"game_id": 5},
    "decline": {"game_id": 5},
    "decline to be found": {},
    "settings": {"max_games": 0},
    "rekey": {},
    "rekey again": {"token": "t"},
    "hello": {},
    "nowhere": {"kind": "move", "game_id": 9, "move": "e4"},
    "revoke": {},
    "players": {},
    "pair": {"white": "alice", "black": "bob"},
    "rekey by name": {"name": "alice"},
}
#: Digests that each attempt computes: one of the key, and for rekey also those of a repeated request. Operator's
#: requests, and requests for a missing game, are refused whoever asks.
WORK = defaultdict(
    lambda: 1, {"rekey": 3, "rekey again": 3, "nowhere": 0, "revoke": 0, "players": 0, "pair": 0, "rekey by name": 0}
)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[[str], bytes]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, text: str) -> bytes:
        self.calls += 1
        return self._function(text)


class House(NamedTuple):
    daemon: MemoryDaemon
    digest: Counted
    #: Every current or former key, by its player.
    keys: dict[int, list[str]]
    #: A session that Erin began with her first key.
    stale: Client


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    async with memory_daemon(max_failures_per_minute=10**9) as daemon:
        client = await daemon.connect()
        found: dict[int, list[str]] = {NOBODY: []}
        for name in NAMES:
            reply = await client.ask("register", name=name, **({} if name == "carol" else {"password": PASSWORD}))
            found[reply["player"]] = [reply["key"]]
        for game_id, (white, black) in enumerate([(ALICE, BOB), (DAVE, ERIN)], 1):
            await client.new_game(white, black, player=white, key=found[white][0])
            await client.ask("join", game_id=game_id, player=black, key=found[black][0])
        await client.new_game(None, None)
        await client.new_game(ALICE, BOB, variant="rbc", player=ALICE, key=found[ALICE][0])
        await client.ask("join", game_id=4, player=BOB, key=found[BOB][0])
        await client.new_game(6, CAROL)
        stale = await daemon.connect()
        assert (await stale.ask("hello", player=ERIN, key=found[ERIN][0]))["error"] is None
        found[ERIN].append((await client.ask("rekey", player=ERIN, key=found[ERIN][0], token="r"))["key"])
        await daemon.authenticator.registry.revoke(DAVE)
        await client.aclose()
        digest = daemon.authenticator._digest = Counted(keys.digest)
        yield House(daemon, digest, found, stale)
        await stale.aclose()


def bad_keys(target: int, known: dict[int, list[str]]) -> list[Json]:
    """Return fields with which nobody may act as a player."""
    others = [key for player, each in known.items() if player != target for key in each]
    void = known[target] if target == DAVE else known[target][:-1]
    current = [] if target == DAVE else known[target][-1:]
    spoilt = [
        bad for key in current for bad in (key[:-1], key[1:], key + "A", key.swapcase(), f" {key}", key[::-1], key[:22])
    ]
    texts = [*others, *void, *spoilt, "", "x", "A" * 43, "\0", PASSWORD, "\U0001f511", "k" * 256]
    return [{}, {"key": None}, *({"key": text} for text in texts)]


async def begin(daemon: MemoryDaemon, version: str, known: dict[int, list[str]], target: int) -> Client:
    """Open a connection of an impostor, which may be logged in as another player."""
    client = await daemon.connect(hello=version != "1")
    if version == "2, somebody":
        other = CAROL if target != CAROL else ALICE
        assert (await client.ask("hello", player=other, key=known[other][-1]))["error"] is None
    return client


async def attempt(client: Client, kind: str, target: int, fields: Json) -> bytes:
    """Return the reply to an attempt, byte for byte."""
    request: Json = {"kind": kind.split()[0], **ATTEMPTS[kind], "player": target, **fields}
    await client.send(request)
    body = await client.receive_body()
    assert body is not None
    return body


def expected(kind: str, target: int, fields: Json) -> bytes:
    """Return the reply to every attempt of a kind, with a key or without."""
    words = f"player: {target} is a registered player's id; send the player's key with it"
    if fields.get("key"):
        words = f"player: the key does not belong to player {target}; check the key (GM_KEY, or --key @FILE)"
    code = "unauthorized"
    if kind == "nowhere":
        code, words = "no_such_game", "game_id: there is no game 9"
    elif kind in ("revoke", "players", "pair"):
        words = f"kind: {kind} is for the operator only, over the operator's socket"
    elif kind == "rekey by name":
        code, words = "bad_request", "name: only the operator rekeys by name; send player and key"
    stateful = ("move", "sense", "end_game", "nowhere", "new_game", "game_from_pgn")
    state = '"state":null,' if kind.split()[0] in stateful else ""
    game_id = '"game_id":null,' if kind in ("new_game", "game_from_pgn") else ""
    return f'{{{game_id}{state}"code":"{code}","error":"{words}"}}'.encode()


async def everything(daemon: MemoryDaemon, known: dict[int, list[str]]) -> list[Any]:
    """Return all that impostors must not change; of the blind game, what its players see."""
    client = await daemon.connect()
    states = [await client.ask("state", game_id=game_id) for game_id in (1, 2, 3, 5)]
    for player in (ALICE, BOB):
        shown = await client.ask("state", game_id=4, player=player, key=known[player][0])
        assert shown["state"].pop("clock")[("white", "black")[player == BOB]] > 800
        states.append(shown)
    rows = await client.ask("games")
    await client.aclose()
    registry = daemon.authenticator.registry
    accounts = [registry.get(player) for player in TARGETS]
    return [states, rows, [account and (account.key, account.password, account.max_games) for account in accounts]]


async def test_every_impostor_gets_the_same_refusal_at_the_same_cost() -> None:
    rng = random.Random(5)
    tried: Counter[tuple[str, str]] = Counter()
    async with house() as (daemon, digest, known, stale):
        before = await everything(daemon, known)
        for _ in range(cases(400)):
            kind, target = rng.choice(list(ATTEMPTS)), rng.choice(TARGETS)
            version = rng.choice(["1", "2", "2, somebody", *(["2, stale"] if target == ERIN else [])])
            if kind == "hello" and version in ("1", "2, stale"):  # it begins a new session, and ends another's
                version = "2"
            client = stale if version == "2, stale" else await begin(daemon, version, known, target)
            digest.calls = 0
            fields = rng.choice(bad_keys(target, known))
            case = (kind, version, target, fields)
            assert await attempt(client, kind, target, fields) == expected(kind, target, fields), case
            assert digest.calls == WORK[kind], case
            tried[kind, version] += 1
            if client is not stale:
                await client.aclose()
        assert await everything(daemon, known) == before
    assert {version for _, version in tried} == {"1", "2", "2, somebody", "2, stale"}
    assert {kind for kind, _ in tried} == set(ATTEMPTS)


def refused_by_name(name: str, fields: Json) -> bytes:
    """Return the reply to every such attempt by name."""
    if "password" in fields:
        words = f"password: wrong password for '{name}'; check both"
    elif fields.get("key"):
        words = f"name: the key does not belong to '{name}'; check the key (GM_KEY, or --key @FILE)"
    else:
        words = f"name: '{name}' needs its key or its password; give one (GM_KEY, or --key @FILE)"
    return f'{{"code":"unauthorized","error":"{words}"}}'.encode()


@pytest.mark.parametrize("kind", ["hello by key", "hello by password"])
async def test_every_login_by_name_with_wrong_credentials_gets_the_same_refusal(kind: str) -> None:
    async with house() as (daemon, digest, known, _):
        before = await everything(daemon, known)
        client = await daemon.connect()
        for name, target in (*zip(NAMES, TARGETS, strict=False), ("nobody", NOBODY)):
            tries = bad_keys(target, known)
            if kind == "hello by password":
                texts = ["", "correct hors", "correct horse ", "CORRECT HORSE", *known[target]]
                tries = [{"password": text} for text in texts + [PASSWORD] * (target in (CAROL, DAVE, NOBODY))]
            for fields in tries:
                digest.calls, verified = 0, daemon.authenticator.passwords.verified
                await client.send({"kind": "hello", "name": name, **fields})
                assert await client.receive_body() == refused_by_name(name, fields), (name, fields)
                work = (digest.calls, daemon.authenticator.passwords.verified - verified)
                assert work == ((1, 0) if kind == "hello by key" else (0, 1))
        await client.aclose()
        assert await everything(daemon, known) == before


async def test_right_key_is_accepted() -> None:
    """Prove that the tests above could fail."""
    async with house() as (daemon, _, known, _stale):
        for version in ("1", "2"):
            for target in (ALICE, BOB, CAROL, ERIN):
                client = await begin(daemon, version, known, target)
                body = await attempt(client, "state", target, {"key": known[target][-1]})
                assert b'"error":null' in body
                await client.aclose()
        client = await daemon.connect()
        for name, target in zip(NAMES, TARGETS, strict=False):
            if target not in (CAROL, DAVE):
                reply = await client.ask("hello", name=name, password=PASSWORD)
                assert (reply["error"], reply["player"]) == (None, target)


async def test_attempts_pipelined_behind_a_refused_hello_are_refused_too() -> None:
    async with house() as (daemon, _, known, _stale):
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


async def test_players_own_key_does_not_open_another_players_seat() -> None:
    async with house() as (daemon, _, known, _stale):
        before = await everything(daemon, known)
        for version in ("1", "2"):
            for player, kind, fields, code in [
                (ALICE, "move", {"game_id": 1, "move": "e4", "seat": "black"}, "not_a_player"),
                (BOB, "move", {"game_id": 1, "move": "e4"}, "not_your_turn"),
                (BOB, "move", {"game_id": 1, "move": "e4", "seat": "white"}, "not_a_player"),
                (BOB, "end_game", {"game_id": 1, "termination": "resignation_white"}, "not_a_player"),
                (BOB, "sense", {"game_id": 4, "square": "e2", "seat": "white"}, "not_a_player"),
                (BOB, "state", {"game_id": 4, "seat": "white"}, "not_a_player"),
                (BOB, "actions", {"game_id": 4, "seat": "white"}, "not_a_player"),
                (BOB, "wait", {"game_id": 4, "seat": "white", "timeout": 0}, "not_a_player"),
                (CAROL, "move", {"game_id": 1, "move": "e4"}, "not_a_player"),
                (CAROL, "end_game", {"game_id": 1, "termination": "resignation_white"}, "not_a_player"),
                (ALICE, "join", {"game_id": 5}, "not_available"),
                (ALICE, "join", {"game_id": 5, "seat": "black"}, "not_available"),
                (CAROL, "join", {"game_id": 1, "seat": "white"}, "not_available"),
            ]:
                client = await daemon.connect(hello=version != "1")
                reply = await client.ask(kind, player=player, key=known[player][-1], **fields)
                assert reply["code"] == code, (player, kind, fields, reply)
                await client.aclose()
        assert await everything(daemon, known) == before
