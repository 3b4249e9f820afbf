"""``deploy/cluster``: HAProxy takes its configuration, and passes games and pages on to two daemons on one database."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import trio

from tests.cluster.members import PATIENCE
from tests.cluster.test_daemons import Daemons
from tests.helpers import Client
from tests.serving import Served, reserved_port, served
from tests.tools import require_module, require_tool

CLUSTER = Path(__file__).parents[2] / "deploy" / "cluster"
CONFIGURATION = CLUSTER / "haproxy.cfg"
COMPOSE = CLUSTER / "compose.yaml"
VARIABLES = {"GMD_DNS": "127.0.0.11:53", "GMD_NAME": "gmd", "GMD_BIND": "*"}
TEMPLATE = re.compile(r'server-template gmd 1-16 "\$\{GMD_NAME\}:(\d+)"')


def test_haproxy_takes_the_configuration() -> None:
    haproxy = require_tool("haproxy", "-v")
    command = [str(haproxy), "-c", "-f", str(CONFIGURATION)]
    checked = subprocess.run(command, env=os.environ | VARIABLES, capture_output=True, text=True, check=False)
    assert (checked.returncode, "WARNING" in checked.stderr) == (0, False), checked.stderr


def test_compose_file_and_configuration_agree() -> None:
    yaml = require_module("yaml")
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    text = CONFIGURATION.read_text("utf-8")
    daemon, balancer = services["gmd"], services["balancer"]
    assert set(re.findall(r"\$\{(\w+)\}", text)) == balancer["environment"].keys() == VARIABLES.keys()
    assert balancer["environment"]["GMD_NAME"] in services
    assert daemon["environment"]["GMD_TRUSTED_PROXIES"] == balancer["networks"]["inside"]["ipv4_address"]
    assert f"check port {daemon['environment']['GMD_HEALTH_PORT']} " in text
    assert daemon["deploy"]["replicas"] == 3
    assert set(balancer["ports"]) == {f"{port}:{port}" for port in TEMPLATE.findall(text)}
    assert (CLUSTER / daemon["build"]["context"] / daemon["build"]["dockerfile"]).resolve().is_file()


def test_settings_of_the_compose_file_are_settings_of_gmd() -> None:
    from gmd.config import Config

    yaml = require_module("yaml")
    names = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]["gmd"]["environment"]
    assert {name.removeprefix("GMD_").lower() for name in names} <= set(Config.__struct_fields__)


class Backend(NamedTuple):
    """A daemon behind the balancer.

    :ivar ports: its ports by those that the configuration names.
    """

    daemon: Served
    ports: dict[str, int]


def configuration(backends: Sequence[Backend], ports: dict[str, int]) -> str:
    """Return the configuration with addresses of this machine, as its comment says how.

    :param ports: those of the balancer, by those that the configuration names.
    """
    found = []
    for line in CONFIGURATION.read_text("utf-8").splitlines():
        if template := TEMPLATE.search(line):
            for number, backend in enumerate(backends):
                server = f"server gmd{number} 127.0.0.1:{backend.ports[template[1]]} check port {backend.ports['7181']}"
                found.append(line.replace(template[0], server))
        else:
            found.append(re.sub(r'bind "\$\{GMD_BIND\}:(\d+)"', lambda port: f"bind 127.0.0.1:{ports[port[1]]}", line))
    return "\n".join([*found, ""])


@contextmanager
def balanced(backends: Sequence[Backend], folder: Path, stack: ExitStack) -> Iterator[dict[str, int]]:
    """Run HAProxy before daemons, and yield its ports by those that the configuration names."""
    haproxy = require_tool("haproxy", "-v")
    ports = {name: stack.enter_context(reserved_port()) for name in ("7100", "7180")}
    file = folder / "haproxy.cfg"
    file.write_text(configuration(backends, ports))
    with subprocess.Popen(
        [haproxy, "-db", "-f", file], env=os.environ | VARIABLES, stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield ports
        finally:
            process.terminate()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def backend(url: str, folder: Path, stack: ExitStack) -> Backend:
    health, http = (stack.enter_context(reserved_port()) for _ in range(2))
    proxy = ("--trusted-proxies", "127.0.0.1", "--proxy-protocol")
    ports = ("--health-port", str(health), "--http", "--http-port", str(http), "--link-port", "0")
    daemon = stack.enter_context(served("--database", url, "--data", str(folder), *proxy, *ports))
    return Backend(daemon, {"7100": daemon.port, "7180": http, "7181": health})


async def connected(port: int) -> Client:
    """Connect through the balancer, as soon as it has a daemon."""
    with trio.fail_after(PATIENCE):
        while True:
            try:
                client = Client(await trio.open_tcp_stream("127.0.0.1", port))
                await client.ask("hello")
            except (OSError, AssertionError, trio.BrokenResourceError):
                await trio.lowlevel.checkpoint()
            else:
                return client


async def test_clients_of_the_balancer_play_at_any_daemon_and_during_a_restart(
    database_url: str, tmp_path: Path, stack: ExitStack
) -> None:
    require_tool("haproxy", "-v")
    backends = [backend(database_url, tmp_path / str(number), stack) for number in (1, 2)]
    shared = Daemons(database_url, tmp_path, stack)
    await shared.until(*(each.daemon for each in backends))
    ports = stack.enter_context(balanced(backends, tmp_path, stack))
    white, black = await connected(ports["7100"]), await connected(ports["7100"])
    game_id = (await white.new_game())["game_id"]
    for ply, move in enumerate(("e2e4", "e7e5", "g1f3", "b8c6")):
        reply = await (white, black)[ply % 2].ask("move", game_id=game_id, player=1 + ply % 2, move=move)
        assert reply["error"] is None, reply
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports['7180']}") as http:
        assert (await http.get("/metrics")).status_code == 404
        page = await http.get(f"/games/{game_id}", headers={"accept": "text/html"})
        assert (page.status_code, "gmd_daemon" in page.cookies) == (200, True)
        async with http.stream("GET", "/events", headers={"accept": "text/event-stream"}) as events:
            assert events.status_code == 200
    for client in (white, black):
        await client.aclose()
    assert backends[0].daemon.stop(signal.SIGTERM) == 0
    client = await connected(ports["7100"])
    state = (await client.ask("state", game_id=game_id))["state"]
    assert state["ply_index"] == 4
    assert (await client.ask("move", game_id=game_id, player=1, move="f1b5"))["error"] is None
    await client.aclose()


def test_balancer_tells_the_daemons_where_clients_are() -> None:
    lines = CONFIGURATION.read_text("utf-8").splitlines()
    templates = [line for line in lines if TEMPLATE.search(line)]
    assert [line.endswith("send-proxy-v2") for line in templates] == [True, False]
    assert "    option forwardfor" in lines
