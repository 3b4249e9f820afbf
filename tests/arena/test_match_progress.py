"""The progress that a match shows: a bar on a terminal, and elsewhere a line a minute."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar

import pytest
import trio
from trio.testing import MockClock

from gm_arena.bot import Bot, Bots, Place
from gm_arena.bridge import Server
from gm_arena.match.command import defaults
from gm_arena.match.game import Contestant
from gm_arena.match.in_progress import games_in_progress, spectator
from gm_arena.match.match import play_match
from gm_arena.match.settings import Entrant
from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn
from tests.arena.matches import AT_RANDOM, PATIENCE, SHORT, TWO, command, nuisance, run
from tests.cli.commands import logging_of_its_own
from tests.helpers import connected, running_daemon
from tests.terminal import plain, shown

pytestmark = pytest.mark.slow


def test_progress_bar_shows_the_score_after_every_game() -> None:
    """One of the two quits every game, so the other gains a point each time, and the bar is drawn again."""
    arguments = command(f"one={AT_RANDOM}", nuisance("die"), *SHORT, "--games", 8)
    said = plain(shown(arguments, patience=PATIENCE, COLUMNS="140", LINES="40"))
    scores = re.findall(r"one \+(\d) =(\d) -(\d)[^\r\n]*?(\d)/8", said)
    assert scores[-1] == ("8", "0", "0", "8")
    assert {int(played) for *_, played in scores} == set(range(9))
    assert all(won == played and (drawn, lost) == ("0", "0") for won, drawn, lost, played in scores)
    assert "game 1: one - die 1-0, crash" in said
    assert "0:00:0" in said, "the time that it has taken"


class Slow(Bot):
    """A bot that thinks for 17 s, and makes the first move of the list."""

    async def begin(self, place: Place) -> None:
        """Do nothing: the turns have all that it needs."""

    async def take_turn(self, turn: Turn) -> None:
        await trio.sleep(17)
        await turn.move(turn.move_actions[0])

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: there is nothing to keep."""

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


class SlowBots(Bots):
    name = "slow"
    variants = frozenset({"standard"})
    defaults: ClassVar[dict[str, Any]] = {"variant": "standard"}

    async def start(self, nursery: trio.Nursery) -> Bot:
        return Slow()


def test_line_each_minute_shows_the_games_in_progress_and_after_the_first_one_the_time_to_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of the three games takes 12 plies of 17 s, which is 3 min 24 s by the match's clock."""
    monkeypatch.setattr(trio, "run", partial(trio.run, clock=MockClock(autojump_threshold=0)))
    entrants = [Entrant(name, name, SlowBots()) for name in ("one", "two")]
    given = {**defaults(), "seed": 0, "games": 3, "max_moves": 6, "clock": {"initial": 600.0}}
    with logging_of_its_own():
        assert play_match(["one", "two"], entrants, "standard", given) == 0
    assert capsys.readouterr().err.splitlines() == [
        "after 60 s: 0 of 3 games; one - two at ply 3, clocks 9:26 and 9:34",
        "after 2 min: 0 of 3 games; one - two at ply 7, clocks 8:52 and 9:08",
        "after 3 min: 0 of 3 games; one - two at ply 10, clocks 8:25 and 8:35",
        "after 4 min: 1 of 3 games, one +0 =1 -0, 50.0 %, about 6 min to go; two - one at ply 2, clocks 9:41 and 9:43",
        "after 5 min: 1 of 3 games, one +0 =1 -0, 50.0 %, about 5 min to go; two - one at ply 5, clocks 9:09 and 9:15",
        "after 6 min: 1 of 3 games, one +0 =1 -0, 50.0 %, about 4 min to go; two - one at ply 9, clocks 8:35 and 8:49",
        "after 7 min: 2 of 3 games, one +0 =2 -0, 50.0 %, about 3 min to go; one - two at ply 0, clocks 9:48 and 10:00",
        "after 8 min: 2 of 3 games, one +0 =2 -0, 50.0 %, about 2 min to go; one - two at ply 4, clocks 9:22 and 9:26",
        "after 9 min: 2 of 3 games, one +0 =2 -0, 50.0 %, about 72 s to go; one - two at ply 7, clocks 8:52 and 8:56",
        "after 10 min: 2 of 3 games, one +0 =2 -0, 50.0 %, about 12 s to go; one - two at ply 11, clocks 8:18 and 8:30",
    ]


def test_bots_without_processes_of_their_own_are_named() -> None:
    def says(*arguments: object) -> str:
        status, said, complaints = run(*arguments, "--max-moves", 2, "--games", 1)
        assert (status, complaints) == (0, "")
        return said.partition("game 1: ")[0]

    blind = ("--variant", "rbc")
    both = "one, two think in threads of the match, without a limit on memory\n"
    assert says(*TWO, *blind) == both
    assert says("one=minimax:depth=1", "RandomBot", *blind) == both.replace("one, two think", "one thinks")
    assert says("one=minimax:depth=1", AT_RANDOM) == ""


async def test_on_a_server_the_games_of_others_are_left_out() -> None:
    async with running_daemon() as daemon, connected(daemon) as client:
        for players in ((5, 6), (7, 8), (6, 5)):
            await client.new_game(*players)
        contestants = [Contestant("one", None, 5), Contestant("two", None, 6)]
        ask = spectator(Server(port=daemon.port))
        assert [game.text for game in await games_in_progress(ask, contestants)] == [
            "one - two at ply 0",
            "two - one at ply 0",
        ]
        assert [game.text for game in await games_in_progress(ask, [Contestant("both", None, 7), contestants[0]])] == []
    assert await games_in_progress(spectator(Server(port=daemon.port, patience=0.1)), contestants) == []
