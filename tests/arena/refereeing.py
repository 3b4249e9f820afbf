"""Matches by CodinGame's rules, for tests: the referee, a daemon and most bots in this process."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import trio

from gm_arena.process import BotProcess
from gm_arena.referee.match import Ask, Contestant, Limits, Line, Rules, play_match
from gm_arena.referee.record import BotRecord, MatchRecord
from gm_client.blocking import GmError
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Refused
from tests.arena.playing import PATIENCE
from tests.helpers import memory_daemon

#: Enough time for any machine: these bots do not play for time. A bot that hangs loses before the test times out.
PATIENT = Limits(turn=PATIENCE / 2, first_turn=PATIENCE / 2)

CLASSICAL = 518


class Scripted:
    """A bot in this process that writes its lines, the first of which is its configuration, and then the last word for
    ever.

    :ivar constants: the constants that it was given.
    :ivar turns: its inputs in each of its turns, with their names, in the order of its configuration.
    """

    def __init__(self, *lines: str, then: str = "resign") -> None:
        self._names = lines[0].split()
        self._lines, self._then = list(lines), then
        self.constants: list[str] = []
        self.turns: list[list[tuple[str, Any]]] = []

    def send(self, text: str) -> None:
        lines = iter(text.splitlines())
        if not self.constants:
            self.constants = list(lines)[1:]
        else:
            self.turns.append([(name, self._read(name, lines)) for name in self._names])
            assert next(lines, None) is None

    def _read(self, name: str, lines: Any) -> Any:
        return [next(lines) for _ in range(int(next(lines)))] if name == "moves" else next(lines)

    async def next_line(self) -> str:
        await trio.lowlevel.checkpoint()
        return self._lines.pop(0) if self._lines else self._then

    async def why_silent(self) -> str:
        raise AssertionError("this bot always answers")


def at_random() -> Scripted:
    """Return a bot that plays what the referee draws for it."""
    return Scripted("", then="random")


def bash(text: str) -> list[str]:
    """Return a bot in bash."""
    return ["bash", "-c", text]


@asynccontextmanager
async def daemon() -> AsyncIterator[Ask]:
    """Run a daemon without sockets or threads, so that any clock may drive it; yield the function that asks it."""
    async with memory_daemon() as running:
        in_process = InProcessClient(running.services)

        async def ask(kind: str, **fields: Any) -> Any:
            try:
                return await in_process.ask(Authority.CLIENT, kind, fields)
            except Refused as refused:
                raise GmError(refused.reply, kind) from None

        yield ask


async def between(
    ask: Ask, lines: Sequence[Line], start: int | str = CLASSICAL, limits: Limits = PATIENT, seed: int = 0, **rules: Any
) -> MatchRecord:
    """Play a match between bots that are running."""
    first, second = (Contestant(number, number, line, BotRecord("?")) for number, line in enumerate(lines, 1))
    return await play_match(ask, (first, second), Rules(start, limits=limits, **rules), seed)


@asynccontextmanager
async def running(command: list[str]) -> AsyncIterator[BotProcess]:
    """Start a bot, and kill it at the end."""
    async with trio.open_nursery() as nursery:
        bot = await BotProcess.start(command, shlex.join(command)[:60], nursery)
        try:
            yield bot
        finally:
            with trio.CancelScope(shield=True):
                await bot.kill()
            nursery.cancel_scope.cancel()


async def match(
    first: Line | list[str], second: Line | list[str], start: int | str = CLASSICAL, **rules: Any
) -> MatchRecord:
    """Play a match between two bots, each in this process or a command that runs one."""
    with trio.fail_after(PATIENCE):
        async with daemon() as ask, AsyncExitStack() as stack:
            bots = [
                await stack.enter_async_context(running(bot)) if isinstance(bot, list) else bot
                for bot in (first, second)
            ]
            return await between(ask, bots, start, **rules)


def terminations(record: MatchRecord) -> list[str]:
    """Return how the games ended."""
    return [game.termination for game in record.games]


def moves(record: MatchRecord, game: int = 1) -> list[str | None]:
    """Return the moves of a game, as CodinGame writes them."""
    return [turn.move for turn in record.games[game - 1].turns]
