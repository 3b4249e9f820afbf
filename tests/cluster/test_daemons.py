"""``gmd serve --database``: several daemons in processes of their own on one PostgreSQL."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
import trio

from gmd.cluster.listening import listen
from gmd.cluster.shards import LOBBY, SHARDS
from tests.cli.commands import gmd
from tests.cluster.members import PATIENCE
from tests.helpers import Client, Json
from tests.postgres import own_postgres, require_postgres
from tests.serving import SERVE, Served, environment, served


class Daemons:
    """Daemons on one database.

    :ivar url: the database's.
    """

    def __init__(self, url: str, directory: Path, stack: ExitStack) -> None:
        self.url = url
        self._directory = directory
        self._stack = stack
        self._numbers = count(1)

    def start(self, *flags: str) -> Served:
        """Start another daemon, with these flags, too."""
        data = self._directory / str(next(self._numbers))
        return self._stack.enter_context(
            served("--database", self.url, "--data", str(data), "--link-port", "0", *flags)
        )

    async def two(self, *flags: str) -> tuple[Served, Served]:
        """Start two daemons one after the other; return when each has its share. The first has the lobby."""
        one = self.start(*flags)
        await self.until(one)
        two = self.start(*flags)
        await self.until(one, two)
        return one, two

    def owners(self) -> dict[int, int | None]:
        """Return the game port of the owner of each shard."""
        with psycopg.connect(self.url) as connection:
            found = connection.execute(
                "SELECT shard, split_part(game, ':', 2)::int FROM shards LEFT JOIN daemons USING (daemon)"
            ).fetchall()
        return dict(found)

    def shares(self) -> dict[int, int]:
        """Return the number of shards of games by the game ports of their owners."""
        owners = [owner for shard, owner in self.owners().items() if shard < LOBBY and owner is not None]
        return {owner: owners.count(owner) for owner in set(owners)}

    async def until(self, *daemons: Served) -> None:
        """Wait until these daemons have all shards, in even shares."""
        wanted = {daemon.port: SHARDS // len(daemons) for daemon in daemons}

        def is_so() -> bool:
            shares = self.shares()
            lobby = self.owners()[LOBBY]
            return (
                shares.keys() == wanted.keys()
                and sum(shares.values()) == SHARDS
                and (max(shares.values()) - min(shares.values()) <= 1 and lobby in wanted)
            )

        changed = trio.Event()

        def note() -> None:
            changed.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen, self.url, {"gmd_shards": note})
            with trio.fail_after(PATIENCE):
                while not is_so():
                    await changed.wait()
                    changed = trio.Event()
            nursery.cancel_scope.cancel()


@pytest.fixture
def daemons(database_url: str, tmp_path: Path) -> Iterator[Daemons]:
    with ExitStack() as stack:
        yield Daemons(database_url, tmp_path, stack)


async def ask_until_done(client: Client, kind: str, **fields: object) -> Json:
    """Ask again while the game moves."""
    with trio.fail_after(PATIENCE):
        while True:
            reply = await client.ask(kind, **fields)
            if reply.get("code") != "moved":
                return reply


async def test_any_client_plays_any_game_at_any_daemon(daemons: Daemons) -> None:
    one, two = await daemons.two()
    async with one.client() as first, two.client() as second:
        games = [(await first.new_game())["game_id"] for _ in range(2)]
        games += [(await second.new_game())["game_id"] for _ in range(2)]
        assert len(set(games)) == 4
        for game_id in games:
            for ply, move in enumerate(("g1f3", "g8f6", "f3g1", "f6g8")):
                reply = await (first, second)[ply % 2].ask("move", game_id=game_id, player=1 + ply % 2, move=move)
                assert reply["state"]["last_move"] == move
    assert one.stop(signal.SIGTERM) == 0
    await daemons.until(two)
    async with two.client() as client:
        for game_id in games:
            assert (await client.ask("state", game_id=game_id))["state"]["ply_index"] == 4
    assert two.stop(signal.SIGTERM) == 0


async def test_stopped_daemon_is_taken_over_and_wakes_up_fenced(daemons: Daemons) -> None:
    one, two = await daemons.two()
    async with one.client() as first, two.client() as second:
        games = [(await first.new_game())["game_id"] for _ in range(4)]
        for game_id in games:
            await first.play(game_id, "g1f3")
        one.process.send_signal(signal.SIGSTOP)
        began = trio.current_time()
        await daemons.until(two)
        seconds = trio.current_time() - began
        # What the stopped daemon reads first when it wakes up: it has the games in memory, and they have moved on.
        for game_id in games:
            reply = await ask_until_done(second, "move", game_id=game_id, player=2, move="g8f6", ply=1)
            assert reply["state"]["last_move"] == "g8f6"
            state, move = {"kind": "state"}, {"kind": "move", "player": 2, "move": "b8c6", "ply": 1}
            await first.send({**state, "game_id": game_id}, {**move, "game_id": game_id})
        one.process.send_signal(signal.SIGCONT)
        answers = await _answers(first)
        for reply in answers:
            if reply["error"] is None:
                assert reply["state"]["last_move"] == "g8f6"  # answered by the owner
        await daemons.until(one, two)
        async with one.client() as again:
            for game_id in games:
                reply = await ask_until_done(again, "state", game_id=game_id)
                assert (reply["state"]["ply_index"], reply["state"]["last_move"]) == (2, "g8f6")
        assert seconds >= 1  # the lease had to run out
    for daemon in (one, two):
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.mark.long
async def test_outage_of_the_database_ends_no_session_and_acknowledges_nothing(tmp_path: Path) -> None:
    require_postgres()
    with own_postgres() as server, ExitStack() as stack:
        daemons = Daemons(server.new_database(), tmp_path, stack)
        one, two = daemons.start(), daemons.start()
        await daemons.until(one, two)
        async with one.client() as first, two.client() as second:
            games = [(await client.new_game())["game_id"] for client in (first, second)]
            server.stop("immediate")
            for client, game_id in zip((first, second), games, strict=True):
                await client.send({"kind": "move", "game_id": game_id, "player": 1, "move": "g1f3", "ply": 0})
            with trio.move_on_after(2.5):  # longer than a lease
                assert (await first.receive())["error"] is not None
                await trio.sleep_forever()
            server.start()
        async with one.client() as first, two.client() as second:
            for client, game_id in zip((second, first), games, strict=True):  # each asks for the other's game
                reply = await ask_until_done(client, "move", game_id=game_id, player=1, move="g1f3", ply=0)
                assert reply["state"]["last_move"] == "g1f3", reply
        assert one.stop(signal.SIGTERM) == 0
        await daemons.until(two)
        assert two.stop(signal.SIGTERM) == 0


async def test_killed_daemon_loses_no_acknowledged_move(daemons: Daemons) -> None:
    one, two = daemons.start(), daemons.start()
    await daemons.until(one, two)
    moves = ("g1f3", "g8f6", "f3g1", "f6g8")
    async with two.client() as second:
        async with one.client() as first:
            games = [(await first.new_game())["game_id"] for _ in range(4)]
            for game_id in games:
                for ply in range(3):
                    reply = await first.ask("move", game_id=game_id, player=1 + ply % 2, move=moves[ply], ply=ply)
                    assert reply["error"] is None
            one.process.kill()
        for game_id in games:
            reply = await ask_until_done(second, "move", game_id=game_id, player=2, move=moves[3], ply=3)
            assert reply["state"]["ply_index"] == 4, reply
    assert two.stop(signal.SIGTERM) == 0


async def test_players_at_two_daemons_invite_each_other_and_play(daemons: Daemons) -> None:
    one, two = daemons.start(), daemons.start()
    await daemons.until(one, two)
    async with one.client() as first, two.client() as second:
        ada, bob = [await client.ask("register", name=name) for client, name in ((first, "ada"), (second, "bob"))]
        assert ada["error"] is None, ada
        assert bob["error"] is None, bob
        for client, account in ((first, ada), (second, bob)):
            reply = await client.ask("hello", protocol=2, player=account["player"], key=account["key"])
            assert reply["error"] is None, reply
        asked = await first.ask("challenge", opponent=bob["player"], color="white", player=ada["player"])
        assert asked["error"] is None, asked
        game_id = asked["game_id"]
        reply = await second.ask("wait", any=True, timeout=30)
        assert reply["state"]["game_id"] == game_id, reply
        assert (await second.ask("accept", game_id=game_id))["error"] is None
        assert (await first.ask("move", game_id=game_id, move="e4"))["error"] is None
        reply = await second.ask("wait", any=True, timeout=30)
        assert reply["state"]["last_move"] == "e2e4", reply
    for daemon in (one, two):
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.mark.long
@pytest.mark.real_start
async def test_rolling_restart_loses_no_game_and_refuses_no_move(daemons: Daemons) -> None:
    live = [daemons.start(), daemons.start()]
    await daemons.until(*live)
    acknowledged: dict[int, int] = {}
    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(_play_on, live, acknowledged)
        for _ in range(2):
            leaving = live.pop(0)
            assert await trio.to_thread.run_sync(leaving.stop, signal.SIGTERM) == 0
            live.append(await trio.to_thread.run_sync(daemons.start))
            await daemons.until(*live)
        nursery.cancel_scope.cancel()
    async with live[0].client() as client:
        for game_id, plies in acknowledged.items():
            assert (await client.ask("state", game_id=game_id))["state"]["ply_index"] - plies in (0, 1)
    for daemon in live:
        assert daemon.stop(signal.SIGTERM) == 0


async def _play_on(live: list[Served], acknowledged: dict[int, int]) -> None:
    """Play game after game, each move at the first of the daemons that are not about to stop; none may be refused."""
    moves = ("g1f3", "g8f6", "f3g1", "f6g8")
    while True:
        daemon = live[0]
        async with daemon.client() as client:
            game_id = (await client.new_game())["game_id"]
            for ply in range(12):
                if live[0] is not daemon:
                    break
                reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=moves[ply % 4], ply=ply)
                assert reply["error"] is None, reply
                acknowledged[game_id] = ply + 1


async def _answers(client: Client) -> list[Json]:
    """Return the replies until the connection is closed."""
    found = []
    with trio.move_on_after(PATIENCE):
        while (body := await client.receive_body()) is not None:
            found.append(json.loads(body))
    return found


@contextmanager
def misplaced(url: str, data: Path) -> Iterator[Iterator[str]]:
    """Run a daemon that names an address at which nobody listens, and give its lines of errors."""
    flags = ("--port", "0", "--link-port", "0", "--reached-at", "127.0.0.2", "--database", url, "--data", str(data))
    with subprocess.Popen([*SERVE, *flags], env=environment(), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr
        finally:
            process.kill()
            process.wait()


async def test_daemon_with_a_wrong_address_says_so_and_stops_nobody(daemons: Daemons, tmp_path: Path) -> None:
    one = daemons.start()
    await daemons.until(one)
    with misplaced(daemons.url, tmp_path / "wrong") as errors:
        said = next(line for line in errors if "the other servers cannot reach this one" in line)
        assert "127.0.0.2:" in said
        assert "--reached-at" in said
        async with one.client() as client:
            assert (await client.ask("register", name="alice"))["error"] is None
        status = json.loads(gmd("status", "--database", daemons.url, "--json").out)
        assert [(each["joining"], each["shards"]) for each in status["daemons"]] == [(False, SHARDS), (True, 0)]
