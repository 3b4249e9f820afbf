"""Every acknowledged write has really been synced. Killing processes cannot show this, so the kernel is asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import NamedTuple

import pytest
import trio

from tests.serving import Served, served
from tests.tools import require_tool

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")
MOVES = 20
#: Number of simultaneous clients, and of games that each of them begins and moves in.
CLIENTS = 12
GAMES = 4

#: Options for strace: the calls to trace, and bytes of each to show; a page of the database has 4,096.
CALLS = ["-e", "trace=fsync,fdatasync,pwrite64,write,sendto,sendmsg", "-s", "4096"]
#: The formats of strace: a call in one line, or in two if another thread came between. (SQL in arguments has "= 0".)
WHOLE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?: E[A-Z]+ .*)?$")
BEGUN = re.compile(r"(\d+) +(\w+)\((.*) <unfinished \.\.\.>")
ENDED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)")


class Call(NamedTuple):
    """A successful system call; ``begun`` and ``ended`` are line numbers of the trace."""

    name: str
    arguments: str
    begun: int
    ended: int

    @property
    def syncs(self) -> bool:
        return self.name in ("fsync", "fdatasync")

    @property
    def sends(self) -> bool:
        """Whether the call sends data to a client."""
        return self.name in ("write", "sendto", "sendmsg") and "<socket:" in self.arguments.split(",")[0]

    @property
    def logs(self) -> bool:
        """Whether the call writes to the log."""
        return self.name == "pwrite64" and "-wal>" in self.arguments.split(",")[0]


def calls_of(trace: list[str]) -> Iterator[Call]:
    begun: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(trace):
        if (whole := WHOLE.match(line)) is not None:
            _, name, arguments, result = whole.groups()
            if counts(result):
                yield Call(name, arguments, number, number)
        elif (start := BEGUN.match(line)) is not None:
            begun[start[1]] = start[3], number
        elif (end := ENDED.match(line)) is not None:
            pid, name, rest, result = end.groups()
            arguments, since = begun.pop(pid)
            if counts(result):
                yield Call(name, arguments + rest, since, number)


def counts(result: str) -> bool:
    """Return whether a call succeeded and is not trio's one-byte wake-up."""
    return int(result) >= 0 and int(result) != 1


@contextmanager
def traced(directory: Path) -> Iterator[tuple[Served, list[Call]]]:
    """Yield a daemon, and a list that contains its system calls once it has ended."""
    trace, data = directory / "trace", directory / "data"
    tool = require_tool("strace", "-o", os.devnull, "true")  # containers often forbid tracing
    strace = [str(tool), "--follow-forks", "--decode-fds=path", "--quiet=all", *CALLS, "-o", str(trace)]
    calls: list[Call] = []
    with served("--data", str(data), prefix=strace) as daemon:
        try:
            yield daemon, calls
        finally:
            os.kill(int((data / "lock").read_text()), SIGTERM)  # strace ends with the daemon
        assert daemon.process.wait(30) == 0
    calls += calls_of(trace.read_text().splitlines())


async def test_log_is_synced_between_any_two_acknowledgements(tmp_path: Path) -> None:
    with traced(tmp_path) as (daemon, calls):
        async with daemon.client() as client:
            game_id = (await client.new_game())["game_id"]
            for ply in range(MOVES):
                reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=SHUFFLE[ply % 4])
                assert reply["error"] is None
    happened = "".join("S" if call.syncs else "R" for call in calls if call.syncs or call.sends)
    # The reply to "hello" shows nothing that must be durable.
    assert re.sub("S+", "S", happened).removeprefix("S").removesuffix("S") == "R" + "SR" * (MOVES + 1)


@pytest.mark.slow
async def test_under_load_every_acknowledged_game_was_synced_before(tmp_path: Path) -> None:
    """A player's unique number identifies the game whose event a page holds."""
    players = [1_000_000_007 + 1_009 * number for number in range(CLIENTS * GAMES)]

    async def begin_games(daemon: Served, mine: list[int]) -> None:
        async with daemon.client() as client:
            for player in mine:
                game_id = (await client.new_game(player, 2))["game_id"]
                await client.play(game_id, *SHUFFLE, white=player)

    with traced(tmp_path) as (daemon, calls):
        async with trio.open_nursery() as nursery:
            for number in range(CLIENTS):
                nursery.start_soon(begin_games, daemon, players[number::CLIENTS])
    for player in players:
        acknowledged = next(call for call in calls if call.sends and f'\\"player_white\\":{player},' in call.arguments)
        logged = next(call for call in calls if call.logs and f'\\"player_white\\":{player},' in call.arguments)
        assert any(
            call.syncs and logged.ended < call.begun and call.ended < acknowledged.begun
            for call in calls[calls.index(logged) :]
        )
