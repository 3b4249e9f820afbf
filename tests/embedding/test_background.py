"""A daemon in a background thread, as seen by the program that starts it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import trio

import gmd
from gmd.daemon import HttpAddressError
from gmd.event_log.opening import open_log
from gmd.tcp.operator import SOCKET_NAME
from tests.helpers import START_FEN, Json

from .leftovers import descriptors, nothing_left_behind, settings, tasks, threads

NEW_GAME: Json = {"player_white": 1, "player_black": 2}


def exchange(port: int, request: Json) -> Json:
    """Send one request on its own connection, as in version 1, and return the reply."""
    body = json.dumps(request).encode()
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rwb") as stream:
        stream.write(struct.pack(">i", len(body)) + body)
        stream.flush()
        reply: Json = json.loads(stream.read(struct.unpack(">i", stream.read(4))[0]))
    return reply


def on_disk(directory: Path, **settings: object) -> gmd.Config:
    return gmd.Config(port=0, data=str(directory), **settings)  # type: ignore[arg-type]


# --- Life cycle -------------------------------------------------------------------------------------------------------


def test_daemon_answers_as_soon_as_it_has_started() -> None:
    with gmd.background_daemon() as daemon:
        assert daemon.addresses == [("127.0.0.1", daemon.port)]
        assert (daemon.http_addresses, daemon.http_port) == ([], None)
        assert exchange(daemon.port, {"kind": "new_game", **NEW_GAME})["game_id"] == 1
    with pytest.raises(ConnectionRefusedError):
        exchange(daemon.port, {"kind": "ping"})


def test_daemon_leaves_nothing_behind_in_the_process() -> None:
    with nothing_left_behind(), gmd.background_daemon() as daemon:
        exchange(daemon.port, {"kind": "new_game", **NEW_GAME})
        daemon.ask("move", player=1, game_id=1, move="e4")


@pytest.mark.slow
def test_daemon_leaves_only_the_games_in_its_data_directory(tmp_path: Path) -> None:
    with gmd.background_daemon(on_disk(tmp_path / "before")) as daemon:
        daemon.ask("new_game", **NEW_GAME)  # modules that are first imported now stay loaded
    with nothing_left_behind():
        with gmd.background_daemon(on_disk(tmp_path / "games")) as daemon:
            daemon.ask("new_game", **NEW_GAME)
            assert (tmp_path / "games" / SOCKET_NAME).is_socket()
        assert sorted(path.name for path in (tmp_path / "games").iterdir()) == ["games.sqlite", "last-commit", "lock"]
        with open_log(str(tmp_path / "games")):
            pass  # the lock is free


@pytest.mark.slow
@pytest.mark.parametrize("data", [":memory:", "games"])
def test_first_daemon_of_a_process_leaves_no_threads(data: str, tmp_path: Path) -> None:
    code = f"""
import gmd, threading
with gmd.background_daemon(gmd.Config(port=0, data={data!r})) as daemon:
    daemon.ask("new_game", player_white=1, player_black=2)
    daemon.ask("games")
print(threading.enumerate() == [threading.main_thread()])
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("True\n", "")


@pytest.mark.slow
def test_http_leaves_nothing_behind() -> None:
    config = gmd.Config(port=0, http_port=0, data=":memory:", http=True)
    with gmd.background_daemon(config):
        pass
    with nothing_left_behind(), gmd.background_daemon(config) as daemon:
        assert daemon.http_port is not None
        with socket.create_connection(("127.0.0.1", daemon.http_port)) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.makefile("rb").readline() == b"HTTP/1.1 200 \r\n"


def test_running_daemon_leaves_the_settings_of_its_host_alone() -> None:
    before = settings()
    with gmd.background_daemon():
        assert settings() == before


@pytest.mark.slow
def test_daemon_closes_while_a_client_is_connected() -> None:
    with nothing_left_behind(), ExitStack() as clients:
        with gmd.background_daemon() as daemon:
            client = clients.enter_context(socket.create_connection(("127.0.0.1", daemon.port)))
            daemon.ask("ping")
        assert client.recv(1) == b""


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), SystemExit(3)])
def test_exception_of_the_block_propagates_and_nothing_stays(error: BaseException) -> None:
    with nothing_left_behind(), pytest.raises(type(error)) as raised, gmd.background_daemon():
        raise error
    assert raised.value is error


