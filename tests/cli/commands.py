"""Helpers for the subcommands that work on a data directory: they run the real program on a real directory."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import trio
from click.testing import CliRunner

from gmd.cli import main
from tests.helpers import Client, Json, connected, running_daemon
from tests.serving import environment

#: Timeout in seconds of a command on a busy machine.
PATIENCE_SECONDS = 60


class Ran(NamedTuple):
    status: int
    out: str
    err: str


def gmd(*arguments: object, input: str | None = None, env: Mapping[str, str] | None = None) -> Ran:
    """Run a subcommand to its end in this process, which has imported it already. Neither output is a terminal.

    :param input: its standard input.
    :param env: variables besides those of :func:`tests.serving.environment`.
    """
    ours = environment(env)
    variables = {name: ours.get(name) for name in {**os.environ, **ours}}  # None: removed while it runs
    with logging_of_its_own():
        ran = CliRunner().invoke(main, [str(argument) for argument in arguments], input=input, env=variables)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


@contextmanager
def logging_of_its_own() -> Iterator[None]:
    """Let a command configure logging as in a process of its own, and undo that afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def gmd_process(*arguments: object) -> Ran:
    """Run a subcommand to its end in its own process, as an operator runs it."""
    command = [sys.executable, "-m", "gmd", *map(str, arguments)]
    ran = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def lines_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def change(data: Path, *statements: str) -> None:
    """Change a log's database directly, without the daemon's code."""
    with database(data) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@contextmanager
def database(data: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(data / "games.sqlite")
    try:
        yield connection
    finally:
        connection.close()


@asynccontextmanager
async def client_of(data: Path) -> AsyncIterator[Client]:
    """Yield a client of a daemon on a data directory."""
    async with running_daemon(data=str(data)) as daemon, connected(daemon) as client:
        yield client


async def end(client: Client, game_id: int, termination: str, player: int) -> None:
    reply = await client.ask("end_game", game_id=game_id, player=player, termination=termination)
    assert reply["error"] is None, reply


#: Ids of the games that :func:`fill` makes.
GAMES = (1, 2, 3, 4, 5)


async def fill(data: Path) -> None:
    """Make five games: 1 is mate, 2 live with a clock, 3 resigned chess960, 4 a draw from a PGN, 5 forfeited by an
    illegal move.
    """
    async with client_of(data) as client:
        await client.new_game(1, 2, token="first")
        await client.play(1, "f3", "e5", "g4", "Qh4#")
        await client.new_game(1, 1, clock={"initial": 100, "increment": 1})
        await client.play(2, "e4", "e5", white=1, black=1)
        await client.new_game(3, 2, variant="chess960", position=17)
        await end(client, 3, "resignation_black", 2)
        pgn = '[Result "1/2-1/2"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2'
        await client.new_game(1, 2, pgn=pgn, draws="automatic")
        await client.new_game(4, 5, illegal_move="lose")
        reply = await client.ask("move", game_id=5, player=4, move="Qh5 is what I want", offer_draw=True)
        assert reply["error"] is None, reply


def filled(directory: Path) -> Path:
    """Return the data directory, filled with the games of :func:`fill`."""
    trio.run(fill, directory)
    return directory


def without(what: Json, *names: str) -> dict[str, Any]:
    return {name: value for name, value in what.items() if name not in names}


def joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
