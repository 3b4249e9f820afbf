"""The operator's authority belongs to a session, however the session was opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import structlog
import trio
import trio.testing
from trio.testing import MockClock

from gm_protocol.messages import FIRST_REGISTERED, NewGame
from gmd.event_log.batching import BatchingLog
from gmd.games.events import Created
from gmd.games.variants import make_game, resolve
from gmd.handlers.context import Authority
from gmd.tcp.listener import SessionServer
from tests.helpers import Client, memory_daemon, store_in

WHITE, BLACK = FIRST_REGISTERED, FIRST_REGISTERED + 1


class House(NamedTuple):
    """A daemon with game 1 of players 1 and 2, and game 2 of two registered players."""

    operator: Client
    client: Client


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    async with memory_daemon() as daemon, trio.open_nursery() as nursery:
        client = await daemon.connect()
        await client.new_game(1, 2, clock={"initial": 100})
        options = resolve(NewGame(player_white=WHITE, player_black=BLACK), {}, 0, strict=True)
        created = Created(WHITE, BLACK, options, "2026-11-21T00:00:00Z", None)
        daemon.arbiter.open(make_game(created), [created], None)
        server = SessionServer(daemon.services, authority=Authority.OPERATOR)
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(server.handle, theirs)
        operator = Client(ours)
        assert (await operator.ask("hello"))["error"] is None
        yield House(operator, client)
        nursery.cancel_scope.cancel()


async def test_end_by_the_operator_is_logged_once_when_it_is_durable(tmp_path: Path) -> None:
    end = {"kind": "end_game", "game_id": 1, "termination": "resignation_black", "ply": 0}
    with structlog.testing.capture_logs() as logged, store_in(tmp_path) as store:
        log = BatchingLog(store)
        async with memory_daemon(log) as daemon, trio.open_nursery() as nursery:
            await (await daemon.connect()).new_game(1, 2)
            ours, theirs = trio.testing.memory_stream_pair()
            server = SessionServer(daemon.services, authority=Authority.OPERATOR)
            nursery.start_soon(server.handle, theirs)
            operator = Client(ours)
            assert (await operator.ask("hello"))["error"] is None
            store.fault = OSError("no space left on device")
            assert (await operator.ask(**end))["code"] == "internal"
            store.fault = None
            with store.held():
                await operator.send(end)
                await trio.testing.wait_all_tasks_blocked()
                assert ends(logged) == 0, "it is not durable"
            assert (await operator.receive())["error"] is None
            assert (await operator.ask(**end))["error"] is None
            assert (await operator.ask(**end, player=2))["error"] is None
            nursery.cancel_scope.cancel()
    assert ends(logged) == 1


def ends(logged: Sequence[MutableMapping[str, Any]]) -> int:
    return [entry["event"] for entry in logged].count("ended by the operator")


@pytest.mark.parametrize("game_id", [1, 2], ids=["open players", "registered players"])
@pytest.mark.parametrize("color", ["white", "black"])
async def test_operator_ends_any_game_for_either_seat(game_id: int, color: str) -> None:
    termination = f"resignation_{color}"
    with structlog.testing.capture_logs() as logged:
        async with house() as (operator, client):
            reply = await operator.ask("end_game", game_id=game_id, termination=termination, brief=True)
            assert (reply["error"], reply["state"]["termination"]) == (None, termination)
            assert (await client.ask("state", game_id=game_id))["state"]["termination"] == termination
    assert [entry for entry in logged if entry["event"] != "session ended"] == [
        {"event": "ended by the operator", "log_level": "info", "game_id": game_id, "termination": termination}
    ]


async def test_other_sessions_cannot_end_games_without_a_player() -> None:
    async with house() as (_, client):
        reply = await client.ask("end_game", game_id=1, termination="resignation_white")
        assert reply["code"] == "bad_request"
        reply = await client.ask("end_game", game_id=2, termination="resignation_white", player=WHITE)
        assert reply["code"] == "unauthorized"


async def test_operator_is_bound_by_the_rules_of_ending() -> None:
    async with house() as (operator, client):
        fields = {"game_id": 1, "player": None}
        assert (await operator.ask("end_game", **fields, termination="taken_draw_white"))["code"] == "not_available"
        assert (await operator.ask("end_game", **fields, termination="draw_agreed")) == {
            "state": None,
            "code": "bad_request",
            "error": "seat: missing; 'draw_agreed' needs a seat or a player to act for",
        }
        await client.ask("move", game_id=1, player=1, move="e4", offer_draw=True)
        agreed = {"termination": "draw_agreed", "seat": "black", "ply": 1}
        assert (await operator.ask("end_game", **fields, **agreed))["state"]["result"] == "1/2-1/2"
        assert (await operator.ask("end_game", **fields, **agreed))["state"]["result"] == "1/2-1/2"  # a retry
        again = await operator.ask("end_game", **fields, termination="resignation_white")
        assert (again["code"], again["error"]) == ("game_over", "game 1 is over: draw_agreed")
        nowhere = await operator.ask("end_game", game_id=9, termination="resignation_white")
        assert nowhere["code"] == "no_such_game"


async def test_player_named_by_the_operator_must_hold_the_seat() -> None:
    async with house() as (operator, _):
        fields = {"game_id": 2, "termination": "resignation_white"}
        assert (await operator.ask("end_game", **fields, player=BLACK))["code"] == "not_a_player"
        assert (await operator.ask("end_game", **fields, player=7))["code"] == "not_a_player"
        assert (await operator.ask("end_game", **fields, player=WHITE))["error"] is None


async def test_operator_acts_for_a_registered_player_without_its_key() -> None:
    async with house() as (operator, client):
        for kind, fields in {"state": {}, "actions": {}, "move": {"move": "e4"}, "wait": {"timeout": 0}}.items():
            request = {"kind": kind, "game_id": 2, "player": WHITE, **fields}
            assert (await client.ask(**request))["code"] == "unauthorized"
            assert (await operator.ask(**request))["error"] is None
        assert (await client.ask("hello", player=WHITE))["code"] == "unauthorized"
        assert (await operator.ask("hello", player=WHITE))["player"] == WHITE


async def test_request_by_the_operator_is_no_first_contact_of_a_player(autojump_clock: MockClock) -> None:
    """Otherwise a look of the operator, or a failed attempt to end a game, would start the game's clocks."""
    async with house() as (operator, client):
        await operator.ask("state", game_id=1)
        await operator.ask("end_game", game_id=1, termination="taken_draw_white")
        await client.ask("state", game_id=1, player=2)
        await trio.sleep(10)
        state = (await operator.ask("state", game_id=1))["state"]
        assert state["clock"] == {"white": 100.0, "black": 100.0}
