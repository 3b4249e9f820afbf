"""The daemon's own log: a line per session, at debug level a line per refusal, and never a secret."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import structlog
import trio

from gm_protocol.framing import encode_frame
from gmd import __version__
from gmd.cli.logs import Sink
from gmd.daemon import Daemon
from tests.helpers import Json, connected, memory_daemon, running_daemon
from tests.serving import Served, served

SECRET = "Xyzzy-9f8e7d6c"

#: Requests of every kind with a secret wherever a client may have put one; most of them are refused.
WITH_SECRETS: list[Json] = [
    {"kind": "hello", "player": 2**52, "key": SECRET, "password": SECRET, "client": SECRET},
    {"kind": "hello", "player": 7, "key": SECRET, "protocol": SECRET},
    {"kind": "hello", "player": 7, "key": SECRET},
    {"kind": SECRET, "key": SECRET},
    {"kind": "new_game", "player_white": 1, "player_black": 2, "token": SECRET, "key": SECRET},
    {"kind": "new_game", "player_white": 1, "player_black": 2, "token": SECRET, "variant": SECRET},
    {"kind": "new_game", "player_white": 1, "player_black": 2, "token": SECRET, SECRET: 1},
    {"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": f"1. {SECRET}", "token": SECRET},
    {"kind": "move", "game_id": 1, "player": 1, "move": SECRET, "key": SECRET},
    {"kind": "move", "game_id": SECRET, "player": 1, "move": "e4", "key": SECRET},
    {"kind": "state", "game_id": 77, "id": SECRET, "key": SECRET},
    {"kind": "wait", "game_ids": [77], "id": SECRET, "key": SECRET},
    {"kind": "games", "status": SECRET, "key": SECRET},
    {"kind": "register", "name": "x", "password": SECRET, "token": SECRET},
]


async def talk(daemon: Daemon, *bodies: bytes) -> tuple[int, bytes]:
    """Send some frames' bodies and no more; return the client's port, and all the bytes of the answer."""
    async with await trio.open_tcp_stream("127.0.0.1", daemon.port) as stream:
        await stream.send_all(b"".join(map(encode_frame, bodies)))
        await stream.send_eof()
        replies = b"".join([part async for part in stream])
        return stream.socket.getsockname()[1], replies


async def test_ended_session_is_one_line_with_its_counts() -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon() as daemon:
            bodies = [b'{"kind":"hello","player":7}', b'{"kind":"ping"}', b'{"kind":"state","game_id":1}']
            port, replies = await talk(daemon, *bodies)
    (ended,) = (line for line in logged if line["log_level"] != "debug")
    assert 0 <= ended.pop("seconds") < 60
    assert ended == {
        "log_level": "info",
        "event": "session ended",
        "reason": "client_closed",
        "peer": f"127.0.0.1:{port}",
        "player": 7,
        "protocol": 2,
        "requests": 3,
        "refusals": 1,
        "bytes_in": sum(map(len, bodies)) + 12,
        "bytes_out": len(replies),
    }


async def test_game_has_one_line_when_it_begins_and_one_when_it_ends(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            ada = await client.ask("register", name="ada", password=SECRET)
            await client.new_game(1, 2, token=SECRET)
            await client.play(1, "f3", "e5", "g4", "Qh4#")
            await client.new_game(3, 4, pgn="1. f3 e5 2. g4 Qh4#")
            await client.new_game(5, None, variant="rbc", clock=None, player=5)
            await client.ask("join", game_id=3, player=ada["player"], key=ada["key"])
            await client.ask("sense", game_id=3, square="e7", player=5)
            await client.new_game(6, ada["player"], player=6)
            await client.new_game(7, None, player=7)
            await client.ask("decline", game_id=5, player=7)
        async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
            # A game that continues does not begin again.
            await client.ask("end_game", game_id=3, player=5, termination="resignation_white")
    lines = [line for line in logged if line["event"] in ("game began", "game ended")]
    assert {line.pop("log_level") for line in lines} == {"info"}
    began = [(line["game_id"], line["variant"], line["white"], line["black"]) for line in lines if "result" not in line]
    assert began == [(1, "standard", 1, 2), (2, "standard", 3, 4), (3, "rbc", 5, "ada")]
    ended = [line for line in lines if "result" in line]
    mate = {"event": "game ended", "variant": "standard", "termination": "victory_black", "result": "0-1", "plies": 4}
    mate["reason"] = "checkmate"
    resigned = {"variant": "rbc", "termination": "resignation_white", "result": "0-1", "plies": 0}
    resigned["reason"] = "resignation"
    withdrawn = {"variant": "standard", "termination": "withdrawn", "result": "*", "plies": 0}
    withdrawn["reason"] = "withdrawn"
    assert ended == [
        {**mate, "game_id": 1, "white": 1, "black": 2},
        {**mate, "game_id": 2, "white": 3, "black": 4},
        {"event": "game ended", "game_id": 5, "white": 7, "black": None, **withdrawn},
        {"event": "game ended", "game_id": 3, "white": 5, "black": "ada", **resigned},
    ]
    assert SECRET not in json.dumps(logged)


async def test_refusals_and_version_1_sessions_are_logged_at_debug_level() -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon() as daemon:
            await talk(daemon, b'{"kind":"hello","player":7}', b'{"kind":"state","game_id":9}', b'{"kind":"what"}')
            await talk(daemon, b'{"kind":"ping"}')
    assert [(line["log_level"], line["event"], line.get("code"), line.get("reason")) for line in logged] == [
        ("debug", "request refused", "no_such_game", None),
        ("debug", "request refused", "unknown_kind", None),
        ("info", "session ended", None, "client_closed"),
        ("debug", "session ended", None, "answered"),
    ]
    assert logged[0] == {
        "log_level": "debug",
        "event": "request refused",
        "kind": "state",
        "code": "no_such_game",
        "game_id": 9,
        "player": 7,
    }


async def test_line_of_a_refusal_has_only_fixed_words_and_numbers() -> None:
    """A refusal's line contains no text of the client's, whatever the client sends."""
    with structlog.testing.capture_logs() as logged:
        async with running_daemon() as daemon:
            for request in WITH_SECRETS:
                await talk(daemon, b'{"kind":"hello"}', json.dumps(request).encode())
                await talk(daemon, json.dumps(request).encode())
            await talk(daemon, SECRET.encode(), b'{"kind":"hello"}')
            async with await trio.open_tcp_stream("127.0.0.1", daemon.port) as stream:
                await stream.send_all(SECRET.encode())  # no frame
                await stream.receive_some()
    refused = [line for line in logged if line["event"] == "request refused"]
    assert len(refused) >= len(WITH_SECRETS)
    for line in refused:
        assert set(line) == {"log_level", "event", "kind", "code", "game_id", "player"}
    assert SECRET not in json.dumps(logged)


def said_by(code: str, *arguments: str) -> str:
    """Return what a separate Python program writes to standard error: a log is configured once in a process's life."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.slow
