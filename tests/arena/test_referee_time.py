"""The time that a bot has: 50 ms a turn, one second for the first; and bots that write nothing, too much, or end.

No test counts real milliseconds. In memory bots sleep on trio's clock, which jumps; bots with processes of their own
wait for a word from the test, which has set that clock.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gm_arena import process
from gm_arena.referee.contestant import Limits
from gm_arena.referee.game import NoVerdict
from gm_arena.referee.record import MatchRecord
from tests.arena.refereeing import RANDOM, answers, bash, between, daemon, match, processes, terminations

STATED = Limits()


class Sleeper:
    """A bot in memory that thinks for so many milliseconds about each of its answers, on trio's clock."""

    def __init__(self, *thoughts: float) -> None:
        """:param thoughts: the first is about the configuration; the last goes on for ever."""
        self._thoughts = list(thoughts)
        self._due: list[float] = []

    def send(self, text: str) -> None:
        thought = self._thoughts.pop(0) if len(self._thoughts) > 1 else self._thoughts[0]
        self._due.append(trio.current_time() + thought / 1000)

    async def next_line(self) -> str | None:
        await trio.sleep_until(self._due[-1])
        return "random" if len(self._due) > 1 else ""

    async def why_silent(self) -> str:
        raise AssertionError("it is never silent for good")


async def slept(first: Sleeper, second: Sleeper, limits: Limits = STATED, **rules: Any) -> MatchRecord:
    async with daemon() as ask:
        return await between(ask, (first, second), limits=limits, max_moves=2, **rules)


def test_the_times_are_the_statements() -> None:
    """Response time per turn ≤ 50 milliseconds. Response time for the first turn ≤ 1 second."""
    assert Limits(turn=0.050, first_turn=1.0, margin=0.0) == STATED


async def test_49_milliseconds_are_in_time(autojump_clock: MockClock) -> None:
    record = await slept(Sleeper(0, 49), Sleeper(0, 49))
    assert record.failure is None
    assert terminations(record) == ["draw_move_limit"] * 2
    assert {turn.seconds for game in record.games for turn in game.turns} == {0.049}
    assert [bot.slowest_seconds for bot in record.bots] == [0.049, 0.049]


async def test_60_milliseconds_are_not(autojump_clock: MockClock) -> None:
    record = await slept(Sleeper(0, 49), Sleeper(0, 49, 60))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.ply) == (2, "timeout", 3)
    assert record.failure.text == "no output in 50 ms"
    assert (record.winner, terminations(record)) == (1, ["timeout_black"])
    assert record.games[0].status == "Black is eliminated: no output in 50 ms."


async def test_unused_time_is_lost(autojump_clock: MockClock) -> None:
    """Each turn has its own 50 ms: what a bot has saved before is of no use."""
    record = await slept(Sleeper(0, 1, 60), Sleeper(0, 1))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.ply) == (1, 2)


@pytest.mark.parametrize(("thought", "late"), [(999, False), (1001, True)])
async def test_the_first_turn_has_a_second(thought: float, late: bool, autojump_clock: MockClock) -> None:
    record = await slept(Sleeper(0, 10), Sleeper(thought, 10))
    assert (record.failure is not None) == late
    if record.failure is not None:
        assert (record.failure.bot, record.failure.game, record.failure.kind) == (2, 0, "timeout")
        assert record.failure.text == "no output in 1000 ms"
        assert (record.winner, record.games) == (1, [])


@pytest.mark.parametrize(("margin", "late"), [(0.02, False), (0.005, True)])
async def test_a_margin_is_given_on_top(margin: float, late: bool, autojump_clock: MockClock) -> None:
    record = await slept(Sleeper(0, 60), Sleeper(0, 60), Limits(margin=margin))
    assert (record.failure is not None) == late
    assert record.limits == {"turn": 0.05, "first_turn": 1.0, "margin": margin}


