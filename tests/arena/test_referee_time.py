"""The time limits of a bot: 50 ms a turn, one second for the first; and bots that write nothing, write too much, or
end.

No test counts real milliseconds. In-memory bots sleep on trio's clock, which jumps; bots in processes wait for a byte
from the test, which has set that clock.
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
from gm_arena.referee.match import Limits, NoVerdict
from gm_arena.referee.record import MatchRecord
from tests.arena.refereeing import PATIENT, Scripted, at_random, bash, between, daemon, match, running, terminations

STATED = Limits()


class Sleeper:
    """An in-memory bot that delays each of its answers by so many milliseconds, on trio's clock."""

    def __init__(self, *delays: float) -> None:
        """Begin with no delay used.

        :param delays: the first is for the configuration; the last is for all further answers.
        """
        self._thoughts = list(delays)
        self._due: list[float] = []

    def send(self, text: str) -> None:
        delay = self._thoughts.pop(0) if len(self._thoughts) > 1 else self._thoughts[0]
        self._due.append(trio.current_time() + delay / 1000)

    async def next_line(self) -> str | None:
        await trio.sleep_until(self._due[-1])
        return "random" if len(self._due) > 1 else ""

    async def why_silent(self) -> str:
        raise AssertionError("this bot always answers")


async def slept(first: Sleeper, second: Sleeper, limits: Limits = STATED, **rules: Any) -> MatchRecord:
    async with daemon() as ask:
        return await between(ask, (first, second), limits=limits, max_moves=2, **rules)


def test_default_times_are_those_of_the_statement() -> None:
    """Response time per turn ≤ 50 milliseconds. Response time for the first turn ≤ 1 second."""
    assert Limits(turn=0.050, first_turn=1.0, margin=0.0) == STATED


async def test_49_milliseconds_are_in_time(autojump_clock: MockClock) -> None:
    record = await slept(Sleeper(0, 49), Sleeper(0, 49))
    assert record.failure is None
    assert terminations(record) == ["draw_move_limit"] * 2
    assert {turn.seconds for game in record.games for turn in game.turns} == {0.049}
    assert [bot.slowest_seconds for bot in record.bots] == [0.049, 0.049]


async def test_60_milliseconds_are_late(autojump_clock: MockClock) -> None:
    record = await slept(Sleeper(0, 49), Sleeper(0, 49, 60))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.ply) == (2, "timeout", 3)
    assert record.failure.text == "no output in 50 ms"
    assert (record.winner, terminations(record)) == (1, ["timeout_black"])
    assert record.games[0].status == "Black is eliminated: no output in 50 ms."


async def test_late_bot_loses_the_match_though_the_game_is_drawn(autojump_clock: MockClock) -> None:
    """The opponent has a bare king, so the daemon draws the game."""
    async with daemon() as ask:
        bots = (Sleeper(0, 60), Sleeper(0, 49))
        record = await between(ask, bots, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", STATED, max_moves=2)
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.winner) == (1, "timeout", 2)
    assert (terminations(record), record.games[0].result) == (["draw_timeout"], "1/2-1/2")


@pytest.mark.parametrize(
    ("delays", "margin", "late"),
    [
        ((999, 10), 0.0, False),  # the first turn has a second
        ((1001, 10), 0.0, True),
        ((0, 1, 60), 0.0, True),  # time saved in earlier turns is of no use
        ((0, 60), 0.02, False),
        ((0, 60), 0.005, True),
    ],
)
async def test_each_turn_has_its_own_time(
    delays: tuple[int, ...], margin: float, late: bool, autojump_clock: MockClock
) -> None:
    record = await slept(Sleeper(*delays), Sleeper(0, 10), Limits(margin=margin))
    assert (record.failure is not None) == late
    assert record.limits == {"turn": 0.05, "first_turn": 1.0, "margin": margin}
    if record.failure is not None:
        assert (record.failure.bot, record.failure.kind, record.winner) == (1, "timeout", 2)
        assert (record.failure.game == 0) is (delays[0] == 1001)


