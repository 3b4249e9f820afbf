"""Sockets that a service manager hands to ``gmd serve``, and notifications to it, as systemd defines them."""

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
from gmd.cli.systemd import inherited_sockets, notify
from gmd.net.listening import Sockets
from tests.clients.running import NEW_GAME, PATIENCE, PING, gmcat, replies
from tests.clients.scripted import ScriptedServer
from tests.serving import SERVE, START_SECONDS, STOP_SECONDS, Served, environment, reserved_port, served
from tests.tools import require_tool

#: A program that puts descriptors where a service expects them, from 3 up, and announces them in the environment of the
#: process that it becomes. Arguments: their count, their numbers, their names, and the command.
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
    """Return a command that hands sockets to the command appended to it."""
    numbers = [str(each.fileno()) for each in sockets]
    return [sys.executable, "-c", HAND_DOWN, str(len(numbers)), *numbers, names]


def activated(
    *sockets: socket.socket, names: str = "game", arguments: Sequence[str] = (), env: dict[str, str] | None = None
) -> AbstractContextManager[Served]:
    """Run a daemon that is given these sockets."""
    numbers = [each.fileno() for each in sockets]
    return served(*arguments, env=env, prefix=handing(sockets, names), pass_fds=numbers)


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield listener


def where(listener: socket.socket) -> ScriptedServer:
    return ScriptedServer(*listener.getsockname())


@pytest.mark.slow
def test_daemon_may_be_given_several_sockets_and_serves_no_games_on_those_for_http(listening: socket.socket) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as second,
        socket.create_server(("127.0.0.1", 0)) as http,
        activated(listening, http, second, names="game:http:gmd.socket", arguments=["--host", "203.0.113.1"]) as daemon,
    ):
        ports = [str(where(each).port) for each in (listening, second)]
        assert [line.rpartition(":")[2] for line in daemon.lines if " listening on " in line] == ports
        for each in (listening, second):
            assert gmcat(where(each), PING).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "ipv6", [pytest.param(False, id="IPv4"), pytest.param(True, id="IPv6", marks=pytest.mark.nightly)]
)
def test_restart_refuses_no_connection(ipv6: bool, tmp_path: Path) -> None:
    """A connection made while no daemon serves waits in the socket, which outlives the daemon."""
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
    """Return a connection on which a request has been sent, whether a daemon serves or not."""
    connection = socket.create_connection((server.host, server.port), PATIENCE)
    connection.sendall(encode_frame(request.encode()))
    return connection


def answer(connection: socket.socket) -> dict[str, Any]:
    """Return the reply of a version 1 session."""
    with connection, connection.makefile("rb") as stream:
        body = stream.read()[4:]
    reply: dict[str, Any] = json.loads(body)
    return reply


@pytest.mark.slow
def test_client_of_a_session_before_a_restart_continues_after_it(listening: socket.socket, tmp_path: Path) -> None:
    """Its session is closed, between two frames; a new connection works at once, and nothing acknowledged is lost."""
    move = '{"kind":"move","game_id":1,"player":1,"move":"e4","ply":0,"brief":true}'
    data = ["--data", str(tmp_path)]
    with activated(listening, arguments=data) as daemon:
        gmcat(daemon, NEW_GAME)
        session = asked(where(listening), '{"kind":"hello"}')
        session.sendall(encode_frame(move.encode()))
        daemon.process.send_signal(signal.SIGTERM)
        with session, session.makefile("rb") as stream:
            stream.read()  # all replies, up to the end of the connection
        assert daemon.process.wait(STOP_SECONDS) == 0
    again = asked(where(listening), move)
    with activated(listening, arguments=data):
        assert answer(again)["state"]["ply_index"] == 1


@contextmanager
def usual_ports_taken() -> Iterator[None]:
    """Hold the ports that a daemon takes by default, unless another process holds them already."""
    with ExitStack() as held:
        for port in (Config().port, Config().http_port):
            with suppress(OSError):
                held.enter_context(socket.create_server((Config().host, port)))
        yield


@pytest.mark.slow
def test_systemd_activation_starts_the_daemon_at_the_first_connection() -> None:
    activate = require_tool("systemd-socket-activate", "--version")
    # It passes on only the variables that are named to it.
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


def test_variables_of_handed_sockets_are_removed_from_the_environment() -> None:
    variables = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "0", "LISTEN_FDNAMES": "", "HOME": "/"}
    assert inherited_sockets(variables) == Sockets([], [])
    assert variables == {"HOME": "/"}
    assert inherited_sockets({"LISTEN_PID": "1", "LISTEN_FDS": "1"}) == Sockets([], []), "of another process"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["not listening", "unix", "file"])
def test_wrong_descriptor_is_reported_in_one_line(kind: str, tmp_path: Path) -> None:
    other = {
        "not listening": lambda: socket.socket(),
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
    """Yield the socket for a service's notifications to systemd, and its name in the service's environment."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@gmd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(name.replace("@", "\0"))
        listener.settimeout(PATIENCE)
        yield listener, name


@pytest.mark.slow
def test_daemon_notifies_when_it_is_ready_and_when_it_stops(manager: tuple[socket.socket, str]) -> None:
    listener, name = manager
    with served(env={"NOTIFY_SOCKET": name}) as daemon:
        assert listener.recv(100) == b"READY=1"
        assert gmcat(daemon, PING).returncode == 0
        daemon.process.send_signal(signal.SIGTERM)
        assert listener.recv(100) == b"STOPPING=1"
        assert daemon.process.wait(STOP_SECONDS) == 0


def test_notification_without_a_running_manager_is_lost(tmp_path: Path) -> None:
    notify("READY=1", {"NOTIFY_SOCKET": str(tmp_path / "none")})
