"""``gmd serve --database``: games in PostgreSQL, which crashes and comes back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from gmd.cli import main
from tests.daemon_bots.test_daemon_bots import bots_of
from tests.helpers import Client
from tests.postgres import Postgres, own_postgres, require_postgres
from tests.proofs import cases
from tests.serving import Served, served
from tests.tools import require_module

pytestmark = pytest.mark.slow

#: Codes of replies while the database is away: not done, and not known to be done.
AGAIN = ("internal",)
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


@pytest.fixture
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


async def play(client: Client, game_id: int, plies: range) -> None:
    for ply in plies:
        reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=SHUFFLE[ply % 4], ply=ply)
        assert reply["state"]["ply_index"] == ply + 1, reply


async def test_games_survive_the_database_and_the_daemon(server: Postgres, tmp_path: Path) -> None:
    settings = ("--database", server.new_database(), "--data", str(tmp_path))
    with served(*settings) as daemon:
        assert any(line.startswith("Games are kept in postgresql://gmd@/test_") for line in daemon.lines)
        async with daemon.client() as client:
            made = await client.ask("new_game", player_white=1, player_black=2, variant="standard")
            game_id = made["state"]["game_id"]
            await play(client, game_id, range(4))
            server.restart("immediate")
            await play(client, game_id, range(4, 8))
            account = await client.ask("register", name="my-bot")
            assert account["player"] >= 2**52
        assert daemon.stop(signal.SIGTERM) == 0
    assert "games.sqlite" not in os.listdir(tmp_path)
    with served(*settings) as daemon:
        async with daemon.client() as client:
            await play(client, game_id, range(8, 10))
            again = await client.ask("settings", player=account["player"], key=account["key"])
            assert (again["player"], again["name"]) == (account["player"], "my-bot")
        assert daemon.stop(signal.SIGTERM) == 0


async def test_bots_are_the_same_at_a_daemon_with_another_data_directory(server: Postgres, tmp_path: Path) -> None:
    """The first one stores the token of its directory, where the games may have been before."""
    url, found = server.new_database(), []
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "bots.token").write_text("geheim\n")
    for name in ("one", "two"):
        with served("--database", url, "--data", str(tmp_path / name), "--bots", "random") as daemon:
            async with daemon.client() as client:
                found.append((await bots_of(client))["random"])
                again = await client.ask("register", name="random", token="geheim")
                found.append(again["player"])
            assert daemon.stop(signal.SIGTERM) == 0
    assert len(set(found)) == 1


class Load:
    """Clients that play a game each, as fast as they can, and repeat what was refused or not known to be done.

    :ivar acknowledged: the plies that each game's client knows to be there.
    """

    def __init__(self, daemon: Served) -> None:
        self._daemon = daemon
        self._enough = trio.Event()
        self._wanted = 0
        self._done = False
        self.acknowledged: dict[int, int] = {}

    async def moves(self, number: int) -> None:
        """Wait until so many more moves are acknowledged."""
        self._enough, self._wanted = trio.Event(), sum(self.acknowledged.values()) + number
        await self._enough.wait()

    def stop(self) -> None:
        self._done = True

    async def play(self) -> None:
        async with self._daemon.client() as client:
            made = await client.ask("new_game", player_white=1, player_black=2, variant="standard", draws="claimed")
            game_id = made["state"]["game_id"]
            self.acknowledged[game_id] = ply = 0
            while not self._done:
                move = {"game_id": game_id, "player": 1 + ply % 2, "move": SHUFFLE[ply % 4], "ply": ply}
                reply = await client.ask("move", **move)
                if reply.get("code") in AGAIN:  # with the same ply it is done at most once
                    continue
                assert reply["state"]["ply_index"] == ply + 1, reply
                ply = self.acknowledged[game_id] = ply + 1
                if sum(self.acknowledged.values()) >= self._wanted:
                    self._enough.set()
            while (history := await client.ask("history", game_id=game_id)).get("code") in AGAIN:
                pass
            assert history["moves"] == [SHUFFLE[number % 4] for number in range(ply)]


async def test_daemon_uses_at_most_ten_connections(server: Postgres, tmp_path: Path) -> None:
    url = server.new_database()
    psycopg = require_module("psycopg")
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'gmd%' AND datname = current_database()"
    counts = []
    with (
        served("--database", url, "--data", str(tmp_path)) as daemon,
        psycopg.connect(url, autocommit=True) as operator,
    ):
        load = Load(daemon)
        async with trio.open_nursery() as nursery, daemon.client() as client:
            for _ in range(4):
                nursery.start_soon(load.play)
            for number in range(20):
                await load.moves(20)
                await client.ask("register", name=f"bot-{number}")
                counts.append(operator.execute(count).fetchone()[0])
            load.stop()
        assert daemon.stop(signal.SIGTERM) == 0
    assert 3 < max(counts) <= 10, counts


async def test_acknowledged_moves_are_there_once_after_each_crash_of_the_database(
    server: Postgres, tmp_path: Path
) -> None:
    settings = ("--database", server.new_database(), "--data", str(tmp_path), "--max-plies", "20000")
    with served(*settings) as daemon:
        load = Load(daemon)
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(load.play)
            for _ in range(cases(1)):
                await load.moves(100)
                await trio.to_thread.run_sync(server.restart, "immediate")
            await load.moves(100)
            load.stop()
        assert daemon.stop(signal.SIGTERM) == 0
    done = CliRunner().invoke(main, ["check", *settings[:2]])
    assert (done.exit_code, done.stdout.partition(" with ")[0]) == (0, "4 games")
