"""A daemon under load is killed at random moments, again and again: its log has all it acknowledged, in order."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from math import inf
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest
import trio

from gm_protocol.errors import BadFrame
from tests.helpers import Client, Json
from tests.proofs import cases
from tests.serving import Served, served

CLIENTS = 32
#: The moves that all clients together have acknowledged between two kills: at least one, at most this many.
MOST_BETWEEN = 400
#: The moves that some clients send before they have the reply to the first.
WINDOW = 4
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
#: The longest that the whole test may take for one kill.
PATIENCE_SECONDS = 60


class Killer:
    """The current daemon's port, and the moment of its end."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._left = inf
        self._due = trio.Event()
        self._up = trio.Event()
        self._port = 0

    async def connect(self) -> trio.SocketStream:
        """Return a connection, once there is a daemon."""
        while True:
            await self._up.wait()
            with suppress(OSError):
                return await trio.open_tcp_stream("127.0.0.1", self._port)
            await trio.lowlevel.checkpoint()

    def acknowledged(self) -> None:
        """Count one acknowledged move."""
        self._left -= 1
        if self._left <= 0:
            self._due.set()

    async def kill(self, daemon: Served, signal: int, after: Iterable[trio.Event] = ()) -> int:
        """Let the clients connect to a daemon, signal it at a random moment, and return its exit status.

        :param after: the events that must have happened before that moment.
        """
        self._port, self._left, self._due = daemon.port, self._rng.randint(1, MOST_BETWEEN), trio.Event()
        self._up.set()
        for event in after:
            await event.wait()
        await self._due.wait()
        self._up = trio.Event()
        daemon.process.send_signal(signal)
        return await trio.to_thread.run_sync(daemon.process.wait)


class Player:
    """A client that plays both sides of one game for ever, by means of the protocol's safe retry alone.

    :ivar acknowledged: how many of its moves it knows to have been made.
    :ivar moved: set once it knows of one.
    """

    def __init__(self, number: int, killer: Killer) -> None:
        self.game_id: int | None = None
        self.acknowledged = 0
        self.moved = trio.Event()
        self.sent = 0
        self._number = number
        self._killer = killer
        self._window = WINDOW if number % 2 else 1

    async def play(self) -> None:
        while True:
            client = Client(await self._killer.connect())
            # The daemon is killed in the middle of a frame, or between frames.
            with suppress(trio.BrokenResourceError, EOFError, BadFrame):
                await self._converse(client)
            await client.aclose()

    async def _converse(self, client: Client) -> None:
        await client.ask("hello", protocol=2, player=self._number)
        clock = {"initial": 1_000} if self._number % 3 == 0 else None
        made = await client.new_game(self._number, self._number, token=f"game {self._number}", clock=clock)
        assert self.game_id in (None, made["game_id"])
        self.game_id = made["game_id"]
        await self._catch_up(client)
        while True:
            await self._move(client)

    async def _catch_up(self, client: Client) -> None:
        """Find the first move that was not acknowledged; a client that sends single moves needs no such request."""
        if self._window == 1:
            return
        there = (await client.ask("state", game_id=self.game_id, brief=True))["state"]["ply_index"]
        check(self, there)
        self.acknowledged = there

    async def _move(self, client: Client) -> None:
        plies = range(self.acknowledged, self.acknowledged + self._window)
        self.sent = max(self.sent, plies.stop)
        await client.send(*(self._request(ply) for ply in plies))
        for ply in plies:
            reply = await client.receive()
            if reply.get("code") == "shutting_down":
                raise EOFError(reply["error"])
            assert reply["error"] is None, reply
            assert (reply["state"]["ply_index"], reply["state"]["last_move"]) == (ply + 1, SHUFFLE[ply % 4])
            self.acknowledged = ply + 1
            self.moved.set()
            self._killer.acknowledged()

    def _request(self, ply: int) -> Json:
        seat = "black" if ply % 2 else "white"
        move = SHUFFLE[ply % 4]
        return {"kind": "move", "game_id": self.game_id, "seat": seat, "move": move, "ply": ply, "brief": True}


def check(player: Player, there: int) -> None:
    """Assert that every acknowledged move is there, and no move that was not sent."""
    assert player.acknowledged <= there <= player.sent, (player.game_id, player.acknowledged, there, player.sent)


@contextmanager
def database(directory: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(directory / "games.sqlite")
    try:
        yield connection
    finally:
        connection.close()


def check_log(directory: Path, players: list[Player]) -> None:
    """Check the log itself through SQLite alone: it is whole, without gaps, and as long as its games say."""
    with database(directory) as log:
        assert log.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        torn = """SELECT game_id FROM games LEFT JOIN events USING (game_id) GROUP BY game_id
                  HAVING count(seq) != games.events OR max(seq) != games.events - 1"""
        assert log.execute(torn).fetchall() == []
        assert log.execute(
            "SELECT count(*) FROM events WHERE game_id NOT IN (SELECT game_id FROM games)"
        ).fetchone() == (0,)
        for player in players:
            if player.game_id is not None:
                rows = log.execute("SELECT event FROM events WHERE game_id = ? ORDER BY seq", [player.game_id])
                happened = [json.loads(event) for (event,) in rows]
                assert happened[0]["event"] == "created", "the game itself was acknowledged"
                moves = [event["move"] for event in happened if event["event"] == "moved"]
                assert moves == list(islice(cycle(SHUFFLE), len(moves)))
                check(player, len(moves))


@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.nightly)])
async def test_every_acknowledged_move_survives_every_kill(kills: int, tmp_path: Path) -> None:
    await crash(tmp_path, SIGKILL, -SIGKILL, cases(kills))


@pytest.mark.slow
async def test_stop_signal_under_load_loses_nothing_and_exits_with_status_0(tmp_path: Path) -> None:
    await crash(tmp_path, SIGTERM, 0, cases(1))


async def crash(directory: Path, signal: int, status: int, kills: int) -> None:
    """End a daemon so many times with a signal, and check its log each time."""
    killer = Killer(random.Random("kill"))
    players = [Player(number, killer) for number in range(1, CLIENTS + 1)]
    with trio.fail_after(kills * PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            for player in players:
                nursery.start_soon(player.play)
            for kill in range(kills):
                serving = served("--data", str(directory))
                daemon = await trio.to_thread.run_sync(serving.__enter__)
                # The last signal comes only when every client has played, however early the others came.
                after = [player.moved for player in players] if kill == kills - 1 else []
                assert await killer.kill(daemon, signal, after) == status
                await trio.to_thread.run_sync(serving.__exit__, None, None, None)
                check_log(directory, players)
            nursery.cancel_scope.cancel()