async def test_what_the_way_to_the_daemon_takes_is_no_bots_time(autojump_clock: MockClock) -> None:
    """Half a second for every request: the daemon's clock runs on meanwhile, and the referee's does not."""
    async with daemon() as ask:

        async def slowly(kind: str, **fields: Any) -> Any:
            await trio.sleep(0.25)
            reply = await ask(kind, **fields)
            await trio.sleep(0.25)
            return reply

        record = await between(slowly, (Sleeper(0, 49), Sleeper(0, 49)), limits=STATED, max_moves=2)
    assert record.failure is None


async def test_a_clock_that_falls_by_no_bots_fault_is_no_verdict(autojump_clock: MockClock) -> None:
    async with daemon() as ask:

        async def stuck(kind: str, **fields: Any) -> Any:
            if kind == "move" and fields["ply"] == 2:
                await trio.sleep(5)
            return await ask(kind, **fields)

        with pytest.raises(NoVerdict, match="game 1 went on or ended without the referee: game 1 is over: timeout_wh"):
            await between(stuck, (Sleeper(0, 10), Sleeper(0, 10)), limits=STATED)


async def test_somebody_elses_move_is_no_verdict(autojump_clock: MockClock) -> None:
    async with daemon() as ask:

        async def disturbed(kind: str, **fields: Any) -> Any:
            reply = await ask(kind, **fields)
            if kind == "move" and fields["ply"] == 0:
                await ask("move", game_id=fields["game_id"], player=2, move=reply["state"]["fen"] and "e7e5")
            return reply

        with pytest.raises(NoVerdict, match="game 1 went on or ended without the referee"):
            await between(disturbed, (Sleeper(0, 10), Sleeper(0, 10)), limits=STATED)


async def test_why_a_bot_says_nothing_more_is_not_asked_for_long(autojump_clock: MockClock) -> None:
    """The daemon's clock runs meanwhile, and is not to fall before the bot is given up."""

    class Closed(Sleeper):
        async def next_line(self) -> str | None:
            return await super().next_line() if len(self._due) < 3 else None

        async def why_silent(self) -> str:
            await trio.sleep(60)  # as long as its process goes on without its output
            return "ended"

    record = await slept(Sleeper(0, 10), Closed(0, 10))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.ply) == (2, "crash", 3)
    assert record.failure.text == "no output: it closed its standard output"
    assert terminations(record) == ["resignation_black"]


# Processes, on a clock that stands still until the test sets it.


class Told:
    """A bot in bash that answers when it is told to: by bytes in a FIFO, which the test writes."""

    def __init__(self, folder: Path) -> None:
        self.fifo = folder / "word"
        os.mkfifo(self.fifo)
        # exec opens it once, for reading and writing, so that nobody waits for the other side
        text = 'exec 3<>"$0"; echo fen; while read -r fen; do read -r -n 1 -u 3; echo random; done'
        self.command = ["bash", "-c", text, str(self.fifo)]

    def answer(self) -> None:
        """Let it answer once."""
        with open(self.fifo, "w") as fifo:
            fifo.write("!")


@asynccontextmanager
async def waiting(
    told: Told, clock: MockClock
) -> AsyncIterator[tuple[Callable[[float], Awaitable[None]], list[MatchRecord]]]:
    """A match of the bot that waits (White first) against one that plays at random; how to set the clock for it."""
    asked = trio.Event()
    records: list[MatchRecord] = []

    async with daemon() as ask, processes(told.command, RANDOM) as bots, trio.open_nursery() as nursery:
        sent = bots[0].send

        def send(text: str) -> None:
            sent(text)
            if "/" in text:  # a FEN: its turn
                asked.set()

        bots[0].send = send  # type: ignore[method-assign]

        async def play() -> None:
            records.append(await between(ask, bots, limits=STATED, max_moves=1))

        async def at(milliseconds: float) -> None:
            await asked.wait()
            clock.jump(milliseconds / 1000)

        nursery.start_soon(play)
        yield at, records