def test_ctrl_c_in_the_block_closes_the_daemon() -> None:
    def run() -> None:
        with gmd.background_daemon() as daemon:
            daemon.ask("ping")
            signal.raise_signal(signal.SIGINT)

    with nothing_left_behind(), pytest.raises(KeyboardInterrupt):
        run()


def test_ctrl_c_during_the_start_closes_the_daemon(tmp_path: Path) -> None:
    with gmd.background_daemon(on_disk(tmp_path)):
        pass
    database = sqlite3.connect(tmp_path / "games.sqlite", check_same_thread=False)
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")  # a starting daemon waits for this transaction to end

    def interrupt() -> None:
        while not any(thread.name == "gmd daemon" for thread in threading.enumerate()):
            pass
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        database.close()

    before = threads(), descriptors()
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        gmd.background_daemon(on_disk(tmp_path))
    interrupter.join()
    assert threads() - before[0] == set()
    assert set(descriptors()) <= set(before[1])  # those of the database are closed
    with open_log(str(tmp_path)):
        pass


def test_several_daemons_start_and_run_at_once() -> None:
    def run(count: int) -> list[int]:
        with gmd.background_daemon() as daemon:
            return [exchange(daemon.port, {"kind": "new_game", **NEW_GAME})["game_id"] for _ in range(count)]

    with nothing_left_behind(), ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(12))) == [list(range(1, count + 1)) for count in range(12)]


@pytest.mark.slow
def test_program_that_never_closes_the_daemon_ends(tmp_path: Path) -> None:
    code = f"import gmd\ndaemon = gmd.background_daemon(gmd.Config(port=0, data={str(tmp_path)!r}))\n"
    code += 'print(daemon.ask("new_game", player_white=1, player_black=2)["game_id"])'
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "1\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.sqlite", "last-commit", "lock"]


async def break_it(_: gmd.Daemon) -> None:
    """Provoke a fault of the daemon itself: one of its tasks fails."""

    async def fail() -> None:
        raise trio.ClosedResourceError

    root = trio.lowlevel.current_root_task()
    assert root is not None
    (serving,) = (task for task in tasks(root) if task.name.endswith("BackgroundDaemon._serve"))
    serving.child_nurseries[0].start_soon(fail)


def test_failure_of_the_daemon_is_raised_on_closing() -> None:
    daemon = gmd.background_daemon()
    daemon.run(break_it)
    with pytest.raises(ExceptionGroup) as raised:
        daemon.close()
    assert raised.value.split(trio.ClosedResourceError)[1] is None
    daemon.close()  # the failure has been raised already


def test_failure_of_the_daemon_does_not_hide_the_exception_of_the_block() -> None:
    def run() -> None:
        with gmd.background_daemon() as daemon:
            daemon.run(break_it)
            with contextlib.suppress(gmd.Refused):
                while True:
                    daemon.ask("ping")
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as raised:
        run()
    (note,) = raised.value.__notes__
    assert note.startswith("The daemon had failed: ExceptionGroup(")


# --- Errors at the start ----------------------------------------------------------------------------------------------


def test_port_in_use_is_raised_to_the_caller() -> None:
    with nothing_left_behind(), socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="Address already in use"):
            gmd.background_daemon(gmd.Config(port=port, data=":memory:"))
        with pytest.raises(HttpAddressError, match=f"cannot listen on 127.0.0.1:{port} for HTTP"):
            gmd.background_daemon(gmd.Config(port=0, data=":memory:", http=True, http_port=port))


def test_unusable_data_directory_or_certificate_is_raised_to_the_caller(tmp_path: Path) -> None:
    holder = open_log(str(tmp_path))  # no daemon, because its threads may begin meanwhile
    with holder, nothing_left_behind(), pytest.raises(gmd.DataError, match="is in use by another gmd"):
        gmd.background_daemon(on_disk(tmp_path))
    config = gmd.Config(port=0, data=":memory:", tls_cert=str(tmp_path / "none.pem"), tls_key=str(tmp_path / "no.pem"))
    with nothing_left_behind(), pytest.raises(gmd.ConfigError, match="tls_cert"):
        gmd.background_daemon(config)


# --- Calls without a socket -------------------------------------------------------------------------------------------


def test_ask_returns_the_same_replies_as_the_protocol() -> None:
    with gmd.background_daemon() as daemon:
        game = daemon.ask("new_game", **NEW_GAME)
        assert game["state"]["fen"] == START_FEN
        moved = daemon.ask("move", player=1, game_id=game["game_id"], move="e4")
        over_the_socket = exchange(daemon.port, {"kind": "state", "game_id": 1})
        assert daemon.ask("state", game_id=1) == over_the_socket == moved