@pytest.mark.parametrize("log_format", ["console", "json"])
def test_fault_in_a_handler_is_logged_without_the_values_of_variables(log_format: str) -> None:
    code = """
        import sys
        import trio
        from gmd.cli.logs import configure_logs
        from tests.helpers import memory_daemon

        async def main():
            async with memory_daemon() as daemon:
                def broken(*arguments):
                    raise ZeroDivisionError
                daemon.arbiter.log.next_game_id = broken
                client = await daemon.connect()
                reply = await client.ask("new_game", player_white=1, player_black=2, token=sys.argv[2])
                assert reply["code"] == "internal"

        configure_logs(sys.argv[1], "debug")
        trio.run(main)
    """
    text = said_by(code, log_format, SECRET)
    assert "request failed" in text
    assert "Traceback" in text
    assert "ZeroDivisionError" in text
    assert SECRET not in text


@pytest.mark.slow
def test_log_lines_of_libraries_have_the_same_format() -> None:
    code = """
        import logging
        import warnings
        from gmd.cli.logs import configure_logs

        configure_logs("json", "info")
        logging.getLogger("trio.serve_listeners").error("accept returned %s", "EMFILE")
        logging.getLogger("noisy").info("not this")
        warnings.warn("careful")
    """
    error, warning = map(json.loads, said_by(code).splitlines())
    assert error.pop("timestamp")
    assert error == {
        "level": "error",
        "event": "accept returned EMFILE",
        "logger": "trio.serve_listeners",
    }
    assert (warning["level"], warning["logger"]) == ("warning", "py.warnings")
    assert "UserWarning: careful" in warning["event"]


def talk_to(daemon: Served, *bodies: bytes) -> bytes:
    """Send some frames' bodies to a program and no more; return all the bytes of the answer."""
    with socket.create_connection((daemon.host, daemon.port)) as connection:
        connection.sendall(b"".join(map(encode_frame, bodies)))
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def log_of(*arguments: str) -> list[str]:
    """Return the lines that a daemon logs whose client begins a session and is refused something."""
    with served(*arguments) as daemon:
        talk_to(daemon, b'{"kind":"hello"}', b'{"kind":"state","game_id":9}')
        assert daemon.stop(signal.SIGTERM) == 0
        assert daemon.process.stdout is not None
        assert daemon.process.stdout.read() == "", "the log goes to standard error alone"
        assert daemon.process.stderr is not None
        return daemon.process.stderr.read().splitlines()


