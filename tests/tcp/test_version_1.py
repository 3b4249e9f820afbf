"""Version 1 sessions: one request of any kind, one reply, and the server closes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gm_protocol.framing import encode_frame
from gm_protocol.messages import FIRST_REGISTERED, REQUESTS
from gmd.daemon import Daemon
from tests.helpers import START_FEN, Json, connected, running_daemon

#: A request of every kind but hello, about two new games between 1 and 2: chess, and rbc.
ONE_OF_EACH: dict[str, Json] = {
    "ping": {},
    "new_game": {"player_white": 3, "player_black": 4},
    "game_from_pgn": {"player_white": 3, "player_black": 4, "pgn": "1. e4"},
    "move": {"player": 1, "game_id": 1, "move": "e4"},
    "sense": {"player": 1, "game_id": 2, "square": "e7"},
    "end_game": {"player": 2, "game_id": 1, "termination": "resignation_black"},
    "state": {"game_id": 1},
    "wait": {"player": 1, "game_id": 1},
    "actions": {"player": 1, "game_id": 1},
    "games": {},
    "history": {"game_id": 1},
    "register": {"name": "bot"},
    "leaderboard": {},
    "contest": {
        "token": "0123456789abcdef",
        "report": {"title": "a v b", "form": "match", "variant": "rbc", "players": [{"name": "a"}]},
    },
    "join": {"player": 1, "game_id": 1},
    "belief": {"player": 1, "game_id": 2},
}
#: Requests that this client may not make, or about a game that does not exist.
NOBODY: Json = {"player": FIRST_REGISTERED, "key": "x"}
REFUSED: dict[str, tuple[Json, str]] = {
    "rekey": (NOBODY, "unauthorized"),
    "revoke": ({"name": "bot"}, "unauthorized"),
    "players": ({}, "unauthorized"),
    "challenge": (NOBODY | {"opponent": "bot"}, "unauthorized"),
    "seek": (NOBODY, "unauthorized"),
    "invitations": (NOBODY, "unauthorized"),
    "settings": (NOBODY, "unauthorized"),
    "decline": (NOBODY, "unauthorized"),
    "accept": (NOBODY | {"game_id": 1}, "no_such_game"),
    "pair": ({"white": "bot", "black": "other"}, "unauthorized"),
}


async def one_shot(daemon: Daemon, request: Json, behind: bytes = b"") -> Json:
    """Return the only reply to a request on its own connection, which the server then closes."""
    async with connected(daemon, hello=False) as client:
        await client.send_bytes(encode_frame(json.dumps(request).encode()) + behind)
        reply = await client.receive()
        assert await client.closed()
        return reply


@pytest.mark.parametrize("kind", ONE_OF_EACH)
async def test_request_of_any_kind_gets_one_reply_and_the_server_closes(kind: str) -> None:
    async with running_daemon() as daemon:
        new_game = {"kind": "new_game", "player_white": 1, "player_black": 2}
        assert (await one_shot(daemon, new_game))["game_id"] == 1
        assert (await one_shot(daemon, {**new_game, "variant": "rbc"}))["game_id"] == 2
        reply = await one_shot(daemon, {"kind": kind, **ONE_OF_EACH[kind]})
        assert reply["error"] is None


@pytest.mark.parametrize("kind", REFUSED)
async def test_refused_request_gets_one_reply_and_the_server_closes(kind: str) -> None:
    async with running_daemon() as daemon:
        fields, code = REFUSED[kind]
        assert (await one_shot(daemon, {"kind": kind, **fields}))["code"] == code


def test_every_kind_of_request_was_tried() -> None:
    assert set(ONE_OF_EACH) | set(REFUSED) | {"hello"} == set(REQUESTS)


@pytest.mark.parametrize(
    "first",
    [
        b"nonsense",
        b"[]",
        b"{}",
        b'{"kind": "hallo"}',
        b'{"kind": "move"}',
        b'{"kind": "state", "game_id": 77}',
        b'{"kind": ["hello"]}',
    ],
)
async def test_refused_first_request_also_ends_the_session(first: bytes) -> None:
    async with running_daemon() as daemon, connected(daemon, hello=False) as client:
        await client.send_bytes(encode_frame(first))
        reply = await client.receive()
        assert reply["error"]
        assert await client.closed()


@pytest.mark.parametrize(
    "behind",
    [
        encode_frame(b'{"kind": "new_game", "player_white": 5, "player_black": 5}'),
        encode_frame(b'{"kind": "hello"}')
        + encode_frame(b'{"kind": "new_game", "player_white": 5, "player_black": 5}'),
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"\0\0",
    ],
    ids=["a request", "a hello", "a bad length", "an empty frame", "half a header"],
)
async def test_bytes_after_the_request_are_ignored(behind: bytes) -> None:
    async with running_daemon() as daemon:
        assert await one_shot(daemon, {"kind": "ping"}, behind) == {"error": None}
        assert (await one_shot(daemon, {"kind": "games"}))["games"] == []


@pytest.mark.parametrize(
    "unknown",
    [{"varaint": "crazyhouse"}, {"position": 5}, {"seed": 7}, {"key": "x", "": None}],
    ids=str,
)
async def test_unknown_and_inapplicable_fields_are_ignored(unknown: dict[str, Any]) -> None:
    async with running_daemon() as daemon:
        reply = await one_shot(daemon, {"kind": "new_game", "player_white": 1, "player_black": 2, **unknown})
        assert reply["error"] is None
        assert reply["options"]["variant"] == "standard"
        assert reply["state"]["fen"] == START_FEN


async def test_game_can_be_played_with_one_connection_for_each_move() -> None:
    async with running_daemon() as daemon:
        new = await one_shot(daemon, {"kind": "new_game", "player_white": 1, "player_black": 2})
        state: Json = new["state"]
        for ply, move in enumerate(["f3", "e5", "g4", "Qh4#"]):
            assert state["ply_index"] == ply
            request = {"kind": "move", "player": 1 + ply % 2, "game_id": new["game_id"], "move": move}
            reply = await one_shot(daemon, request)
            assert set(reply) == {"state", "error"}
            state = reply["state"]
        assert (state["termination"], state["pgn"]) == ("victory_black", "1.f3 e5 2.g4 Qh4#")


async def test_wait_is_answered_also_when_more_bytes_follow_it() -> None:
    async with running_daemon() as daemon, connected(daemon) as white, connected(daemon, hello=False) as black:
        await white.new_game()
        await black.send({"kind": "wait", "player": 2, "game_id": 1}, {"kind": "ping"})
        await white.play(1, "e4")
        assert (await black.receive())["state"]["turn"] == "black"
        assert await black.closed()
