"""``gmd serve`` for an operator: the process starts, prints its address, and stops on a signal."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
import trio

from gmd import __version__
from gmd.config import SERVED
from gmd.daemon import HttpAddressError
from gmd.net.listening import CannotListen, reachable
from tests.cli.commands import gmd
from tests.helpers import Client, running_daemon
from tests.serving import SERVE, START_SECONDS, STOP_SECONDS, Served, environment, served
from tests.tls import Certificates

#: Some of the longest work that one request can cause; it must not delay the stop.
LONG_PGN = "Nf3 Nf6 Ng1 Ng8 " * 500

SIGNALS = [signal.SIGTERM, signal.SIGINT]

#: The command as the daemon prints it: by its path, unless the shell finds it.
GMCAT = "gmcat" if shutil.which("gmcat") else str(Path(sys.executable).parent / "gmcat")


async def connect(port: int, host: str = "127.0.0.1") -> Client:
    return Client(await trio.open_tcp_stream(host, port))


def test_daemon_prints_where_it_listens_and_what_to_try(daemon_process: Served) -> None:
    assert daemon_process.lines == [
        f"gmd {__version__} listening on 127.0.0.1:{daemon_process.port}",
        "Games are kept in memory only: they are lost when the daemon stops.",
        f"""Try: {GMCAT} --server 127.0.0.1:{daemon_process.port} """
        """'{"kind": "new_game", "player_white": 1, "player_black": 2}'""",
    ]


def run_first_command(daemon: Served) -> str:
    """Run the command that the daemon suggests, in a shell and another folder; return what it prints."""
    command = daemon.lines[-1].removeprefix("Try: ")
    done = subprocess.run(command, shell=True, cwd="/", capture_output=True, text=True, timeout=START_SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_suggested_command_works_from_any_folder_however_the_daemon_is_started(
    daemon_process: Served, tmp_path: Path, certificates: Certificates
) -> None:
    assert '"game_id":' in run_first_command(daemon_process)
    with served("--host", "0.0.0.0") as daemon:
        assert '"game_id":' in run_first_command(daemon)
    with served("--host", "127.0.0.9") as daemon:
        assert '"game_id":' in run_first_command(daemon)
    with served(*certificates.flags, "--data", "secret", cwd=tmp_path) as daemon:
        assert '"game_id":' in run_first_command(daemon)
    registered = ("--require-registration", "--data", str(tmp_path / "data"))
    for name in ("my-bot", "my-bot-1"):
        with served(*registered) as daemon:
            assert f'"name":"{name}","key":' in run_first_command(daemon)
    with served(*registered, "--max-registrations-per-hour", "0") as daemon:
        assert re.fullmatch(r"[\w-]{43}\n", run_first_command(daemon))


def test_daemon_that_nobody_could_play_on_does_not_start() -> None:
    """Only the operator may register players here, and without a data directory there is no operator's socket."""
    ran = gmd("serve", "--require-registration", "--max-registrations-per-hour", 0, "--data", ":memory:", "--port", 0)
    assert (ran.status, ran.out) == (2, "")
    assert "max_registrations_per_hour: with 0 only the operator can register" in " ".join(ran.err.split())


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [SIGNALS, (signal.SIGINT, signal.SIGTERM)])
async def test_daemon_finishes_requests_in_progress_before_it_stops_however_many_signals_come(
    first: signal.Signals, second: signal.Signals
) -> None:
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
        for number in (first, second):
            daemon.process.send_signal(number)
        assert (await player.receive())["game_id"] == 2
        assert (await player.receive())["state"]["turn"] == "white"  # the wait ends as at its timeout
        assert (await half.receive())["code"] == "shutting_down"
        for client in (player, idle, half):
            assert await client.closed()
            await client.aclose()
        assert daemon.process.wait(STOP_SECONDS) == 0


@pytest.mark.slow
async def test_daemon_binds_its_old_port_at_once() -> None:
    host, port = "127.0.0.3", 0  # an address where no other process takes the port meanwhile
    for _ in range(2):
        with served("--host", host, "--port", str(port)) as daemon:
            assert port in (0, daemon.port)
            port = daemon.port
            client = await connect(port, host)
            await client.ask("hello")
            daemon.process.send_signal(signal.SIGTERM)
            assert await client.closed()  # the server closes first, and so its address lingers
            await client.aclose()
            assert daemon.process.wait(STOP_SECONDS) == 0


@pytest.mark.slow
async def test_settings_come_from_flags_the_environment_and_a_file(tmp_path: Path) -> None:
    """A flag may name the file; a variable that is no setting causes a warning, without its value."""
    wrong, right = tmp_path / "wrong.toml", tmp_path / "gmd.toml"
    wrong.write_text("max_wait = -1\n", "utf-8")
    right.write_text("max_wait = 1\nmax_message = 5000\nidle_timeout = 7\n", "utf-8")
    variables = {"GMD_MAX_WAIT": "2", "GMD_MAX_MESSAGE": "6000", "GMD_CONFIG": str(wrong), "GMD_LOG_FORMAT": "json"}
    with served("--config", str(right), "--max-wait", "3", env={**variables, "GMD_PORTT": "secret"}) as daemon:
        client = await connect(daemon.port)
        limits = (await client.ask("hello"))["limits"]
        assert (limits["max_wait_seconds"], limits["max_message"], limits["idle_seconds"]) == (3.0, 6000, 7.0)
        await client.aclose()
        daemon.process.terminate()
        _, said = daemon.process.communicate(timeout=STOP_SECONDS)
    warnings = [line for line in map(json.loads, said.splitlines()) if line["level"] == "warning"]
    assert [(line["variable"], line["advice"]) for line in warnings] == [("GMD_PORTT", "did you mean GMD_PORT?")]
    assert "secret" not in said