@pytest.mark.slow
def test_console_format_begins_each_line_with_words() -> None:
    started, ended, stopping, stopped = log_of("--log-format", "console")
    assert f"version={__version__} data=:memory: addresses=['127.0.0.1:" in started
    assert re.match(r"\S+Z \[info     \] session ended +reason=client_closed peer=127\.0\.0\.1:\d+ ", ended)
    assert re.search(r"\[info     \] stopping: finishing the requests in hand +signal=SIGTERM$", stopping)
    assert stopped.split()[-1] == "stopped"


@pytest.mark.slow
def test_json_format_is_one_object_a_line() -> None:
    lines = [json.loads(line) for line in log_of("--log-format", "json", "--log-level", "debug")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line["timestamp"]) for line in lines)
    assert [(line["level"], line["event"]) for line in lines] == [
        ("info", "started"),
        ("debug", "request refused"),
        ("info", "session ended"),
        ("info", "stopping: finishing the requests in hand"),
        ("info", "stopped"),
    ]


@pytest.mark.slow
def test_nothing_below_the_log_level_is_logged() -> None:
    assert log_of("--log-level", "warning") == []


@pytest.mark.slow
def test_log_that_nobody_reads_blocks_nothing_and_reports_its_lost_lines() -> None:
    with served("--log-format", "json", "--log-level", "debug") as daemon:
        bodies = [b'{"kind":"hello"}', *[b'{"kind":"state","game_id":9}'] * 2_000]
        replies = talk_to(daemon, *bodies)  # their log lines are several times what a pipe holds
        assert replies.count(b"no_such_game") == 2_000
        stderr = daemon.process.stderr
        assert stderr is not None
        os.set_blocking(stderr.fileno(), False)
        kept = os.read(stderr.fileno(), 1 << 20).count(b"\n")  # a pipe's whole content
        os.set_blocking(stderr.fileno(), True)
        assert 0 < kept < 2_000
        talk_to(daemon, b"nonsense")
        assert daemon.stop(signal.SIGTERM) == 0
        rest = list(map(json.loads, stderr.read().splitlines()))
    (lost,) = (line for line in rest if line["event"] == "lines of this log could not be written")
    assert lost["level"] == "warning"
    # Two thousand refusals and the end of their session; another refusal and the end of its session; and the lines of
    # the start, the stop and the end of the daemon.
    assert kept + lost["lost"] + len(rest) - 1 == 2_006


@pytest.mark.slow
def test_daemon_without_standard_error_logs_nowhere(tmp_path: Path) -> None:
    with served("--data", str(tmp_path), prefix=("sh", "-c", 'exec "$@" 2>&-', "sh")) as daemon:
        talk_to(daemon, b'{"kind":"hello"}', b'{"kind":"new_game","player_white":1,"player_black":2}')
        assert daemon.stop(signal.SIGTERM) == 0
    assert [file for file in tmp_path.iterdir() if b"session ended" in file.read_bytes()] == []


def test_torn_line_is_ended_before_the_next() -> None:
    reading, writing = os.pipe()
    sink = Sink(writing)
    long = "x" * 1_000_000
    sink.msg(long)
    content = os.read(reading, 1 << 20)
    assert long.encode().startswith(content)
    sink.msg("next")
    os.close(writing)
    assert os.read(reading, 1 << 20).startswith(b"\nnext\n")
    os.close(reading)


@pytest.mark.slow
def test_log_whose_reader_has_gone_blocks_nothing() -> None:
    with served("--log-level", "debug") as daemon:
        assert daemon.process.stderr is not None
        daemon.process.stderr.close()
        replies = talk_to(daemon, b'{"kind":"hello"}', b'{"kind":"state","game_id":9}')
        assert b"no_such_game" in replies
        daemon.process.stderr = None
        assert daemon.stop(signal.SIGTERM) == 0


async def test_embedded_daemon_does_not_configure_structlog() -> None:
    before = structlog.get_config()
    async with memory_daemon() as daemon:
        await daemon.connect()
    assert structlog.get_config() == before


def test_lines_of_several_threads_are_written_whole(tmp_path: Path) -> None:
    threads, lines = 4, 2000
    with (tmp_path / "log").open("w") as log_file, ThreadPoolExecutor(threads) as pool:
        sink = Sink(log_file.fileno())

        def write(name: int) -> None:
            for number in range(lines):
                sink.msg(f"{name} {number}")

        for done in [pool.submit(write, name) for name in range(threads)]:
            done.result()
    written = Counter((tmp_path / "log").read_text().splitlines())
    assert written == Counter(f"{name} {number}" for name in range(threads) for number in range(lines))
