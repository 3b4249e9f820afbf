"""The OpenAPI document describes every route, and every answer that a fuzzer finds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.http.helpers import http_daemon
from tests.http.rbc import rbc_table
from tests.http.request_catalogue import described_routes_of
from tests.proofs import cases

#: Games with small ids, which the fuzzer finds.
GAMES = 12


async def test_document_is_the_same_every_time() -> None:
    """By default litestar would invent random examples."""
    documents = []
    for _ in range(2):
        async with http_daemon() as (_, client):
            documents.append((await client.get("/schema")).text)
    assert documents[0] == documents[1]
    assert "examples" not in documents[0]


@pytest.mark.slow
async def test_fuzzer_finds_no_failure_and_no_undescribed_answer(tmp_path: Path) -> None:
    async with rbc_table(max_failures_per_minute=10**6, max_registrations_per_hour=10**6) as table:
        for number in range(GAMES):
            await table.new_game() if number % 2 else await table.ended_game()
        name, key = table.white.auth
        command = [Path(sys.executable).parent / "schemathesis", "run"]
        command += [f"http://127.0.0.1:{table.daemon.http_port}/schema", "--auth", f"{name}:{key}"]
        command += ["--checks", CHECKS, "--max-examples", str(cases(1)), "--seed", "1", "--no-color"]
        done = await trio.run_process(
            [str(part) for part in command],
            check=False,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,  # the fuzzer keeps its findings there
        )
        output = done.stdout.decode()
        assert done.returncode == 0, output
        tested = re.search(r"Tested: (\d+)", output)
        assert tested is not None, output
        assert int(tested[1]) == len(described_routes_of(table.daemon))


#: Checks that are made on every response.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