@pytest.mark.parametrize(
    ("arguments", "variables", "error"),
    [
        (["--port", "70000"], {}, "port: 70000 from the command line cannot be used: Expected `int` <= 65535"),
        ([], {"GMD_PORT": "http"}, "GMD_PORT: 'http' is not a whole number"),
        (["--config", "none.toml"], {}, "config: none.toml cannot be read: No such file or directory"),
        (["--idle-timeout", "nan"], {}, "idle_timeout: nan from the command line cannot be used: "),
        (["--port", "http"], {}, "Invalid value for '--port': 'http' is not a valid integer."),
    ],
    ids=str,
)
def test_wrong_setting_is_reported_in_one_line(arguments: list[str], variables: dict[str, str], error: str) -> None:
    ran = gmd("serve", *arguments, env=variables)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.splitlines()[-1].startswith(f"Error: {error}")


@pytest.mark.parametrize(
    "host", ["203.0.113.1", "256.256.256.256", "no such name", "a..b", "x" * 70, "/tmp/socket"], ids=repr
)
async def test_unusable_address_is_refused(host: str) -> None:
    with pytest.raises(CannotListen):
        async with running_daemon(host=host):
            pass


@pytest.mark.slow
def test_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = [*SERVE, "--port", str(port)]
        run = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=START_SECONDS)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines()[-1] == (
        f"Error: cannot listen on 127.0.0.1:{port}: Address already in use. "
        "Name another port with --port (0 takes a free one), or an address of this machine with --host"
    )
    assert "Traceback" not in run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_daemon_prints_addresses_that_others_can_open_and_stops_while_clients_stay(host: str) -> None:
    with served("--http", "--http-port", "0", "--host", host) as daemon:
        port, shown = int(daemon.http.rpartition(":")[2]), reachable(host)
        assert ip_address(shown).is_loopback == (host == "127.0.0.1" or reachable("0.0.0.0") == "127.0.0.1")
        assert daemon.lines[:3] == [
            f"Play and watch in a browser: http://{shown}:{port}/",
            f"gmd {__version__} listening on {shown}:{daemon.port}",
            f"HTTP on http://{shown}:{port}: reconchess's API, /metrics, /healthz",
        ]
        await (await trio.open_tcp_stream(shown, daemon.port)).aclose()
        async with httpx.AsyncClient(trust_env=False) as browser:
            page = await browser.get(f"http://{shown}:{port}/")
            assert page.headers["content-type"] == "text/html; charset=utf-8"
        streams = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(3)]
        _, half, answered = streams
        await half.send_all(b"POST /healthz HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n")
        await answered.send_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
        assert (await answered.receive_some()).startswith(b"HTTP/1.1 200")
        assert daemon.stop(signal.SIGTERM) == 0  # waits STOP_SECONDS at most
        for stream in streams:
            await stream.aclose()


@pytest.mark.slow
async def test_http_may_have_an_address_of_its_own() -> None:
    with served("--http", "--http-port", "0", "--host", "127.0.0.7", "--http-host", "127.0.0.8") as daemon:
        assert (daemon.host, daemon.http.rpartition(":")[0]) == ("127.0.0.7", "http://127.0.0.8")


@pytest.mark.slow
def test_daemon_without_pages_prints_no_address_of_them() -> None:
    with served("--http", "--http-port", "0", "--no-pages") as daemon:
        assert daemon.lines[0].startswith("gmd ")


def test_http_is_on_unless_it_is_turned_off() -> None:
    assert SERVED.http


@pytest.mark.slow
async def test_failed_start_on_a_port_in_use_frees_the_other_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(HttpAddressError) as caught:
            async with running_daemon(http=True, http_port=taken):
                pass
        assert str(caught.value) == (
            f"cannot listen on 127.0.0.1:{taken} for HTTP: Address already in use. "
            "Name another port with --http-port (0 takes a free one), or do without: --no-http"
        )
        with pytest.raises(CannotListen, match="Address already in use"):
            async with running_daemon(http=True, http_port=0, port=taken):
                pass


@pytest.mark.slow
def test_http_packages_are_loaded_only_when_http_is_on() -> None:
    code = """
import sys, trio
from gmd import Config, open_daemon

async def main():
    for http in (False, True):
        async with open_daemon(Config(data=":memory:", port=0, http=http, http_port=0)):
            print(*sys.modules)

trio.run(main)
"""
    run = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    without, behind = ({name.split(".")[0] for name in line.split()} for line in run.stdout.splitlines())
    packages = {"litestar", "h11", "prometheus_client"}
    assert (packages & without, packages & behind) == (set(), packages)


@pytest.mark.slow
@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
async def test_daemon_listens_on_ipv6_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    with served("--host", "::1") as daemon:
        assert daemon.lines[0] == f"gmd {__version__} listening on [::1]:{daemon.port}"
        client = await connect(daemon.port, "::1")
        assert (await client.ask("ping")) == {"error": None}
        await client.aclose()


@pytest.mark.slow
def test_daemon_prints_the_link_for_those_who_may_register_and_where_to_watch() -> None:
    settings = ("--host", "0.0.0.0", "--http", "--http-port", "0", "--spectate", "live", "--spectator-key", "sesame")
    with served(*settings, env={"GMD_INVITE": "spring term"}) as daemon:
        assert f"Players register here: {daemon.http}/register?invite=spring%20term" in daemon.lines
        watch = f"Live games are shown in full to everybody who shows the spectator_key, on {daemon.http}/sign-in"
        assert watch in daemon.lines
    ran = gmd("serve", "--invite", "spring term", "--max-registrations-per-hour", 0, "--port", 0)
    assert (ran.status, "leave one of them out" in " ".join(ran.err.split())) == (2, True)


@pytest.mark.slow
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
