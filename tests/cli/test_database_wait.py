"""A daemon that starts while PostgreSQL is down says so, waits, and gives up with a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import trio

from tests.event_log.test_lost_connections import CuttingProxy
from tests.postgres import Postgres, own_postgres, require_postgres
from tests.serving import SERVE, START_SECONDS, Served, environment, first_lines

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


def started(url: str, data: Path, *flags: str) -> subprocess.Popen[str]:
    command = [*SERVE, "--port", "0", "--database", url, "--data", str(data), *flags]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe, text=True)


async def test_daemon_waits_for_a_database_that_starts_later(server: Postgres, tmp_path: Path) -> None:
    url = server.tcp_url(server.new_database())
    server.stop()
    with started(url, tmp_path, "--database-timeout", "600") as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "waiting for the database" in line, line
            assert "Connection refused" in line, line
            server.start()
            daemon = Served(process, await trio.to_thread.run_sync(first_lines, process))
            async with daemon.client() as client:
                assert (await client.new_game())["game_id"] == 1
            assert daemon.stop(signal.SIGTERM) == 0
        finally:
            process.kill()


async def test_daemon_whose_database_goes_while_it_starts_waits_for_it_again(server: Postgres, tmp_path: Path) -> None:
    url = server.tcp_url(server.new_database())
    with closing(CuttingProxy(str(server.directory / f".s.PGSQL.{server.port}"))) as proxy:
        proxy.cut_request = b"pg_is_in_recovery"
        with started(f"{url.replace(f':{server.port}/', f':{proxy.port}/')}?sslmode=disable", tmp_path) as process:
            try:
                daemon = Served(process, await trio.to_thread.run_sync(first_lines, process))
                assert not proxy.cut_request
                assert daemon.stop(signal.SIGTERM) == 0
            finally:
                process.kill()


def test_daemon_that_waits_stops_at_a_signal(server: Postgres, tmp_path: Path) -> None:
    url = server.tcp_url(server.new_database())
    server.stop()
    with started(url, tmp_path) as process:
        try:
            assert process.stderr is not None
            assert "waiting for the database" in process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            assert process.wait(START_SECONDS) == 0
        finally:
            process.kill()


def test_daemon_gives_up_with_a_sentence(server: Postgres, tmp_path: Path) -> None:
    url = server.tcp_url(server.new_database())
    port = server.port
    server.stop()
    with started(url, tmp_path, "--database-timeout", "0") as process:
        _, errors = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 1
    name = url.rpartition("/")[2]
    assert errors.startswith(
        f"Error: database: postgresql://gmd@127.0.0.1:{port}/{name} cannot be reached: connection failed: "
    ), errors
    assert errors.endswith(
        "Start PostgreSQL, name another --database, or wait for longer with --database-timeout" + os.linesep
    ), errors


def test_refusal_is_not_waited_for(server: Postgres, tmp_path: Path) -> None:
    url = server.tcp_url(server.new_database()) + "_of_nobody"
    with started(url, tmp_path, "--database-timeout", "600") as process:
        _, errors = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 1
    assert "waiting" not in errors
    assert "does not exist" in errors
