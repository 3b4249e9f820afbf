"""A daemon and its standby: what each shows and answers, and how one takes over from the other."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio
from click.testing import CliRunner

from gmd import Config, open_daemon
from gmd.cli import main
from gmd.event_log.directory import DataError
from tests.helpers import Client
from tests.postgres import Postgres, database_of, own_postgres, replica_of, require_postgres
from tests.serving import SERVE, environment, served
from tests.standby.slots import Slot, Slots, open_slots
from tests.test_socket_activation import handing

#: Seconds after which something that is to happen soon counts as never.
PATIENCE = 120


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


@asynccontextmanager
async def both(server: Postgres, directory: Path) -> AsyncIterator[Slots]:
    """Run a daemon in the first slot, and its standby in the second one."""
    with trio.fail_after(PATIENCE):
        async with open_slots(server, server.new_database(), directory, 2) as slots:
            slots[0].start()
            assert await slots.serving() is slots[0]
            slots[1].start()
            await slots[1].is_standby()
            yield slots


@asynccontextmanager
async def client_of(slot: Slot) -> AsyncIterator[Client]:
    client = Client(await trio.open_tcp_stream("127.0.0.1", slot.port))
    try:
        await client.ask("hello")
        yield client
    finally:
        await client.aclose()


def status(slots: Slots) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(main, ["status", "--json", "--database", slots.url])
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.slow
async def test_standby_has_no_game_port_and_serves_once_the_daemon_has_stopped(
    server: Postgres, tmp_path: Path
) -> None:
    async with both(server, tmp_path) as slots:
        first, second = slots
        assert (await first.probe())[0] == 200
        code, health = await second.probe()
        assert (code, health["status"]) == (503, "standby")
        with pytest.raises(OSError):  # noqa: PT011 (its number differs)
            await trio.open_tcp_stream("127.0.0.1", second.port)
        code, shown = await trio.to_thread.run_sync(status, slots)
        assert code == 0
        assert shown["server"]["addresses"] == f"127.0.0.1:{first.port}"
        assert [each["name"] in health["reason"] for each in shown["standbys"]] == [False]
        assert shown["server"]["name"] in health["reason"] or "another daemon" in health["reason"]
        async with client_of(first) as client:
            game_id = (await client.new_game())["game_id"]
            await client.play(game_id, "e4", "e5")
        assert await trio.to_thread.run_sync(first.stop) == 0
        assert await slots.serving() is second
        assert (await second.probe())[0] == 200
        async with client_of(second) as client:
            await client.play(game_id, "Nf3")
        code, shown = await trio.to_thread.run_sync(status, slots)
        assert (code, shown["standbys"], shown["live_games"]) == (0, [], 1)
        assert await trio.to_thread.run_sync(second.stop) == 0
        assert (await trio.to_thread.run_sync(status, slots))[0] == 1


@pytest.mark.slow
async def test_daemon_that_was_frozen_answers_nothing_from_memory(server: Postgres, tmp_path: Path) -> None:
    """Its clients learn that they must connect again; then it waits as a standby in the same process."""
    async with both(server, tmp_path) as slots:
        first, second = slots
        replies = []
        async with client_of(first) as client:
            game_id = (await client.new_game())["game_id"]
            first.pause()
            await client.send({"kind": "state", "game_id": game_id, "player": 1})
            assert await slots.serving() is second
            async with client_of(second) as other:
                await other.play(game_id, "e4")
            first.go_on()
            while (body := await client.receive_body()) is not None:
                replies.append(json.loads(body))
        assert [reply["code"] for reply in replies] in (["shutting_down"], ["shutting_down"] * 2)
        assert all("state" not in reply for reply in replies)
        await first.is_standby()
        assert await trio.to_thread.run_sync(second.stop) == 0
        assert await slots.serving() is first
        assert await trio.to_thread.run_sync(first.stop) == 0


@pytest.mark.slow
@pytest.mark.parametrize("with_standby", [False, True])
async def test_restart_of_the_database_drops_no_client(server: Postgres, tmp_path: Path, with_standby: bool) -> None:
    async with both(server, tmp_path) as slots:
        if not with_standby:
            assert await trio.to_thread.run_sync(slots[1].stop) == 0
        async with client_of(slots[0]) as client:
            game_id = (await client.new_game(clock={"initial": 600, "increment": 0}))["game_id"]
            await client.play(game_id, "e4", "e5")
            await trio.to_thread.run_sync(server.stop, "immediate")
            await client.send({"kind": "move", "game_id": game_id, "player": 1, "move": "Nf3", "ply": 2})
            await trio.sleep(3)  # longer than the lease
            await trio.to_thread.run_sync(server.start)
            reply = await client.receive()
            if reply.get("code") == "internal":  # it was tried for five seconds
                assert reply["retry_after"] is not None
                reply = await client.ask("move", game_id=game_id, player=1, move="Nf3", ply=2)
            assert reply["state"]["ply_index"] == 3, reply
            await client.play(game_id, "Nc6", white_first=False)


@pytest.mark.slow
async def test_failover_of_the_database_drops_no_client(tmp_path: Path) -> None:
    require_postgres()
    with own_postgres() as primary:
        name = database_of(primary.new_database())
        with replica_of(primary) as replica, trio.fail_after(PATIENCE):
            with psycopg.connect(primary.url("postgres"), autocommit=True) as operator:
                operator.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                operator.execute("SELECT pg_reload_conf()")
            ports = f"{primary.port},{replica.port}"
            url = f"postgresql://gmd@/{name}?host=127.0.0.1,127.0.0.1&port={ports}&target_session_attrs=read-write"
            with served("--database", url, "--data", str(tmp_path)) as daemon:
                async with daemon.client() as client:
                    game_id = (await client.new_game())["game_id"]
                    await client.play(game_id, "e4", "e5")
                    await trio.to_thread.run_sync(primary.stop, "immediate")
                    await client.send({"kind": "move", "game_id": game_id, "player": 1, "move": "Nf3", "ply": 2})
                    await trio.to_thread.run_sync(replica.promote)
                    reply = await client.receive()
                    if reply.get("code") == "internal":  # it was tried for five seconds
                        reply = await client.ask("move", game_id=game_id, player=1, move="Nf3", ply=2)
                    assert reply["state"]["ply_index"] == 3, reply
                    await client.play(game_id, "Nc6", white_first=False)
                assert daemon.stop(signal.SIGTERM) == 0
        primary.start()


@pytest.mark.slow
async def test_inherited_sockets_of_a_standby_accept_and_close(server: Postgres, tmp_path: Path) -> None:
    async with both(server, tmp_path) as slots:
        with (
            socket.create_server(("127.0.0.1", 0)) as listening,
            activated_standby(listening, slots, tmp_path) as process,
        ):
            with socket.create_connection(listening.getsockname(), timeout=PATIENCE) as client:
                assert client.recv(1) == b""
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


def activated_standby(listening: socket.socket, slots: Slots, directory: Path) -> subprocess.Popen[bytes]:
    arguments = ["--database", slots.url, "--data", str(directory / "inherited")]
    command = [*handing([listening], "game"), *SERVE, *arguments]
    return subprocess.Popen(command, env=environment(), pass_fds=[listening.fileno()])


async def test_embedded_daemon_waits_for_its_turn(database_url: str, tmp_path: Path) -> None:
    def config(name: str, **settings: Any) -> Config:
        return Config(database=database_url, data=str(tmp_path / name), port=0, http=False, bots="none", **settings)

    with trio.fail_after(PATIENCE):
        async with open_daemon(config("one")) as one:
            with pytest.raises(DataError, match="is served by"):
                async with open_daemon(config("two", standby=False)):
                    pass
            game = await one.ask("new_game", player_white=1, player_black=2)
        async with open_daemon(config("two", standby=False)) as two:
            assert (await two.ask("state", game_id=game["game_id"], player=1))["state"]["ply_index"] == 0
