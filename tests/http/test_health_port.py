"""The health port always answers how the daemon is, and nothing else."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
import trio

from gmd.daemon import Daemon, HttpAddressError
from gmd.http.probes import MAX_CONNECTIONS
from tests.helpers import running_daemon
from tests.http.helpers import http_client, open_http, scrape
from tests.serving import served

HALF_HEAD = b"GET /healthz HTTP/1.1\r\n"


@asynccontextmanager
async def probed(**settings: Any) -> AsyncIterator[tuple[Daemon, httpx.AsyncClient]]:
    """Yield a daemon with a health port, and a client of that port."""
    async with (
        running_daemon(health_port=0, **settings) as daemon,
        http_client(daemon.health_port) as client,
    ):
        yield daemon, client


@pytest.mark.parametrize("http", [False, True])
async def test_health_port_answers_only_health_and_metrics_even_without_http(http: bool) -> None:
    async with probed(http=http, http_port=0) as (daemon, client):
        assert (daemon.http is not None) == http
        response = await client.get("/healthz")
        assert (response.status_code, response.json()) == (200, {"status": "ok", "reason": None})
        metrics = await scrape(client)
        assert metrics.value("gmd_connections", port="health") == 1
        assert (metrics.value("gmd_connections", port="http") is not None) == http
        for path in ("/api/version", "/schema", "/", "/api/games/1/color"):
            response = await client.get(path)
            assert (response.status_code, response.json()) == (
                404,
                {"error": f"{path}: no such path; this port has /healthz and /metrics", "code": "not_found"},
            )


async def test_without_the_setting_there_is_no_health_port() -> None:
    async with running_daemon(http=True, http_port=0) as daemon:
        assert (daemon.health_addresses, daemon.health_port) == ([], None)


async def test_health_port_requires_the_token_for_metrics() -> None:
    async with probed(metrics_token="secret") as (_, client):
        assert (await client.get("/metrics")).status_code == 401
        response = await client.get("/metrics", headers={"Authorization": "Bearer secret"})
        assert response.status_code == 200
        assert (await client.get("/healthz")).status_code == 200


async def test_health_port_without_a_token_gives_metrics_to_its_machine_alone() -> None:
    async with probed() as (_, client):
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})).status_code == 401


async def test_health_port_answers_while_every_other_connection_is_taken() -> None:
    settings = {"max_connections": 1, "http": True, "http_port": 0, "http_max_connections": 1}
    async with probed(**settings) as (daemon, client), AsyncExitStack() as stack:
        for _ in range(3):
            for stream in (await open_http(daemon), await trio.open_tcp_stream("127.0.0.1", daemon.port)):
                stack.push_async_callback(trio.aclose_forcefully, stream)
        for _ in range(3):
            assert (await client.get("/healthz")).status_code == 200


async def test_incomplete_heads_on_the_health_port_make_room_for_probes() -> None:
    async with probed() as (daemon, client), AsyncExitStack() as stack:
        assert daemon.health_port is not None
        for _ in range(2 * MAX_CONNECTIONS):
            stream = await trio.open_tcp_stream("127.0.0.1", daemon.health_port)
            stack.push_async_callback(trio.aclose_forcefully, stream)
            await stream.send_all(HALF_HEAD)
        assert (await client.get("/healthz")).status_code == 200
        assert (await scrape(client)).value("gmd_connections", port="health") is not None


async def test_address_in_use_is_reported_with_the_setting() -> None:
    async with probed() as (daemon, _):
        with pytest.raises(HttpAddressError, match=r"^cannot listen on 127.0.0.1:[0-9]+ for health: .*--health-port"):
            async with running_daemon(health_port=daemon.health_port):
                pass


@pytest.mark.slow
async def test_gmd_serve_prints_the_address_of_its_health_port() -> None:
    with served("--health-port", "0") as daemon:
        (line,) = [line for line in daemon.lines if line.startswith("Health on ")]
        address = line.removeprefix("Health on ").removesuffix(": /healthz, /metrics")
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
            assert (await client.get("/healthz")).json() == {"status": "ok", "reason": None}
        assert daemon.stop(signal.SIGTERM) == 0
