"""The OpenAPI document tells the truth: about every route there is, and about every answer that anybody has found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.helpers_proof import proof_size
from tests.http.contract import DOCUMENTED, OPEN
from tests.http.helpers import http_daemon
from tests.http.rbc import rbc_table
from tests.http.request_catalogue import routes_of

#: Requests of the fuzzer's for each route.
EXAMPLES = (3, 200, 20)
#: The routes of the document itself, which it does not describe.
OF_THE_DOCUMENT = {("GET", path) for path in ("/schema", "/schema/openapi.json", "/schema/{path}")}
#: Games with small numbers, which the fuzzer finds.
GAMES = 12


async def test_every_route_of_reconchess_s_manual_is_described() -> None:
    async with http_daemon() as (_, client):
        document = (await client.get("/schema")).json()
    operations = {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert {route for route in operations if route[1].startswith("/api")} == DOCUMENTED.keys()
    assert document["components"]["securitySchemes"]["basic"]["scheme"] == "basic"
    for route in DOCUMENTED:
        assert operations[route].get("security") == (None if route in OPEN else [{"basic": []}])
        assert {"200", "503"} <= operations[route]["responses"].keys()
        assert ("401" in operations[route]["responses"]) is (route not in OPEN)
        schema = operations[route]["responses"]["200"]["content"]["application/json"]["schema"]
        assert schema.keys() == {"$ref"}


async def test_it_is_the_same_document_every_time() -> None:
    """litestar would make examples up, at random."""
    documents = []
    for _ in range(2):
        async with http_daemon() as (_, client):
            documents.append((await client.get("/schema")).text)
    assert documents[0] == documents[1]
    assert "examples" not in documents[0]


@pytest.mark.proof
async def test_nothing_a_fuzzer_sends_is_a_fault_of_ours_or_answered_otherwise_than_described(tmp_path: Path) -> None:
    async with rbc_table(max_failures_per_minute=10**6, max_registrations_per_hour=10**6) as table:
        for number in range(GAMES):
            await table.new_game() if number % 2 else await table.ended_game()
        name, key = table.white.auth
        command = [Path(sys.executable).parent / "schemathesis", "run"]
        command += [f"http://127.0.0.1:{table.daemon.http_port}/schema", "--auth", f"{name}:{key}"]
        command += ["--checks", CHECKS, "--max-examples", str(proof_size(*EXAMPLES)), "--seed", "1", "--no-color"]
        done = await trio.run_process(
            [str(part) for part in command],
            check=False,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,  # where it keeps what it has found
        )
        output = done.stdout.decode()
        assert done.returncode == 0, output
        tested = re.search(r"Tested: (\d+)", output)
        assert tested is not None, output
        assert int(tested[1]) == len(routes_of(table.daemon) - OF_THE_DOCUMENT)


#: What of every response is looked at.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