async def test_time_of_requests_to_the_daemon_is_not_charged_to_a_bot(autojump_clock: MockClock) -> None:
    """Every request takes half a second: the daemon's clock runs meanwhile, and the referee's does not."""
    async with daemon() as ask:

        async def slowly(kind: str, **fields: Any) -> Any:
            await trio.sleep(0.25)
            reply = await ask(kind, **fields)
            await trio.sleep(0.25)
            return reply

        record = await between(slowly, (Sleeper(0, 49), Sleeper(0, 49)), limits=STATED, max_moves=2)
    assert record.failure is None


async def test_flag_fall_by_no_bots_fault_gives_no_verdict(autojump_clock: MockClock) -> None:
    async with daemon() as ask:

        async def stuck(kind: str, **fields: Any) -> Any:
            if kind == "move" and fields["ply"] == 2:
                await trio.sleep(5)
            return await ask(kind, **fields)

        with pytest.raises(NoVerdict, match="game 1 went on or ended without the referee: game 1 is over: timeout_wh"):
            await between(stuck, (Sleeper(0, 10), Sleeper(0, 10)), limits=STATED)


async def test_move_by_another_client_gives_no_verdict(autojump_clock: MockClock) -> None:
    async with daemon() as ask:

        async def disturbed(kind: str, **fields: Any) -> Any:
            reply = await ask(kind, **fields)
            if kind == "move" and fields["ply"] == 0:
                await ask("move", game_id=fields["game_id"], player=2, move=reply["state"]["fen"] and "e7e5")
            return reply

        with pytest.raises(NoVerdict, match="game 1 went on or ended without the referee"):
            await between(disturbed, (Sleeper(0, 10), Sleeper(0, 10)), limits=STATED)


async def test_referee_does_not_wait_long_for_the_reason_of_a_silent_bot(autojump_clock: MockClock) -> None:
    """The daemon's clock runs meanwhile, and must not fall before the bot is given up."""

    class Closed(Sleeper):
        async def next_line(self) -> str | None:
            return await super().next_line() if len(self._due) < 3 else None

        async def why_silent(self) -> str:
            await trio.sleep(60)  # as long as its process continues without its output
            return "ended"

    record = await slept(Sleeper(0, 10), Closed(0, 10))
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.ply) == (2, "crash", 3)
    assert record.failure.text == "no output: it closed its standard output"
    assert terminations(record) == ["resignation_black"]


# Processes, on a clock that stands still until the test sets it.


class PromptedBot:
    """A bot in bash that answers on command: the test writes a byte to a FIFO."""

    def __init__(self, folder: Path) -> None:
        self.fifo = folder / "prompt"
        os.mkfifo(self.fifo)
        # exec opens it once, for reading and writing, so that neither side waits for the other
        text = 'exec 3<>"$0"; echo fen; while read -r fen; do read -r -n 1 -u 3; echo random; done'
        self.command = ["bash", "-c", text, str(self.fifo)]

    def answer(self) -> None:
        """Let it answer once."""
        with open(self.fifo, "w") as fifo:
            fifo.write("!")


@asynccontextmanager
async def waiting(
    bot: PromptedBot, clock: MockClock
) -> AsyncIterator[tuple[Callable[[float], Awaitable[None]], list[MatchRecord]]]:
    """Play a match of the waiting bot (White first) against one that plays at random; yield how to set the clock for
    it.
    """
    asked = trio.Event()
    records: list[MatchRecord] = []

    async with daemon() as ask, running(bot.command) as process, trio.open_nursery() as nursery:
        sent = process.send

        def send(text: str) -> None:
            sent(text)
            if "/" in text:  # a FEN: its turn
                asked.set()

        process.send = send  # type: ignore[method-assign]

        async def play() -> None:
            records.append(await between(ask, (process, at_random()), limits=STATED, max_moves=1))

        async def at(milliseconds: float) -> None:
            await asked.wait()
            clock.jump(milliseconds / 1000)

        nursery.start_soon(play)
        yield at, records