def test_refusal_is_raised_with_its_code_and_reply() -> None:
    with gmd.background_daemon() as daemon, pytest.raises(gmd.Refused, match="game_id: there is no game 7") as refused:
        daemon.ask("state", game_id=7)
    assert refused.value.code == "no_such_game"
    assert refused.value.reply == {"code": "no_such_game", "error": str(refused.value)}


def test_request_to_a_closed_daemon_is_refused() -> None:
    with gmd.background_daemon() as daemon:
        pass
    with pytest.raises(gmd.Refused, match="the daemon is closed") as refused:
        daemon.ask("ping")
    assert refused.value.code == "shutting_down"
    daemon.close()  # twice is harmless


def test_many_threads_ask_at_once() -> None:
    with gmd.background_daemon() as daemon, ThreadPoolExecutor(8) as pool:
        made = pool.map(lambda _: daemon.ask("new_game", **NEW_GAME)["game_id"], range(200))
        assert sorted(made) == list(range(1, 201))


def test_move_in_one_thread_ends_a_wait_in_another() -> None:
    with gmd.background_daemon() as daemon, ThreadPoolExecutor(1) as pool:
        daemon.ask("new_game", **NEW_GAME)
        waiting = pool.submit(daemon.ask, "wait", player=2, game_id=1)
        daemon.run(until_watched)
        daemon.ask("move", player=1, game_id=1, move="e4")
        assert waiting.result()["state"]["turn"] == "black"


def test_closing_ends_a_wait_in_another_thread() -> None:
    with ThreadPoolExecutor(1) as pool:
        with gmd.background_daemon() as daemon:
            daemon.ask("new_game", **NEW_GAME)
            waiting = pool.submit(daemon.ask, "wait", player=2, game_id=1)
            daemon.run(until_watched)
        assert waiting.result()["state"]["turn"] == "white"


def test_ctrl_c_ends_a_wait_but_not_the_daemon() -> None:
    with gmd.background_daemon() as daemon:
        daemon.ask("new_game", **NEW_GAME)

        def interrupt() -> None:
            daemon.run(until_watched)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            daemon.ask("wait", player=2, game_id=1)
        thread.join()
        daemon.run(until_unwatched)


def test_run_calls_a_function_with_the_daemon_in_its_thread() -> None:
    async def ply(daemon: gmd.Daemon, game_id: int) -> int:
        assert threading.current_thread().name == "gmd daemon"
        return (await daemon.arbiter.live_game(game_id)).game.now.ply

    with gmd.background_daemon() as daemon:
        daemon.ask("new_game", **NEW_GAME)
        daemon.ask("move", player=1, game_id=1, move="e4")
        assert daemon.run(ply, 1) == 1


def test_operator_ends_games() -> None:
    with gmd.background_daemon() as daemon:
        daemon.ask("new_game", **NEW_GAME)
        ended = daemon.ask_as_operator("end_game", game_id=1, termination="resignation_white")
        assert ended["state"]["result"] == "0-1"


# --- In other programs ------------------------------------------------------------------------------------------------


def test_daemon_runs_inside_asyncio() -> None:
    async def main() -> Json:
        with gmd.background_daemon() as daemon:
            reader, writer = await asyncio.open_connection(*daemon.addresses[0])
            writer.write(b"\0\0\0\x10" + b'{"kind": "ping"}')
            reply: Json = json.loads(await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big")))
            writer.close()
            await writer.wait_closed()
            assert await asyncio.to_thread(daemon.ask, "ping") == reply
        return reply

    assert asyncio.run(main()) == {"error": None}


async def test_daemon_runs_inside_trio() -> None:
    daemon = await trio.to_thread.run_sync(gmd.background_daemon)
    try:
        assert await trio.to_thread.run_sync(daemon.ask, "ping") == {"error": None}
    finally:
        await trio.to_thread.run_sync(daemon.close)


async def until_watched(daemon: gmd.Daemon) -> None:
    """Return when a request waits for game 1."""
    while not daemon.arbiter.watchers.watched(1):
        await trio.lowlevel.checkpoint()


async def until_unwatched(daemon: gmd.Daemon) -> None:
    """Return when no request waits for game 1."""
    while daemon.arbiter.watchers.watched(1):
        await trio.lowlevel.checkpoint()
