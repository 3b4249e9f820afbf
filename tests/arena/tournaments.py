"""Tournaments in this process, for tests: a daemon with the operator's socket, and players on TCP with short games."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from gm_arena.crosstable import csv_text
from gm_arena.schedule import Pairing
from gm_arena.tournament.director import Daemon as OperatorsDaemon
from gm_arena.tournament.director import Director, operator_of
from gm_arena.tournament.plan import Entrant, GameResult, Key, Round, Settings
from gm_arena.tournament.record import Record
from gm_arena.tournament.results import table_of
from gm_client.trio_client import Client, Turn
from gmd.daemon import Daemon
from tests.helpers import running_daemon

#: Seconds after which a tournament of these tests counts as hung.
PATIENCE = 60

NAMES = ("ada", "bea", "cleo", "dora", "eva", "fay")

#: A player's action in its turn.
Mind = Callable[[Turn], Any]


class Witness:
    """A listener that records a tournament's progress."""

    def __init__(self) -> None:
        self.begun: list[Round] = []
        self.played: list[tuple[Key, int]] = []
        self.over: list[tuple[Key, Pairing, GameResult]] = []
        self.awaited: list[set[int]] = []
        self.happened = trio.Event()

    def begins(self, begun: Round) -> None:
        self.begun.append(begun)

    def plays(self, key: Key, pairing: Pairing, game_id: int) -> None:
        self.played.append((key, game_id))
        self._notify()

    def ends(self, key: Key, pairing: Pairing, outcome: GameResult) -> None:
        self.over.append((key, pairing, outcome))
        self._notify()

    def awaits(self, players: set[int]) -> None:
        if players and self.awaited[-1:] != [players]:
            self.awaited.append(players)
            self._notify()

    def _notify(self) -> None:
        self.happened.set()
        self.happened = trio.Event()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds."""
        while not condition():
            await self.happened.wait()


class Hall:
    """A daemon on a data directory, its registered players, and the nursery in which they play.

    :ivar keys: each player's key, by its name.
    :ivar daemon: the daemon, if it runs in this process.
    """

    def __init__(
        self, port: int, data: Path, nursery: trio.Nursery, keys: dict[str, str], daemon: Daemon | None = None
    ) -> None:
        self.port = port
        self.data = data
        self.nursery = nursery
        self.keys = keys
        self.daemon = daemon

    def client(self, name: str) -> Client:
        return Client(port=self.port, name=name, key=self.keys[name], patience=PATIENCE)

    def seat(self, name: str, mind: Mind) -> trio.CancelScope:
        """Let a player play all its games; return the scope that makes it leave when cancelled."""
        scope = trio.CancelScope()
        self.nursery.start_soon(self._play, name, mind, scope)
        return scope

    async def _play(self, name: str, mind: Mind, scope: trio.CancelScope) -> None:
        with scope:
            async with self.client(name) as client:
                async for turn in client.turns():
                    await mind(turn)

    @asynccontextmanager
    async def here(self, name: str) -> AsyncIterator[Client]:
        """Keep a player present that takes no action of its own."""
        async with self.client(name) as client:
            await client.open()
            yield client

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[OperatorsDaemon]:
        async with operator_of(self.data, PATIENCE) as daemon:
            yield daemon

    async def entrants(self, names: Sequence[str]) -> tuple[Entrant, ...]:
        async with self.operator() as daemon:
            found = {entrant.name: entrant for entrant in await daemon.registered()}
        return tuple(found[name] for name in names)

    async def gathered(self, *names: str) -> None:
        """Wait until these players are present."""
        async with self.operator() as daemon:
            while not {entrant.name for entrant in await daemon.here()} >= set(names):
                pass

    async def begin(self, names: Sequence[str], **settings: Any) -> Record:
        """Begin a new tournament."""
        given = {"name": "spring", "id": "cafe", "format": "round-robin", "absence": 30.0, **settings}
        return Record.create(self.data / "spring.jsonl", Settings(players=await self.entrants(names), **given))

    async def direct(self, record: Record, witness: Witness | None = None, at_once: int = 100) -> Record:
        """Play a tournament to its end."""
        with record, trio.fail_after(PATIENCE):
            async with self.operator() as daemon:
                await Director(record, daemon, witness or Witness(), at_once).run()
        return record


@asynccontextmanager
async def hall(tmp_path: Path, *names: str, **settings: Any) -> AsyncIterator[Hall]:
    """Run a daemon on which these players are registered."""
    async with running_daemon(data=str(tmp_path), **settings) as daemon, trio.open_nursery() as nursery:
        yield Hall(daemon.port, tmp_path, nursery, await register(daemon.port, names), daemon)
        nursery.cancel_scope.cancel()


async def register(port: int, names: Sequence[str]) -> dict[str, str]:
    """Register new players; return their keys."""
    async with Client(port=port) as client:
        return {name: (await client.register(name))["key"] for name in names}


def strong(names: Sequence[str]) -> dict[str, Mind]:
    """Return players of whom the one named first wins every game: the other resigns in its first turn."""
    return {name: _yields_to(rank) for rank, name in enumerate(names)}


def _yields_to(rank: int) -> Mind:
    """Return the mind of a player of this rank; ids are assigned in the order of strength."""

    async def mind(turn: Turn) -> None:
        players = turn.state["player_white"], turn.state["player_black"]
        mine = players[turn.color == "black"]
        assert None not in players
        if mine == max(player for player in players if player is not None):
            await turn.resign()
            return
        if turn.sense_actions:
            await turn.sense(None)
        await turn.move(turn.move_actions[0])

    return mind


def seat_all(hall: Hall, names: Sequence[str]) -> None:
    """Let all of them play; the first is the strongest."""
    for name, mind in strong(names).items():
        hall.seat(name, mind)


def results(record: Record) -> dict[str, str]:
    """Return how each game ended."""
    return {str(key): f"{outcome.result} {outcome.reason}" for key, outcome in sorted(record.outcomes.items())}


def table(record: Record) -> str:
    return csv_text(table_of(record))


async def all_games(hall: Hall) -> list[tuple[int, int]]:
    """Return the players of all the daemon's games, oldest first."""
    async with Client(path=str(hall.data / "operator.sock")) as client:
        rows = (await client.games())["games"]
    return [(row["player_white"], row["player_black"]) for row in reversed(rows)]
