"""The OpenAPI document tells the truth: about every route there is, and about every answer that anybody has found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.helpers_proof import proof_size
from tests.http.helpers import http_daemon
from tests.http.rbc import rbc_table

#: Requests of the fuzzer's for each route.
EXAMPLES = (3, 200, 20)
#: Games with small numbers, which the fuzzer finds.
GAMES = 12

#: The routes of chapter 5.11 of reconchess's manual, and the three that its client uses and the manual leaves out.
RECONCHESS = {
    ("GET", "/api/users"),
    ("POST", "/api/users/me"),
    ("POST", "/api/users/me/max_games"),
    ("POST", "/api/users/me/ranked"),
    ("POST", "/api/users/me/version"),
    ("GET", "/api/invitations"),
    ("POST", "/api/invitations"),
    ("POST", "/api/invitations/{invitation_id}"),
    ("POST", "/api/invitations/{invitation_id}/finish"),
    ("GET", "/api/games/{game_id}/color"),
    ("GET", "/api/games/{game_id}/starting_board"),
    ("GET", "/api/games/{game_id}/opponent_name"),
    ("POST", "/api/games/{game_id}/ready"),
    ("GET", "/api/games/{game_id}/sense_actions"),
    ("GET", "/api/games/{game_id}/move_actions"),
    ("GET", "/api/games/{game_id}/seconds_left"),
    ("GET", "/api/games/{game_id}/opponent_move_results"),
    ("POST", "/api/games/{game_id}/sense"),
    ("POST", "/api/games/{game_id}/move"),
    ("POST", "/api/games/{game_id}/end_turn"),
    ("GET", "/api/games/{game_id}/is_over"),
    ("POST", "/api/games/{game_id}/resign"),
    ("POST", "/api/games/{game_id}/error_resign"),
    ("GET", "/api/games/{game_id}/is_my_turn"),
    ("GET", "/api/games/{game_id}/game_status"),
    ("GET", "/api/games/{game_id}/winner_color"),
    ("GET", "/api/games/{game_id}/win_reason"),
    ("GET", "/api/games/{game_id}/game_history"),
    ("GET", "/api/version"),
    ("GET", "/api/users/me/version"),
    ("POST", "/api/users"),
}
#: What there is besides.
OURS = {("GET", "/api/leaderboard")}
#: Those that anybody may ask.
OPEN = {("GET", "/api/version"), ("POST", "/api/users"), *OURS}


async def test_every_route_of_reconchess_s_manual_is_described() -> None:
    async with http_daemon() as (_, client):
        document = (await client.get("/schema")).json()
    operations = {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert {route for route in operations if route[1].startswith("/api")} == RECONCHESS | OURS
    assert document["components"]["securitySchemes"]["basic"]["scheme"] == "basic"
    for route in RECONCHESS | OURS:
        assert operations[route].get("security") == (None if route in OPEN else [{"basic": []}])
        assert {"200", "503"} <= operations[route]["responses"].keys()
        assert ("401" in operations[route]["responses"]) is (route not in OPEN)
        schema = operations[route]["responses"]["200"]["content"]["application/json"]["schema"]
        assert schema.keys() == {"$ref"}


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


#: What of every response is looked at.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
