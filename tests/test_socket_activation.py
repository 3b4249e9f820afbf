"""Sockets handed to ``gmd serve`` by whoever starts it, and what it tells that one, as systemd does these things."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gm_protocol.framing import encode_frame
from gmd import Config
from gmd.cli.systemd import inherited_sockets
from tests.clients.running import NEW_GAME, PATIENCE, PING, gmcat, replies
from tests.clients.scripted import ScriptedServer
from tests.serving import SERVE, START_SECONDS, STOP_SECONDS, Served, environment, reserved_port, served
from tests.tools import require_tool

#: Puts descriptors where a service expects them, 3 and up, and says so in the environment of the process that it
#: becomes. Arguments: how many, their numbers, their names, and the command.
HAND_DOWN = """
import os, sys
count = int(sys.argv[1])
given = [os.dup(int(number)) for number in sys.argv[2 : 2 + count]]
for place, descriptor in enumerate(given, 3):
    os.dup2(descriptor, place + 100, inheritable=True)
for place in range(3, 3 + count):
    os.dup2(place + 100, place, inheritable=True)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": sys.argv[2 + count]}
os.execvp(sys.argv[3 + count], sys.argv[3 + count :])
"""


def handing(sockets: Sequence[socket.socket], names: str) -> list[str]:
    """The program that hands sockets to the command behind it."""
    numbers = [str(each.fileno()) for each in sockets]
    return [sys.executable, "-c", HAND_DOWN, str(len(numbers)), *numbers, names]


def activated(
    *sockets: socket.socket, names: str = "game", arguments: Sequence[str] = (), env: dict[str, str] | None = None
) -> AbstractContextManager[Served]:
    """A daemon that is given these sockets."""
    numbers = [each.fileno() for each in sockets]
    return served(*arguments, env=env, prefix=handing(sockets, names), pass_fds=numbers)


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield listener


def where(listener: socket.socket) -> ScriptedServer:
    return ScriptedServer(*listener.getsockname())


def test_it_serves_on_the_socket_it_is_given_and_on_no_other(listening: socket.socket) -> None:
    with activated(listening, arguments=["--host", "203.0.113.1"]) as daemon:
        assert daemon.port == where(listening).port
        assert len([line for line in daemon.lines if "listening" in line]) == 1
        assert gmcat(daemon, PING).returncode == 0
        assert daemon.stop(signal.SIGTERM) == 0


def test_it_may_be_given_several_and_those_of_the_http_side_are_not_the_game_s(listening: socket.socket) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as second,
        socket.create_server(("127.0.0.1", 0)) as http,
        activated(listening, http, second, names="game:http:gmd.socket") as daemon,
    ):
        ports = [str(where(each).port) for each in (listening, second)]
        assert [line.rpartition(":")[2] for line in daemon.lines[:2]] == ports
        for each in (listening, second):
            assert gmcat(where(each), PING).returncode == 0


@pytest.mark.parametrize("ipv6", [False, True], ids=["IPv4", "IPv6"])
def test_a_restart_refuses_nobody(ipv6: bool, tmp_path: Path) -> None:
    """Who connects while nobody serves waits in the socket, which does not go with the daemon."""
    try:
        listening = socket.create_server(
            ("::1" if ipv6 else "127.0.0.1", 0), family=socket.AF_INET6 if ipv6 else socket.AF_INET, backlog=128
        )
    except OSError:
        pytest.skip("this machine has no ::1")
    server = ScriptedServer(*listening.getsockname()[:2])
    data = ["--data", str(tmp_path)]
    with listening:
        with activated(listening, arguments=data) as first:
            assert replies(gmcat(server, NEW_GAME))[0]["game_id"] == 1
            assert first.stop(signal.SIGTERM) == 0
        for restart in (1, 2):
            early = [asked(server, f'{{"kind":"state","game_id":{restart}}}') for _ in range(100)]
            early.append(asked(server, NEW_GAME))
            with activated(listening, arguments=data) as daemon:
                assert [answer(each)["error"] for each in early] == [None] * 101
                assert daemon.stop(signal.SIGTERM) == 0


def asked(server: ScriptedServer, request: str) -> socket.socket:
    """A connection on which a request has been sent, whether anybody serves or not."""
    connection = socket.create_connection((server.host, server.port), PATIENCE)
    connection.sendall(encode_frame(request.encode()))
    return connection


def answer(connection: socket.socket) -> dict[str, Any]:
    """The reply of a version 1 session."""
    with connection, connection.makefile("rb") as stream:
        body = stream.read()[4:]
    reply: dict[str, Any] = json.loads(body)
    return reply


def test_sessions_begun_before_a_restart_go_on_behind_it(listening: socket.socket, tmp_path: Path) -> None:
    """They are closed, between two frames; connecting again works at once, and nothing acknowledged is gone."""
    move = '{"kind":"move","game_id":1,"player":1,"move":"e4","ply":0,"brief":true}'
    data = ["--data", str(tmp_path)]
    with activated(listening, arguments=data) as daemon:
        gmcat(daemon, NEW_GAME)
        session = asked(where(listening), '{"kind":"hello"}')
        session.sendall(encode_frame(move.encode()))
        daemon.process.send_signal(signal.SIGTERM)
        with session, session.makefile("rb") as stream:
            stream.read()  # whatever was answered, up to the end of the connection
        assert daemon.process.wait(STOP_SECONDS) == 0
    again = asked(where(listening), move)
    with activated(listening, arguments=data):
        assert answer(again)["state"]["ply_index"] == 1


@contextmanager
def usual_ports_taken() -> Iterator[None]:
    """Hold the ports that a daemon takes if nothing else is said, unless somebody holds them already."""
    with ExitStack() as held:
        for port in (Config().port, Config().http_port):
            with suppress(OSError):
                held.enter_context(socket.create_server((Config().host, port)))
        yield


def test_systemd_s_own_activation_starts_it_at_the_first_connection() -> None:
    activate = require_tool("systemd-socket-activate", "--version")
    # It hands on no other variable than those that it is told.
    settings = [f"--setenv={name}" for name in environment() if name.startswith("GMD_")]
    pipe = subprocess.PIPE
    with usual_ports_taken(), reserved_port() as port:
        server = ScriptedServer("127.0.0.1", port)
        command = [activate, f"--listen={server.host}:{port}", "--fdname=game", *settings, *SERVE]
        with subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe, text=True) as process:
            try:
                assert process.stderr is not None
                assert process.stderr.readline().startswith("Listening on ")
                assert gmcat(server, PING).returncode == 0
                process.send_signal(signal.SIGTERM)
                assert process.wait(STOP_SECONDS) == 0
            finally:
                process.kill()
                process.communicate()


def test_sockets_for_another_process_are_left_alone() -> None:
    with served(env={"LISTEN_PID": "1", "LISTEN_FDS": "1"}) as daemon:
        assert gmcat(daemon, PING).returncode == 0


def test_the_environment_tells_nobody_else_of_them() -> None:
    variables = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "0", "LISTEN_FDNAMES": "", "HOME": "/"}
    assert inherited_sockets(variables) == ([], [])
    assert variables == {"HOME": "/"}


@pytest.mark.parametrize("kind", ["not listening", "udp", "unix", "file"])
def test_a_descriptor_of_another_kind_is_said_in_a_line(kind: str, tmp_path: Path) -> None:
    other = {
        "not listening": lambda: socket.socket(),
        "udp": lambda: socket.socket(type=socket.SOCK_DGRAM),
        "unix": lambda: _listening_at(tmp_path / "socket"),
        "file": lambda: (tmp_path / "file").open("w"),
    }[kind]()
    with other:
        command = [*handing([other], "game"), *SERVE]
        run = subprocess.run(
            command,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            pass_fds=[other.fileno()],
        )
    assert run.returncode == 1
    reason = ": Socket operation on non-socket" if kind == "file" else " is not a listening TCP socket: "
    said = f"Error: LISTEN_FDS: descriptor 3{reason}"
    assert run.stderr.splitlines()[-1].startswith(said)


def _listening_at(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """What systemd listens on for words from a service, and its name as the service is told it."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@gmd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(name.replace("@", "\0"))
        listener.settimeout(PATIENCE)
        yield listener, name


def test_it_says_when_it_is_ready_and_when_it_stops(manager: tuple[socket.socket, str]) -> None:
    listener, name = manager
    with served(env={"NOTIFY_SOCKET": name}) as daemon:
        assert listener.recv(100) == b"READY=1"
        assert gmcat(daemon, PING).returncode == 0
        daemon.process.send_signal(signal.SIGTERM)
        assert listener.recv(100) == b"STOPPING=1"
        assert daemon.process.wait(STOP_SECONDS) == 0


def test_a_manager_that_is_gone_keeps_nobody_from_being_served(tmp_path: Path) -> None:
    with served(env={"NOTIFY_SOCKET": str(tmp_path / "none")}) as daemon:
        assert gmcat(daemon, PING).returncode == 0
