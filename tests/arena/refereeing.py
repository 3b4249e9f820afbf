"""Matches by CodinGame's rules, for tests: the referee and a daemon in this process, the bots in processes of their
own.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from gm_arena.process import BotProcess
from gm_arena.referee.contestant import Contestant, Limits, Line
from gm_arena.referee.game import Ask, Rules
from gm_arena.referee.match import play_match
from gm_arena.referee.record import BotRecord, MatchRecord
from gm_client.blocking import GmError
from gmd.in_process import InProcessClient, Refused
from gmd.requests.session import Authority
from tests.arena.playing import BOTS, PATIENCE
from tests.helpers import memory_daemon

#: Enough time for any machine: these bots do not play for time. A bot that hangs loses before the test times out.
PATIENT = Limits(turn=PATIENCE / 2, first_turn=PATIENCE / 2)

CLASSICAL = 518


def answers(*lines: str) -> list[str]:
    """Return a bot that writes these lines, whatever it reads, and then resigns."""
    return ["bash", "-c", 'printf "%s\\n" "$@"; yes resign', "answers", *lines]


def bash(text: str) -> list[str]:
    """Return a bot in bash."""
    return ["bash", "-c", text]


def teller(log: Path, configuration: str, *lines: str) -> list[str]:
    """Return a bot that records its inputs, and plays at random after these answers."""
    return [sys.executable, "-S", str(BOTS / "teller.py"), str(log), configuration, *lines]


def inputs_of(log: Path) -> list[Any]:
    """Return a recording bot's inputs in each of its turns, in the order of its configuration."""
    return [entry["turn"] for entry in map(json.loads, log.read_text().splitlines()) if "turn" in entry]


RANDOM = bash("echo; yes random")


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
async def processes(*commands: list[str]) -> AsyncIterator[list[BotProcess]]:
    """Start bots, and kill them at the end."""
    async with trio.open_nursery() as nursery:
        bots = [await BotProcess.start(command, shlex.join(command)[:60], nursery) for command in commands]
        try:
            yield bots
        finally:
            with trio.CancelScope(shield=True):
                for bot in bots:
                    await bot.kill()
            nursery.cancel_scope.cancel()


async def match(first: list[str], second: list[str], start: int | str = CLASSICAL, **rules: Any) -> MatchRecord:
    """Play a match between two commands."""
    with trio.fail_after(PATIENCE):
        async with daemon() as ask, processes(first, second) as bots:
            return await between(ask, bots, start, **rules)


def terminations(record: MatchRecord) -> list[str]:
    """Return how the games ended."""
    return [game.termination for game in record.games]


def moves(record: MatchRecord, game: int = 1) -> list[str | None]:
    """Return the moves of a game, as CodinGame writes them."""
    return [turn.move for turn in record.games[game - 1].turns]
