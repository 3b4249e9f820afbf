"""The calls that a bot may rely on: when it learns of its game, and when it is closed. The bots here exist for the
tests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import pytest
import trio
from chess import WHITE

from gm_arena.bot import Bot, Bots, Place
from gm_arena.bridge import Bridge, Server
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn, connect
from tests.arena.playing import PATIENCE, Witness, bridged, new_games, script
from tests.serving import Served

ME, OTHER = 78_001, 78_002


class Resigning(Bot):
    """A bot that resigns in its first turn, and records its calls."""

    def __init__(self, beginning: Callable[[Place], Awaitable[None]]) -> None:
        self._beginning = beginning
        self.calls: list[Any] = []

    async def begin(self, place: Place) -> None:
        self.calls.append(("begin", place.seat, place.opponent, dict(place.options)))
        await self._beginning(place)

    async def take_turn(self, turn: Turn) -> None:
        self.calls.append(("turn", turn.ply))
        await turn.resign()

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        self.calls.append(("end", state["termination"], (await history())["moves"]))

    async def aclose(self) -> None:
        self.calls.append("closed")


class ResigningBots(Bots):
    name = "resigning"
    variants = frozenset({"standard"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}

    def __init__(self, beginning: Callable[[Place], Awaitable[None]]) -> None:
        self._beginning = beginning
        self.started: list[Resigning] = []

    async def start(self, nursery: trio.Nursery) -> Bot:
        self.started.append(Resigning(self._beginning))
        return self.started[-1]


async def nothing(place: Place) -> None:
    """Do nothing at the beginning, as most bots do."""


async def test_no_clock_runs_while_a_bot_begins_its_game(daemon_process: Served) -> None:
    """The opponent has made contact, and White is to move: with a running clock, each request would take some of it."""
    clocks = []

    async def beginning(place: Place) -> None:
        async with await connect(port=daemon_process.port, player=OTHER) as client:
            for _ in range(30):
                clocks.append((await client.state(place.game_id, brief=True))["state"]["clock"])

    bots = ResigningBots(beginning)
    clock = {"initial": 1000, "increment": 1}
    await bridged(daemon_process.port, ME, bots, new_games(OTHER, colors=["white"], clock=clock))
    assert clocks == [{"white": 1000.0, "black": 1000.0}] * 30
    (bot,) = bots.started
    assert bot.calls == [("begin", "white", OTHER, {}), ("turn", 0), ("end", "resignation_white", []), "closed"]


async def test_open_game_begins_for_the_bot_when_a_player_has_joined(daemon_process: Served) -> None:
    bots = ResigningBots(nothing)

    async def plan(bridge: Any) -> None:
        await bridge.play_new(None, [WHITE], {"max_moves": 7})
        async with await connect(port=daemon_process.port, player=OTHER) as client:
            await client.join(bridge.games_in_hand[0])

    await bridged(daemon_process.port, ME, bots, plan)
    begin, *others = bots.started[0].calls
    assert begin[:3] == ("begin", "white", OTHER)
    assert begin[3]["max_moves"] == 7
    assert others == [("turn", 0), ("end", "resignation_white", []), "closed"]


async def test_invitation_that_is_withdrawn_as_the_bot_begins_is_no_failure_of_the_bot(daemon_process: Served) -> None:
    port, witness = daemon_process.port, Witness()
    async with await connect(port=port) as client:
        me, host = await client.register("seat-invited"), await client.register("seat-host")
    async with await connect(port=port, player=host["player"], key=host["key"]) as inviting:

        async def beginning(place: Place) -> None:
            await inviting.decline(place.game_id)

        bots = ResigningBots(beginning)
        await inviting.new_game(host["player"], me["player"], brief=True)
        hello = {"player": me["player"], "key": me["key"]}
        with trio.fail_after(PATIENCE):
            bridge = Bridge(Server(port=port, hello=hello), bots, witness, at_once=1)
            await bridge.run(lambda bridge: bridge.play_all(1))
    (played,) = witness.played
    assert (played.failed, played.state["termination"]) == (False, "withdrawn")
    assert bots.started[0].calls[1:] == [("end", "withdrawn", []), "closed"]


async def test_bridge_that_is_drained_during_a_lookup_does_not_begin_the_game(
    daemon_process: Served,
) -> None:
    async with await connect(port=daemon_process.port) as client:
        game_id = (await client.new_game(ME + 30, OTHER))["game_id"]

    async def plan(bridge: Bridge) -> None:
        bridge.drain()
        await bridge.play_one(game_id)

    witness = await bridged(daemon_process.port, ME + 30, script("fen", "e2e4"), plan)
    assert witness.begun == []


async def test_bot_is_closed_even_if_it_never_played(daemon_process: Served) -> None:
    bots = ResigningBots(nothing)

    async def plan(bridge: Any) -> None:
        raise ValueError("there is nothing to play")

    with pytest.raises(ValueError, match="there is nothing to play"):
        await bridged(daemon_process.port, ME, bots, plan)
    assert bots.started[0].calls == ["closed"]


async def test_cancelling_leaves_the_games_and_closes_the_bots(daemon_process: Served) -> None:
    """It does so whatever they are doing."""
    begun = trio.Event()

    async def beginning(place: Place) -> None:
        begun.set()
        await trio.sleep_forever()

    bots = ResigningBots(beginning)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bridged, daemon_process.port, ME + 5, bots, new_games(OTHER, colors=["white"]))
        await begun.wait()
        nursery.cancel_scope.cancel()
    assert bots.started[0].calls[1:] == ["closed"]
    async with await connect(port=daemon_process.port) as client:
        assert [game["status"] for game in (await client.games(player=ME + 5))["games"]] == ["live"]