async def test_a_process_that_takes_49_ms_is_in_time(mock_clock: MockClock, tmp_path: Path) -> None:
    told = Told(tmp_path)
    async with waiting(told, mock_clock) as (at, records):
        await at(49)
        told.answer()
        told.answer()  # in the second game, at once
    (record,) = records
    assert record.failure is None
    assert record.games[0].turns[0].seconds == 0.049


async def test_a_process_that_takes_60_ms_is_late(mock_clock: MockClock, tmp_path: Path) -> None:
    told = Told(tmp_path)
    async with waiting(told, mock_clock) as (at, records):
        await at(60)
        for _ in range(100):  # the referee has looked by then, and found nothing
            await trio.lowlevel.checkpoint()
        told.answer()
        mock_clock.jump(2)  # the daemon's clock falls
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(2)  # what is waited for as the bots are ended
    (record,) = records
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.text) == (1, "timeout", "no output in 50 ms")
    assert terminations(record) == ["timeout_white"]


# Bots that write nothing, too much, or end.


async def test_one_that_prints_nothing_fails() -> None:
    record = await match(["sleep", "1000"], RANDOM, limits=Limits(first_turn=0.1))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.game, record.failure.kind) == (1, 0, "timeout")
    assert record.failure.text == "no output in 100 ms"


async def test_one_that_falls_silent_in_a_game_fails() -> None:
    first = bash("printf 'fen\\ne2e4\\n'; sleep 1000")  # its move is there before it is asked for
    record = await match(first, bash("echo fen; sleep 1000"), limits=Limits(turn=0.1, first_turn=30))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.ply, record.failure.kind) == (2, 1, "timeout")


async def test_lines_too_many_are_answers_to_come() -> None:
    """What a bot prints too much is there when the next turn asks: so it is on CodinGame."""
    record = await match(bash("echo fen; read; read; read; read; printf 'e2e4\\nd2d4\\n'; yes resign"), RANDOM)
    assert [turn.move for turn in record.games[0].turns if turn.bot == 1] == ["e2e4", "d2d4", None]


async def test_one_that_floods_fails() -> None:
    record = await match(RANDOM, ["cat", "/dev/zero"])
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind) == (2, "crash")
    assert record.failure.text == f"no output: it wrote a line of more than {process.MAX_LINE} bytes"


async def test_one_that_closes_its_output_fails() -> None:
    record = await match(bash("echo fen; exec >&-; while read line; do :; done"), RANDOM)
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.text) == (
        1,
        "crash",
        "no output: it closed its standard output",
    )


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("true", "ended, with exit status 0"),
        ("echo fen; read; read; read; read; exit 3", "ended, with exit status 3"),
        ("echo fen; read; read; read; kill -SEGV $$", "was ended by Segmentation fault"),
    ],
)
async def test_one_that_dies_fails(command: str, reason: str) -> None:
    record = await match(bash(command), RANDOM)
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.text) == (1, "crash", f"no output: it {reason}")
    assert record.winner == 2


async def test_one_that_dies_in_the_second_game_loses_all(tmp_path: Path) -> None:
    quits = bash("printf 'fen\\ne7e5\\nd8h4\\ne2e4\\n'; for i in {1..6}; do read; done")
    record = await match(answers("", "f2f3", "g2g4", "e7e5"), quits)
    assert record.failure is not None
    assert (record.failure.bot, record.failure.game, record.failure.kind) == (2, 2, "crash")
    assert (record.score, record.winner) == ([0, 2], 1)
    assert terminations(record) == ["victory_black", "resignation_white"]


async def test_one_that_does_not_read_may_play_on() -> None:
    """It is told a hundred times more than its pipe takes."""
    record = await match(bash("echo fen moves moves; exec <&-; yes random"), RANDOM, start=3, seed=3)
    assert record.failure is None


async def test_what_is_left_waiting_for_one_that_never_reads_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_UNREAD", 100)  # which the constants do not fill, and the legal moves do
    record = await match(bash("echo fen moves; yes random"), RANDOM)
    assert record.failure is not None
    assert record.failure.kind == "crash"
    assert "does not read" in record.failure.text
