"""Every example in the README runs, in the order in which it stands there, against one daemon."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import served
from tests.tools import require_tool

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
TIMEOUT_SECONDS = 120


def _run(language: str, text: str, port: int) -> str:
    """Run a block as it stands, but for the port."""
    if language == "python":
        command = [sys.executable, "-c", text.replace("7100", str(port))]
    else:
        text = text.replace("$PWD/.venv/bin", str(Path(sys.executable).parent))
        use_port = f'gmcat() {{ command gmcat --port {port} "$@"; }}\n'
        command = [str(require_tool("bash")), "-euo", "pipefail", "-c", use_port + text]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_there_are_examples_of_both_languages() -> None:
    assert {language for language, _ in BLOCKS} == {"sh", "python"}


@pytest.fixture(scope="module")
def outputs() -> list[str]:
    """What each block printed."""
    require_tool("jq")
    with served() as daemon:
        return [_run(language, text, daemon.port) for language, text in BLOCKS]


def test_the_first_game_is_made_moved_in_and_shown(outputs: list[str]) -> None:
    assert outputs[0].splitlines()[-1] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def test_the_pipeline_plays_a_whole_game(outputs: list[str]) -> None:
    lines = outputs[1].splitlines()
    assert len(lines) == 7
    assert lines[-1] == ("7 h5f7 victory_white r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4")


def test_the_pgn_loads_and_the_history_is_pgn(outputs: list[str]) -> None:
    first, *rest = outputs[2].splitlines()
    assert first == "1.d4 d5 2.c4 e6"
    assert rest[-2:] == ["1. e4 *", ""]


def test_the_bot_plays_to_the_end(outputs: list[str]) -> None:
    result, termination, first_move, *_ = outputs[3].split()
    assert result in {"1-0", "0-1", "1/2-1/2"}
    assert termination.startswith(("victory", "draw", "stalemate"))
    assert first_move.startswith("1.")


def test_a_registered_player_waits_for_another(outputs: list[str]) -> None:
    assert outputs[4].splitlines() == ['[null,"open"]', "1"]


def test_two_registered_players_find_each_other(outputs: list[str]) -> None:
    assert outputs[5].split() == ["8", "open", "black", "sense"]


def test_the_blind_players_see_their_own_pieces(outputs: list[str]) -> None:
    sensed, taken, white, black = outputs[7].splitlines()
    assert sensed.startswith('[["d8","bQ"],["e8","bK"],["f8","bB"],')
    assert (taken, white) == ("e2e4", "8/8/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQ - 0 1")
    assert black == "rnbqkbnr/pppppppp/8/8/8/8/8/8 b kq - 0 1"


def test_the_options_are_resolved(outputs: list[str]) -> None:
    assert [line.split('"')[3] for line in outputs[6].splitlines()] == [
        "chess960",
        "crazyhouse",
        "standard",
        "standard",
    ]


def test_blind_chess_is_played_in_the_process(outputs: list[str]) -> None:
    last_fen = "1n3b2/5q2/2B2R2/1b6/P6p/RP2r2P/1P1rP3/3K4 b - - 0 43"
    assert outputs[-1] == f"{{'KING_CAPTURE': 98, 'MOVE_LIMIT': 2}} {last_fen}\n"
