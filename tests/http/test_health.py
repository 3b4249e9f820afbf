"""``/healthz`` answers 200 while games can be played, and 503 with the reason while they cannot."""

from __future__ import annotations

import resource
from pathlib import Path

import httpx
import pytest
import trio

from tests.event_log.test_faults import limit
from tests.helpers import Client
from tests.serving import served


@pytest.mark.slow
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
