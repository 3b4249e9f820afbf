"""Conversations of gmcat with the daemon."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.running import NEW_GAME, PATIENCE, PING, UNKNOWN, Server, ask, conversation, gmcat, replies
from tests.ended import ended
from tests.tools import require_tool


def test_one_argument_is_answered_by_one_line(daemon_process: Server) -> None:
    run = gmcat(daemon_process, NEW_GAME)
    assert run.returncode == 0
    assert run.stderr == b""
    (reply,) = replies(run)
    assert reply["error"] is None
    assert reply["state"]["fen"] == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def test_every_line_of_input_is_answered_in_order(daemon_process: Server) -> None:
    lines = "\n".join(f'{{"kind":"ping","id":{number}}}' for number in range(200))
    run = gmcat(daemon_process, lines=lines)
    assert run.returncode == 0
    assert [reply["id"] for reply in replies(run)] == list(range(200))


def test_several_arguments_are_answered_in_order(daemon_process: Server) -> None:
    run = gmcat(daemon_process, '{"kind":"ping","id":"a"}', NEW_GAME, '{"kind":"ping","id":"b"}')
    assert run.returncode == 0
    assert [reply.get("id") for reply in replies(run)] == ["a", None, "b"]


@pytest.mark.parametrize("requests", [[UNKNOWN], [PING, UNKNOWN, PING], ["[]", PING]])
def test_error_in_any_reply_exits_with_1(daemon_process: Server, requests: list[str]) -> None:
    for run in (gmcat(daemon_process, *requests), gmcat(daemon_process, lines="\n".join(requests))):
        assert run.returncode == 1
        assert run.stderr == b""
        assert [reply["error"] is None for reply in replies(run)] == [text == PING for text in requests]


def test_reply_is_printed_before_the_next_line_is_read(daemon_process: Server) -> None:
    """A pipeline whose requests depend on the replies works this way."""
    with ended(conversation(daemon_process)) as process:
        game = ask(process, kind="new_game", player_white=1, player_black=2)["game_id"]
        for player, move in [(1, "f3"), (2, "e5"), (1, "g4"), (2, "Qh4#")]:
            last = ask(process, kind="move", game_id=game, player=player, move=move)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert last["state"]["termination"] == "victory_black"


def test_jq_can_make_requests_from_replies(daemon_process: Server) -> None:
    jq = require_tool("jq")
    make_moves = (
        '.game_id as $g | ["f3", "e5", "g4", "Qh4#"] | to_entries[]'
        ' | {kind: "move", game_id: $g, player: (1 + .key % 2), move: .value}'
    )
    new_game = gmcat(daemon_process, NEW_GAME)
    moves = subprocess.run([jq, "-c", make_moves], input=new_game.stdout, capture_output=True, check=True)
    run = gmcat(daemon_process, lines=moves.stdout)
    assert run.returncode == 0
    assert replies(run)[-1]["state"]["pgn"] == "1.f3 e5 2.g4 Qh4#"


def test_utf_8_is_kept_in_both_directions(daemon_process: Server) -> None:
    request = '{"kind":"ping","id":"Gruß 象棋 ♞ \U0001f3f0"}'
    for run in (gmcat(daemon_process, request), gmcat(daemon_process, lines=request)):
        assert run.returncode == 0
        assert [reply["id"] for reply in replies(run)] == ["Gruß 象棋 ♞ \U0001f3f0"]


def test_hello_of_the_user_is_answered(daemon_process: Server) -> None:
    hello = '{"kind":"hello","protocol":2,"client":"by hand"}'
    for run in (gmcat(daemon_process, hello, PING), gmcat(daemon_process, lines=f"{hello}\n{PING}\n")):
        assert run.returncode == 0
        greeting, pong = replies(run)
        assert greeting["protocol"] == 2
        assert pong == {"error": None}


def test_too_large_request_is_answered_although_the_server_does_not_read_it(daemon_process: Server) -> None:
    run = gmcat(daemon_process, lines=json.dumps({"kind": "ping", "id": "x" * (5 << 20)}))
    assert run.returncode == 1
    assert [reply["code"] for reply in replies(run)] == ["bad_frame"]


def test_pretty_option_prints_the_same_reply_readably(daemon_process: Server) -> None:
    (game,) = replies(gmcat(daemon_process, NEW_GAME))
    ask = json.dumps({"kind": "state", "game_id": game["game_id"]})
    plain, pretty = gmcat(daemon_process, ask), gmcat(daemon_process, "--pretty", ask)
    assert pretty.returncode == 0
    assert json.loads(pretty.stdout) == json.loads(plain.stdout)
    assert b'      ["wR", "wN", "wB", "wQ", "wK", "wB", "wN", "wR"],\n' in pretty.stdout
    assert max(map(len, pretty.stdout.splitlines())) <= 110


def test_real_game_is_played_to_its_end(daemon_process: Server) -> None:
    """Kasparov against Topalov, 1999: loaded, and played move by move as a user of the shell would."""
    text = (Path(__file__).parent.parent / "data" / "pgn" / "kasparov-topalov.pgn").read_text()
    players = {"player_white": 1, "player_black": 2}
    (made,) = replies(gmcat(daemon_process, json.dumps({"kind": "game_from_pgn", "pgn": text, **players})))
    (history,) = replies(gmcat(daemon_process, json.dumps({"kind": "history", "game_id": made["game_id"]})))
    (played,) = replies(gmcat(daemon_process, NEW_GAME))
    moves = [
        {"kind": "move", "game_id": played["game_id"], "player": 1 + ply % 2, "move": move}
        for ply, move in enumerate(history["moves"])
    ]
    run = gmcat(daemon_process, lines="\n".join(map(json.dumps, moves)))
    assert run.returncode == 0
    *_, last = replies(run)
    assert len(moves) == made["state"]["ply_index"] > 80
    assert {**last["state"], "game_id": None} == {**made["state"], "game_id": None}
