"""``/healthz`` answers 200 while games can be played, and 503 with the reason while they cannot."""

from __future__ import annotations

import resource
from pathlib import Path

import httpx
import trio

from tests.event_log.test_faults import limit
from tests.helpers import Client
from tests.http.helpers import http_client, http_daemon
from tests.serving import served

#: A number of states that, left unread, fill every buffer between a daemon and its client.
MANY = 30_000


async def test_daemon_that_can_play_is_healthy() -> None:
    async with http_daemon() as (_, client):
        response = await client.get("/healthz")
        assert (response.status_code, response.json()) == (200, {"status": "ok", "reason": None})
        assert response.headers["cache-control"] == "no-store"


async def test_health_of_a_stopping_daemon_is_stopping_until_its_sessions_have_ended() -> None:
    stopping = trio.Event()

    async def serve(task_status: trio.TaskStatus[tuple[int, int]]) -> None:
        async with http_daemon(stop_timeout=60) as (daemon, _):
            assert daemon.http_port is not None
            task_status.started((daemon.port, daemon.http_port))
            await stopping.wait()

    async with trio.open_nursery() as nursery:
        port, http_port = await nursery.start(serve)
        client = Client(await trio.open_tcp_stream("127.0.0.1", port))
        await client.ask("hello")
        await client.send({"kind": "new_game", "player_white": 1, "player_black": 2})
        async with trio.open_nursery() as asking:
            asking.start_soon(client.send, *[{"kind": "state", "game_id": 1}] * MANY)  # and reads no reply
            await trio.testing.wait_all_tasks_blocked(0.05)
            stopping.set()
            async with http_client(http_port) as http:
                while (response := await http.get("/healthz")).status_code == 200:
                    pass  # the daemon does not know yet
            asking.cancel_scope.cancel()
        assert response.status_code == 503
        assert response.json() == {
            "status": "stopping",
            "reason": "the daemon is finishing the requests in progress and takes no new ones",
        }
        await client.aclose()


async def test_daemon_with_a_full_disk_is_unhealthy_and_recovers_without_requests(tmp_path: Path) -> None:
    with served("--data", str(tmp_path), "--http", "--http-port", "0") as daemon:
        address = daemon.http
        client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
        await client.ask("hello")
        async with httpx.AsyncClient(base_url=address, trust_env=False) as http:
            assert (await http.get("/healthz")).status_code == 200
            limit(daemon, 1)
            assert (await client.ask("new_game", player_white=1, player_black=2))["code"] == "internal"
            response = await http.get("/healthz")
            assert response.status_code == 503
            assert response.json()["status"] == "log_failing"
            assert response.json()["reason"].startswith("the event log cannot be written: OperationalError: ")
            assert "gmd_log_writable 0.0" in (await http.get("/metrics")).text
            limit(daemon, resource.RLIM_INFINITY)
            with trio.fail_after(60):
                while (response := await http.get("/healthz")).status_code == 503:
                    pass
            assert response.json() == {"status": "ok", "reason": None}
            assert "gmd_log_writable 1.0" in (await http.get("/metrics")).text
        assert (await client.ask("new_game", player_white=1, player_black=2))["error"] is None
        await client.aclose()
