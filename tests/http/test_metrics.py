"""``/metrics``: the metrics and their values."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import structlog
import trio
import trio.testing
from trio.testing import MockClock

from gmd import __version__
from gmd.http.service import watch_lag
from gmd.net.metrics import Metrics
from tests.helpers import Client, connected
from tests.http.helpers import http_daemon, scrape

FOOLS_MATE = ("f3", "e5", "g4", "Qh4#")


async def test_requests_are_counted_by_kind_and_code() -> None:
    async with http_daemon() as (daemon, client):
        async with connected(daemon) as session:
            await session.new_game()
            await session.ask("move", game_id=1, player=1, move="e4")
            await session.ask("move", game_id=1, player=1, move="d4")
            await session.ask("state", game_id=7)
            await session.ask("nonsense")
            await session.ask("move", game_id=1)
            await session.send_bytes(b"\0\0\0\2{]")
            await session.receive()
            await session.send_bytes(b"\0\0\0\0")
            await session.receive()
            assert await session.closed()
        found = await scrape(client)
        assert found.labelled("gmd_requests_total") == {
            ("ok", "hello"): 1,
            ("ok", "new_game"): 1,
            ("ok", "move"): 1,
            ("not_your_turn", "move"): 1,
            ("no_such_game", "state"): 1,
            ("unknown_kind", "none"): 1,
            ("bad_request", "move"): 1,
            ("bad_json", "none"): 1,
            ("bad_frame", "none"): 1,
        }
        assert found.value("gmd_requests_total", kind="ping", code="ok") == 0
        # The bad frame is no request and has no latency.
        assert found.value("gmd_request_duration_seconds_count") == 8
        assert found.value("gmd_request_duration_seconds_bucket", le="+Inf") == 8


async def test_request_with_a_failed_commit_is_counted_once_with_the_code_of_its_reply(tmp_path: Path) -> None:
    async with http_daemon(data=str(tmp_path)) as (daemon, client), connected(daemon) as session:
        await session.new_game()
        with closing(sqlite3.connect(tmp_path / "games.sqlite")) as other:
            other.execute("ALTER TABLE events RENAME TO away")
        with structlog.testing.capture_logs():
            reply = await session.ask("move", game_id=1, player=1, move="e4")
        assert reply["code"] == "internal"
        found = await scrape(client)
        assert found.labelled("gmd_requests_total") == {
            ("ok", "hello"): 1,
            ("ok", "new_game"): 1,
            ("internal", "move"): 1,
        }
        assert found.value("gmd_log_commit_failures_total") == 1
        assert found.value("gmd_log_writable") == 0


@pytest.mark.parametrize("in_memory", [True, False], ids=["in memory", "on disk"])
async def test_live_games_exclude_finished_ones_even_after_a_restart(in_memory: bool, tmp_path: Path) -> None:
    data = ":memory:" if in_memory else str(tmp_path)
    async with http_daemon(data=data) as (daemon, client):
        async with connected(daemon) as session:
            for _ in range(3):
                await session.new_game()
            await session.play(1, *FOOLS_MATE)
            await session.play(2, "e4")
            await session.new_game(pgn="1. f3 e5 2. g4 Qh4#")
            await session.ask("end_game", game_id=1, player=1, termination="resignation_white")
        found = await scrape(client)
        assert (found.value("gmd_games_live"), found.value("gmd_games_in_memory")) == (2, 4)
        assert found.value("gmd_log_commit_games_count") == (0 if in_memory else 9)
        assert found.value("gmd_log_commit_games_sum") == (0 if in_memory else 9)
        assert found.value("gmd_log_commit_duration_seconds_count") == (0 if in_memory else 9)
    if not in_memory:
        async with http_daemon(data=data) as (daemon, client):
            found = await scrape(client)
            assert (found.value("gmd_games_live"), found.value("gmd_games_in_memory")) == (2, 0)
            async with connected(daemon) as session:
                await session.ask("end_game", game_id=2, player=1, termination="resignation_white")
            assert (await scrape(client)).value("gmd_games_live") == 1


async def test_connections_and_sessions_are_counted() -> None:
    async with http_daemon(max_connections=2) as (daemon, client):
        async with connected(daemon) as first, connected(daemon):
            async with connected(daemon, hello=False) as third:
                assert (await third.receive())["code"] == "too_many"
                assert await third.closed()
            found = await scrape(client)
            assert found.value("gmd_sessions") == 2
            assert found.value("gmd_connections", port="http") == 1
            assert found.value("gmd_connections_refused_total", port="game") == 1
            await first.send_bytes(b"\0\0\0\0")
            await first.receive()
            assert await first.closed()
        while daemon.session_server.connections:
            await trio.testing.wait_all_tasks_blocked()
        found = await scrape(client)
        assert (found.value("gmd_sessions"), found.value("gmd_connections", port="game")) == (0, 0)
        assert found.labelled("gmd_sessions_ended_total") == {("2", "bad_frame"): 1, ("2", "client_closed"): 1}


async def test_bytes_are_counted_including_frame_headers() -> None:
    async with http_daemon() as (daemon, client), connected(daemon, hello=False) as session:
        await session.send_bytes(b'\0\0\0\x0f{"kind":"ping"}')
        assert await session.receive() == {"error": None}
        found = await scrape(client)
        assert found.value("gmd_received_bytes_total") == 19
        assert found.value("gmd_sent_bytes_total") == 4 + len('{"error":null}')


async def test_memory_and_cut_off_connections_are_counted() -> None:
    async with http_daemon(max_memory=1 << 20) as (daemon, client), connected(daemon) as first:
        await first.new_game()
        async with connected(daemon) as second:
            await first.send_bytes((500_000).to_bytes(4, "big") + b" " * 100_000)
            while daemon.memory.held < 100_000:
                await trio.testing.wait_all_tasks_blocked()
            found = await scrape(client)
            assert found.value("gmd_memory_bytes", what="connections") == daemon.memory.held
            assert found.value("gmd_memory_bytes", what="games") == daemon.arbiter.games_bytes > 0
            assert found.value("gmd_connections_cut_off_total") == 0
            await second.send_bytes((500_000).to_bytes(4, "big") + b" " * 499_000)
            assert (await second.receive())["code"] == "too_many"
        found = await scrape(client)
        assert found.value("gmd_connections_cut_off_total") == 1
        assert found.value("gmd_sessions_ended_total", protocol="2", reason="too_many") == 1


async def test_metrics_show_the_version_and_the_process() -> None:
    async with http_daemon() as (_, client):
        found = await scrape(client)
        assert [labels for labels in found.labelled("gmd_build_info") if __version__ in labels]
        assert (found.value("gmd_process_open_fds") or 0) > 0
        assert found.value("gmd_log_writable") == 1


async def test_sessions_of_the_operator_are_counted_like_others(tmp_path: Path) -> None:
    async with http_daemon(data=str(tmp_path)) as (daemon, client), connected(daemon):
        operator = Client(await trio.open_unix_socket(str(tmp_path / "operator.sock")))
        assert (await operator.ask("hello"))["error"] is None
        found = await scrape(client)
        assert found.value("gmd_sessions") == 2
        ports = {port: found.value("gmd_connections", port=port) for port in ("game", "operator", "http")}
        assert ports == {"game": 1, "operator": 1, "http": 1}
        assert found.value("gmd_connections_refused_total", port="operator") == 0
        await operator.aclose()


async def test_format_is_the_one_that_the_scraper_accepts() -> None:
    openmetrics = "application/openmetrics-text; version=1.0.0"
    async with http_daemon() as (_, client):
        for accept in (openmetrics, "text/plain;version=0.0.4", "text/plain;version=what?", "*/*"):
            response = await client.get("/metrics", headers={"accept": accept})
            expected = openmetrics if accept == openmetrics else "text/plain; version=0.0.4"
            assert response.status_code == 200
            assert response.headers["content-type"].startswith(f"{expected}; charset=utf-8")
            assert response.text.endswith("# EOF\n") == (accept == openmetrics)


async def test_lag_of_the_event_loop_is_measured(autojump_clock: MockClock) -> None:
    lag = Metrics().loop_lag
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_lag, lag)
        await trio.sleep(10)
        nursery.cancel_scope.cancel()
    assert sum(lag.counts) > 1


async def test_two_daemons_in_one_process_count_separately() -> None:
    async with http_daemon() as (one, client), http_daemon() as (_, other_client):
        async with connected(one):
            pass
        assert (await scrape(client)).value("gmd_requests_total", kind="hello", code="ok") == 1
        assert (await scrape(other_client)).value("gmd_requests_total", kind="hello", code="ok") == 0
