"""The examples in the arena's pages on the referee and on recorded games run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.other_languages import ROOT, examples_of
from tests.serving import Served
from tests.tools import require_tool

ARENA = ROOT / "clients" / "arena"
PATIENCE = 120


def run(page: str, port: int, folder: Path) -> list[list[str]]:
    """Return what the examples of a page print; they must succeed."""
    require_tool("jq")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    printed = []
    for block in examples_of(ARENA / page, "sh"):
        commands = f'gmcat() {{ command gmcat --port {port} "$@"; }}\n{block.replace("7100", str(port))}'
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            env={**os.environ, "PATH": path}, cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout.splitlines())
    return printed


def test_examples_of_the_referee_page_play_a_match(daemon_process: Served, tmp_path: Path) -> None:
    (lines,) = run("REFEREE.md", daemon_process.port, tmp_path)
    assert lines[0].startswith("seed 0: start position 518; the games are on 127.0.0.1:")
    assert [line.split(" ")[0] for line in lines[1:5]] == ["game", "game", "bot", "bot"]
    assert re.match(r"drawn|bot [12] \(bash .*\) has won: ", lines[5])
    assert [line.split("\t")[0] for line in lines[6:]] == ["1", "2"]


@pytest.mark.slow
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
        "1 turn, chosen as recorded: senses 1 of 1, moves 0 of 1",
        "status 1",
    ]


def test_arenas_readme_links_to_the_pages() -> None:
    readme = (ARENA / "README.md").read_text("utf-8")
    assert "(REFEREE.md)" in readme
    assert "(RECORDED.md)" in readme
