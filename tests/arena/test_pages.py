"""The examples in the arena's pages run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.playing import untimed
from tests.clients.other_languages import ROOT, examples_of
from tests.serving import Served, served
from tests.tools import require_tool

pytestmark = pytest.mark.slow

ARENA = ROOT / "clients" / "arena"
PATIENCE = 180


def run(page: str, port: int, folder: Path) -> list[list[str]]:
    """Return what each example of a page prints; they must succeed and print no error."""
    folders = [Path(sys.executable).parent, require_tool("stockfish").parent, require_tool("jq").parent]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    printed = []
    for block in examples_of(ARENA / page, "sh"):
        commands = f'gmcat() {{ command gmcat --port {port} "$@"; }}\n{block.replace("7100", str(port))}'
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            env={**os.environ, "PATH": path}, cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(untimed(done.stdout).splitlines())
    return printed


def test_commands_of_the_arenas_readme_run(tmp_path: Path) -> None:
    with served() as daemon:  # its own: a bot plays all games of its player, and other tests have players 3 and 4
        alone, blitz = run("README.md", daemon.port, tmp_path)
    assert next(line.split(" plays")[0] for line in alone if " plays on " in line) == "RandomBot"
    ends = [line for line in alone if re.match(r"game \d+: (won|lost|drawn) as ", line)]
    assert len(ends) == 4
    assert len([line for line in blitz if re.match(r"game \d+: won as .* (checkmate|king capture),", line)]) == 4
    assert blitz.count("won 4, lost 0, drawn 0") == blitz.count("won 0, lost 4, drawn 0") == 1


def test_examples_of_the_match_page_play_a_match(daemon_process: Served, tmp_path: Path) -> None:
    (lines,) = run("MATCH.md", daemon_process.port, tmp_path)
    game = r"game \d: (new - old|old - new) .*, opening [12]: (open|closed)$"
    assert sum(bool(re.match(game, line)) for line in lines) == 4
    assert any(line.startswith("new against old: won ") for line in lines)
    assert any(line.startswith("│ 1 │ ") for line in lines)
    assert (tmp_path / "match.pgn").read_text().count("[Event ") == 4
    assert len((tmp_path / "match.jsonl").read_text().splitlines()) == 6


def test_examples_of_the_referee_page_play_a_match(daemon_process: Served, tmp_path: Path) -> None:
    (lines,) = run("REFEREE.md", daemon_process.port, tmp_path)
    assert lines[0] == "seed 0: start position 518"
    assert [line.split(" ")[0] for line in lines[1:3]] == ["game", "game"]
    assert re.match(r"drawn|bot [12] has won: ", lines[3])
    assert [line.split("\t")[0] for line in lines[4:]] == ["1", "2"]


def test_examples_of_the_recorded_games_page_show_and_play_back_a_game(daemon_process: Served, tmp_path: Path) -> None:
    shown, watched, played = run("RECORDED.md", daemon_process.port, tmp_path)
    assert [line for line in shown if line.startswith("1. ")] == [
        "1. White senses e7",
        "1. White moves e4  [0-1 resignation]",
    ]
    assert watched[2:] == ["1. f3", "1... e5", "2. g4", "2... Qh4#", "0-1 checkmate"]
    assert played == [
        "1. White moves e4  [0-1 resignation]",
        "turn 1: move nothing, recorded e2e4",
        "chosen as recorded: senses 1 of 1, moves 0 of 1",
        "status 1",
    ]