async def test_process_that_takes_49_ms_is_in_time(mock_clock: MockClock, tmp_path: Path) -> None:
    bot = PromptedBot(tmp_path)
    async with waiting(bot, mock_clock) as (at, records):
        await at(49)
        bot.answer()
        bot.answer()  # in the second game, at once
    (record,) = records
    assert record.failure is None
    assert record.games[0].turns[0].seconds == 0.049


async def test_process_that_takes_60_ms_is_late(mock_clock: MockClock, tmp_path: Path) -> None:
    bot = PromptedBot(tmp_path)
    async with waiting(bot, mock_clock) as (at, records):
        await at(60)
        for _ in range(100):  # the referee has looked meanwhile, and found nothing
            await trio.lowlevel.checkpoint()
        bot.answer()
        mock_clock.jump(2)  # the daemon's clock falls
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(2)  # for the waits as the bots are ended
    (record,) = records
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.text) == (1, "timeout", "no output in 50 ms")
    assert terminations(record) == ["timeout_white"]


# Bots that write nothing, write too much, or end.


@pytest.mark.parametrize(
    ("command", "limits", "kind", "reason"),
    [
        ("sleep 1000", Limits(first_turn=0.1), "timeout", "no output in 100 ms"),
        ("printf 'fen\\n'; sleep 1000", Limits(turn=0.1, first_turn=30), "timeout", "no output in 100 ms"),
        ("cat /dev/zero", PATIENT, "crash", f"no output: it wrote a line of more than {process.MAX_LINE} bytes"),
        (
            "echo fen; exec >&-; while read line; do :; done",
            PATIENT,
            "crash",
            "no output: it closed its standard output",
        ),
        ("true", PATIENT, "crash", "no output: it ended, with exit status 0"),
        ("echo fen; read; read; read; read; exit 3", PATIENT, "crash", "no output: it ended, with exit status 3"),
        ("echo fen; read; kill -SEGV $$", PATIENT, "crash", "no output: it was ended by Segmentation fault"),
    ],
)
async def test_bot_that_becomes_silent_floods_or_ends_fails(
    command: str, limits: Limits, kind: str, reason: str
) -> None:
    record = await match(bash(command), at_random(), limits=limits)
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind, record.failure.text) == (1, kind, reason)
    assert record.winner == 2


async def test_extra_lines_answer_later_turns() -> None:
    """An extra line of a bot answers its next turn, as on CodinGame."""
    bot = bash("echo fen; read; read; read; read; printf 'e2e4\\nd2d4\\n'; yes resign")
    record = await match(bot, at_random())
    assert [turn.move for turn in record.games[0].turns if turn.bot == 1] == ["e2e4", "d2d4", None]


async def test_bot_that_ends_in_the_second_game_loses_the_match() -> None:
    quits = bash("printf 'fen\\ne7e5\\nd8h4\\ne2e4\\n'; for i in {1..6}; do read; done")
    record = await match(Scripted("", "f2f3", "g2g4", "e7e5"), quits)
    assert record.failure is not None
    assert (record.failure.bot, record.failure.game, record.failure.kind) == (2, 2, "crash")
    assert (record.score, record.winner) == ([0, 2], 1)
    assert terminations(record) == ["victory_black", "resignation_white"]


async def test_bot_that_does_not_read_may_play_on_until_too_much_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = bash("echo fen moves moves; exec <&-; yes random")
    assert (await match(bot, at_random(), start=3, seed=3, max_moves=40)).failure is None
    monkeypatch.setattr(process, "MAX_UNREAD", 100)  # the constants do not fill this, and the legal moves do
    record = await match(bash("echo fen moves; yes random"), at_random())
    assert record.failure is not None
    assert record.failure.kind == "crash"
    assert "does not read" in record.failure.text
