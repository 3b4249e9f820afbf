"""``deploy/standby``: HAProxy takes its configuration, and leads clients to the one of two daemons that serves."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from gm_client.trio_client import Client
from gmd.config import Config
from tests.helpers import Client as BareClient
from tests.postgres import Postgres, own_postgres, require_postgres
from tests.serving import reserved_port
from tests.standby.slots import Slot, open_slots
from tests.tools import require_module, require_tool

STANDBY = Path(__file__).parents[2] / "deploy" / "standby"
CONFIGURATION = STANDBY / "haproxy.cfg"
COMPOSE = STANDBY / "compose.yaml"
#: The lines of the configuration that name a daemon: their ports follow the daemon's address.
SERVER = re.compile(r"server (one|two) [\d.]+:(\d+)")
#: Seconds after which a test counts as hung, and for which a client tries again.
PATIENCE = 120
#: Moves without an end.
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
#: An address of a client that is not the balancer's.
ELSEWHERE = "127.0.0.2"


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = require_module("yaml").safe_load(COMPOSE.read_text("utf-8"))["services"]
    return found


def address(service: dict[str, Any]) -> str:
    return str(service["networks"]["inside"]["ipv4_address"])


@pytest.mark.slow
def test_haproxy_takes_the_configuration() -> None:
    haproxy = require_tool("haproxy", "-v")
    checked = subprocess.run([haproxy, "-c", "-f", CONFIGURATION], capture_output=True, text=True, check=False)
    assert (checked.returncode, "WARNING" in checked.stderr) == (0, False), checked.stderr


def test_compose_file_and_configuration_agree() -> None:
    found = services()
    text = CONFIGURATION.read_text("utf-8")
    addresses = {name: address(found[name]) for name in ("one", "two")}
    for port in (7100, 7180):
        for name, host in addresses.items():
            assert f"server {name} {host}:{port}" in text
    for name in addresses:
        daemon = found[name]
        assert daemon["environment"]["GMD_TRUSTED_PROXIES"] == address(found["balancer"])
        assert f"check port {daemon['environment']['GMD_HEALTH_PORT']} " in text
        assert (STANDBY / daemon["build"]["context"] / daemon["build"]["dockerfile"]).resolve().is_file()
        names = {each.removeprefix("GMD_").lower() for each in daemon["environment"]}
        assert names <= set(Config.__struct_fields__)
    assert set(found["balancer"]["ports"]) == {f"{port}:{port}" for port in re.findall(r"bind :(\d+)", text)}


def configuration(http_ports: dict[str, int], slots: dict[str, Slot], ports: dict[str, int]) -> str:
    """Return the configuration with addresses of this machine.

    :param http_ports: the daemons' ports for HTTP, by their names in the configuration.
    :param ports: the balancer's, by those in the configuration.
    """

    def server(found: re.Match[str]) -> str:
        port = slots[found[1]].port if found[2] == "7100" else http_ports[found[1]]
        health = f" port {slots[found[1]].health_port}" if found[2] == "7100" else ""
        return f"server {found[1]} 127.0.0.1:{port}{health}"

    text = SERVER.sub(server, CONFIGURATION.read_text("utf-8"))
    return re.sub(r"bind :(\d+)", lambda found: f"bind 127.0.0.1:{ports[found[1]]}", text)


@contextmanager
def balancing(file: Path) -> Iterator[None]:
    with subprocess.Popen([require_tool("haproxy", "-v"), "-db", "-f", file], stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


@pytest.fixture
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def health(slot: Slot, status: int) -> dict[str, Any]:
    """Return what a daemon's health port says, once its status is the one given."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{slot.health_port}") as client:
        while True:
            try:
                reply = await client.get("/healthz")
            except httpx.TransportError:
                await trio.lowlevel.checkpoint()
            else:
                if reply.status_code == status:
                    found: dict[str, Any] = reply.json()
                    return found


async def ready(http: httpx.AsyncClient) -> None:
    """Return once the balancer has a daemon."""
    while (await http.get("/healthz")).status_code != 200:
        await trio.lowlevel.checkpoint()


def stop(slot: Slot) -> None:
    assert slot.stop() == 0


def freeze(slot: Slot) -> None:
    slot.pause()


@pytest.mark.slow
@pytest.mark.parametrize("fail", [pytest.param(stop, marks=pytest.mark.nightly), freeze])
async def test_client_of_the_balancer_goes_on_in_its_game_at_the_standby(
    server: Postgres, tmp_path: Path, stack: ExitStack, fail: Callable[[Slot], None]
) -> None:
    ports = {name: stack.enter_context(reserved_port()) for name in ("7100", "7180")}
    http_ports = {name: stack.enter_context(reserved_port()) for name in ("one", "two")}
    async with open_slots(server, server.new_database(), tmp_path, 2) as slots:
        named = {"one": slots[0], "two": slots[1]}
        (tmp_path / "haproxy.cfg").write_text(configuration(http_ports, named, ports))
        with trio.fail_after(PATIENCE), balancing(tmp_path / "haproxy.cfg"):
            for name, status in (("one", 200), ("two", 503)):
                proxy = ("--trusted-proxies", "127.0.0.1", "--proxy-protocol")
                named[name].start(*proxy, "--http", "--http-port", str(http_ports[name]))
                found = await health(named[name], status)
            assert found["status"] == "standby"
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports['7180']}") as http:
                await ready(http)
                assert (await http.get("/", headers={"accept": "text/html"})).status_code == 200
                assert (await http.get("/metrics")).status_code == 404
                await check_address(ports["7100"], named["one"])
                await play_over_a_takeover(ports["7100"], partial(fail, named["one"]))
                await ready(http)
            await check_address(ports["7100"], named["two"])


async def check_address(port: int, slot: Slot) -> None:
    """Check that a daemon sees a client's address, and not the balancer's."""
    stream = trio.SocketStream(socket := trio.socket.socket())
    await socket.bind((ELSEWHERE, 0))
    await socket.connect(("127.0.0.1", port))
    client = BareClient(stream)
    await client.ask("hello")
    peer = f"{ELSEWHERE}:{socket.getsockname()[1]}"
    await client.aclose()
    while peer not in slot.log.read_text():
        await trio.lowlevel.checkpoint()


async def play_over_a_takeover(port: int, fail: Callable[[], None]) -> None:
    """Play a game by the balancer, and have the daemon that serves fail in the middle."""
    players = [Client("127.0.0.1", port, patience=PATIENCE, player=player) for player in (1, 2)]
    async with players[0], players[1]:
        game_id = (await players[0].new_game(1, 2, draws="claimed"))["game_id"]
        for ply in range(20):
            if ply == 10:
                await trio.to_thread.run_sync(fail)
            await players[ply % 2].move(game_id, SHUFFLE[ply % 4], ply=ply)
        history = await players[0].history(game_id)
        assert history["moves"] == [SHUFFLE[number % 4] for number in range(20)]
