"""``gmd serve`` for an operator: the process starts, prints its address, and stops on a signal."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import trio

from gmd import __version__
from gmd.config import SERVED
from gmd.daemon import HttpAddressError
from tests.cli.commands import gmd
from tests.helpers import Client, running_daemon
from tests.serving import SERVE, START_SECONDS, STOP_SECONDS, Served, environment, served

#: Some of the longest work that one request can cause; it must not delay the stop.
LONG_PGN = "Nf3 Nf6 Ng1 Ng8 " * 500

#: The advice where the daemon cannot listen on an address.
ADVICE = ". Name another port with --port (0 takes a free one), or an address of this machine with --host"

SIGNALS = [signal.SIGTERM, signal.SIGINT]


async def connect(port: int) -> Client:
    return Client(await trio.open_tcp_stream("127.0.0.1", port))


def refused(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Return the exit status of a daemon that does not start, and the last line of its standard error."""
    run = subprocess.run(
        [*SERVE, *arguments], env=environment(env), capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    return run.returncode, run.stderr.splitlines()[-1]


#: The command as the daemon prints it: by its path from here, unless the shell finds it.
GMCAT = "gmcat" if shutil.which("gmcat") else os.path.relpath(Path(sys.executable).parent / "gmcat")


def test_daemon_prints_where_it_listens_and_what_to_try() -> None:
    with served() as daemon:
        assert daemon.port > 0
        assert daemon.lines == [
            f"gmd {__version__} listening on 127.0.0.1:{daemon.port}",
            "Games are kept in memory only: they are lost when the daemon stops.",
            f"""Try: {GMCAT} --port {daemon.port} '{{"kind": "new_game", "player_white": 1, "player_black": 2}}'""",
        ]


def run_first_command(daemon: Served) -> str:
    """Run in a shell the command that the daemon suggests; return what it prints."""
    command = daemon.lines[-1].removeprefix("Try: ")
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=START_SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_suggested_command_works_when_players_must_register(tmp_path: Path) -> None:
    with served() as daemon:
        assert '"game_id":1' in run_first_command(daemon)
    with served("--require-registration") as daemon:
        assert '"name":"my-bot","key":' in run_first_command(daemon)
    with served("--require-registration", "--max-registrations-per-hour", "0", "--data", str(tmp_path)) as daemon:
        assert re.fullmatch(r"[\w-]{43}\n", run_first_command(daemon))


def test_daemon_that_nobody_could_play_on_does_not_start() -> None:
    """Only the operator may register players here, and without a data directory there is no operator's socket."""
    ran = gmd("serve", "--require-registration", "--max-registrations-per-hour", 0, "--data", ":memory:", "--port", 0)
    assert (ran.status, ran.out) == (2, "")
    assert "max_registrations_per_hour: with 0 only the operator can register" in " ".join(ran.err.split())


@pytest.mark.parametrize("number", SIGNALS)
def test_daemon_stops_on_a_signal(number: signal.Signals) -> None:
    with served() as daemon:
        assert daemon.stop(number) == 0
        assert daemon.process.stderr is not None
        said = daemon.process.stderr.read()
        started = f"version={__version__} data=:memory: addresses=['127.0.0.1:{daemon.port}'] tls=False http=[]"
        assert [" ".join(line.split("] ", 1)[1].split()) for line in said.splitlines()] == [
            f"started {started}",
            f"stopping: finishing the requests in hand signal={number.name}",
            "stopped",
        ]


@pytest.mark.parametrize("second", SIGNALS)
@pytest.mark.parametrize("first", SIGNALS)
def test_daemon_stops_once_however_many_signals_it_gets(first: signal.Signals, second: signal.Signals) -> None:
    for _ in range(3):
        with served() as daemon:
            daemon.process.send_signal(first)
            assert daemon.stop(second) == 0


@pytest.mark.parametrize("number", SIGNALS)
async def test_daemon_finishes_requests_in_progress_before_it_stops(number: signal.Signals) -> None:
    with served() as daemon:
        player, idle, half = [await connect(daemon.port) for _ in range(3)]
        for client in (player, idle, half):
            await client.ask("hello", player=2)
        await half.send_bytes(b"\0\0")
        await player.send(
            {"kind": "new_game", "player_white": 1, "player_black": 2, "pgn": LONG_PGN, "brief": True},
            {"kind": "new_game", "player_white": 1, "player_black": 2, "brief": True},
            {"kind": "wait", "game_id": 2, "brief": True},
        )
        assert (await player.receive())["state"]["ply_index"] == 2_000
        daemon.process.send_signal(number)
        assert (await player.receive())["game_id"] == 2
        assert (await player.receive())["state"]["turn"] == "white"  # the wait ends as at its timeout
        assert (await half.receive())["code"] == "shutting_down"
        for client in (player, idle, half):
            assert await client.closed()
            await client.aclose()
        assert daemon.process.wait(STOP_SECONDS) == 0


async def test_daemon_stops_in_time_when_clients_stay_and_a_second_signal_comes() -> None:
    with served() as daemon:
        clients = [await connect(daemon.port) for _ in range(20)]
        for client in clients:
            await client.ask("hello")
        daemon.process.send_signal(signal.SIGINT)
        assert await clients[0].closed()
        assert daemon.stop(signal.SIGTERM) == 0  # waits STOP_SECONDS at most
        for client in clients:
            await client.aclose()


async def test_daemon_binds_its_old_port_at_once() -> None:
    host, port = "127.0.0.3", 0  # an address where no other process takes the port meanwhile
    for _ in range(3):
        with served("--host", host, "--port", str(port)) as daemon:
            assert port in (0, daemon.port)
            port = daemon.port
            client = Client(await trio.open_tcp_stream(host, port))
            await client.ask("hello")
            daemon.process.send_signal(signal.SIGTERM)
            assert await client.closed()  # the server closes first, and so its address lingers
            await client.aclose()
            assert daemon.process.wait(STOP_SECONDS) == 0


async def test_settings_come_from_flags_the_environment_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gmd.toml"
    file.write_text("max_wait = 1\nmax_message = 5000\nidle_timeout = 7\n", "utf-8")
    variables = {"GMD_MAX_WAIT": "2", "GMD_MAX_MESSAGE": "6000", "GMD_CONFIG": str(file)}
    with served("--max-wait", "3", env=variables) as daemon:
        client = await connect(daemon.port)
        limits = (await client.ask("hello"))["limits"]
        assert (limits["max_wait_seconds"], limits["max_message"], limits["idle_seconds"]) == (3.0, 6000, 7.0)
        await client.aclose()


def test_misspelt_variable_causes_a_warning() -> None:
    with served(env={"GMD_PORTT": "secret", "GMD_MAX_WAIT": "2", "GMD_LOG_FORMAT": "json"}) as daemon:
        daemon.process.terminate()
        _, said = daemon.process.communicate(timeout=STOP_SECONDS)
    warnings = [line for line in map(json.loads, said.splitlines()) if line["level"] == "warning"]
    assert [(line["variable"], line["advice"]) for line in warnings] == [("GMD_PORTT", "did you mean GMD_PORT?")]
    assert "secret" not in said


async def test_settings_file_may_be_named_by_a_flag(tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.toml", tmp_path / "right.toml"
    wrong.write_text("max_wait = -1\n", "utf-8")
    right.write_text("max_wait = 4\n", "utf-8")
    with served("--config", str(right), env={"GMD_CONFIG": str(wrong)}) as daemon:
        client = await connect(daemon.port)
        assert (await client.ask("hello"))["limits"]["max_wait_seconds"] == 4.0
        await client.aclose()


@pytest.mark.parametrize(
    ("arguments", "variables", "error"),
    [
        (["--port", "70000"], {}, "port: 70000 from the command line cannot be used: Expected `int` <= 65535"),
        ([], {"GMD_PORT": "http"}, "GMD_PORT: 'http' is not a whole number"),
        (["--config", "none.toml"], {}, "config: none.toml cannot be read: No such file or directory"),
        (["--idle-timeout", "nan"], {}, "idle_timeout: nan from the command line cannot be used: "),
        (["--max-wait", "inf"], {}, "max_wait: inf from the command line cannot be used: "),
        (["--port", "http"], {}, "Invalid value for '--port': 'http' is not a valid integer."),
        (["--prot", "1"], {}, "No such option"),
    ],
    ids=str,
)
def test_wrong_setting_is_reported_in_one_line(arguments: list[str], variables: dict[str, str], error: str) -> None:
    status, line = refused(*arguments, env=variables)
    assert status == 2
    assert line.startswith(f"Error: {error}")


@pytest.mark.parametrize(
    "host", ["203.0.113.1", "256.256.256.256", "no such name", "a..b", "x" * 70, "/tmp/socket"], ids=repr
)
def test_unusable_address_is_reported_in_one_line(host: str) -> None:
    status, line = refused("--host", host, "--port", "0")
    assert status == 1
    assert re.fullmatch(f"Error: cannot listen on {re.escape(host)}:0: .+{re.escape(ADVICE)}", line)


def test_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, line = refused("--port", str(port))
    assert (status, line) == (1, f"Error: cannot listen on 127.0.0.1:{port}: Address already in use{ADVICE}")


def test_daemon_prints_where_it_serves_http() -> None:
    with served("--http", "--http-port", "0") as daemon:
        match = re.fullmatch(
            r"HTTP on http://127\.0\.0\.1:(\d+): reconchess's API, /metrics, /healthz", daemon.lines[2]
        )
        assert match
        assert urllib.request.urlopen(f"http://127.0.0.1:{match[1]}/healthz").status == 200
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_daemon_prints_the_address_of_its_pages_first(host: str) -> None:
    with served("--http", "--http-port", "0", "--http-host", host) as daemon:
        said, address = daemon.lines[0].split(": ", 1)
        assert said == "Play and watch in a browser"
        assert address == f"http://127.0.0.1:{daemon.http.rpartition(':')[2]}/"
        assert urllib.request.urlopen(address).headers["content-type"] == "text/html; charset=utf-8"


def test_daemon_without_pages_prints_no_address_of_them() -> None:
    with served("--http", "--http-port", "0", "--no-pages") as daemon:
        assert daemon.lines[0].startswith("gmd ")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{daemon.http}/")


async def test_daemon_stops_in_time_when_http_clients_stay() -> None:
    with served("--http", "--http-port", "0") as daemon:
        port = int(daemon.http.rpartition(":")[2])
        streams = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(3)]
        _, half, answered = streams
        await half.send_all(b"POST /healthz HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n")
        await answered.send_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
        assert (await answered.receive_some()).startswith(b"HTTP/1.1 200")
        assert daemon.stop(signal.SIGTERM) == 0  # waits STOP_SECONDS at most
        for stream in streams:
            await stream.aclose()


def test_http_is_on_unless_it_is_turned_off(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        status, line = refused("--port", "0", env={"GMD_HTTP_PORT": port, "GMD_HTTP": "true"})
        assert (status, line) == (
            1,
            f"Error: cannot listen on 127.0.0.1:{port} for HTTP: Address already in use. "
            "Name another port with --http-port (0 takes a free one), or do without: --no-http",
        )
        with served("--no-http", env={"GMD_HTTP_PORT": port, "GMD_HTTP": "true"}) as daemon:
            assert len(daemon.lines) == 3
    assert SERVED.http


async def test_failed_start_on_a_port_in_use_frees_the_other_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(HttpAddressError):
            async with running_daemon(http=True, http_port=taken):
                pass
        with pytest.raises(OSError, match="Address already in use"):
            async with running_daemon(http=True, http_port=0, port=taken):
                pass


@pytest.mark.parametrize(("http", "loaded"), [("--no-http", False), ("--http", True)])
def test_http_packages_are_loaded_only_when_http_is_on(http: str, loaded: bool) -> None:
    code = f"""
import signal, sys
import gmd.cli.serve as cli

def announce(daemon, config):
    print(*sys.modules)
    signal.raise_signal(signal.SIGTERM)

cli._announce = announce
cli.serve(["--port", "0", "--http-port", "0", {http!r}])
"""
    run = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    packages = {name.split(".")[0] for name in run.stdout.split()}
    assert "gmd" in packages
    assert bool(packages & {"litestar", "hypercorn", "h11", "prometheus_client"}) == loaded


def test_help_names_every_setting_with_its_default_and_variable() -> None:
    run = subprocess.run([*SERVE, "--help"], env=environment(), capture_output=True, text=True, check=True)
    text = " ".join(run.stdout.split())
    assert "--port INTEGER TCP port to listen on; 0 takes a free one. [default: 7100; or GMD_PORT]" in text
    assert "--http / --no-http Serve HTTP, too: reconchess's API, metrics, health. [default: http; or" in text
    assert "--log-format [console|json] Format of the log on standard error" in text
    assert "--max-message INTEGER Largest request, in bytes. [default: 1048576; or GMD_MAX_MESSAGE]" in text


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
async def test_daemon_listens_on_ipv6_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with served("--host", "::1") as daemon:
        assert daemon.lines[0] == f"gmd {__version__} listening on [::1]:{daemon.port}"
        client = Client(await trio.open_tcp_stream("::1", daemon.port))
        assert (await client.ask("ping")) == {"error": None}
        await client.aclose()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "everybody who asks without a player: only this machine can reach the daemon"),
        (("--host", "0.0.0.0"), "nobody: there is no spectator_key"),
        (("--host", "0.0.0.0", "--spectator-key", "sesame"), "everybody who shows the spectator_key"),
    ],
)
def test_daemon_prints_who_may_watch_live_games(arguments: tuple[str, ...], said: str) -> None:
    with served("--spectate", "live", *arguments) as daemon:
        assert f"Live games are shown in full to {said}" in daemon.lines
        assert "sesame" not in "".join(daemon.lines)
