"""The examples in the arena's README run."""

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

ARENA = ROOT / "clients" / "arena"
PATIENCE = 120


def run(commands: str, port: int) -> list[str]:
    """Return what commands print; they must succeed and print no error."""
    folders = [Path(sys.executable).parent, require_tool("stockfish").parent]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euc", commands.replace("7100", str(port))],
        env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return untimed(done.stdout).splitlines()


@pytest.mark.slow
def test_commands_of_the_arenas_readme_run() -> None:
    with served() as daemon:  # its own: a bot plays all games of its player, and other tests have players 3 and 4
        alone, blitz = [run(block, daemon.port) for block in examples_of(ARENA / "README.md", "sh")]
    assert next(line.split(" plays")[0] for line in alone if " plays on " in line) == "RandomBot"
    ends = [line for line in alone if re.match(r"game \d+: (won|lost|drawn) as ", line)]
    assert len(ends) == 4
    assert len([line for line in blitz if re.match(r"game \d+: won as .* (checkmate|king captured),", line)]) == 4
    assert blitz.count("won 4, lost 0, drawn 0") == blitz.count("won 0, lost 4, drawn 0") == 1


def test_program_of_the_arenas_readme_runs(daemon_process: Served) -> None:
    (program,) = examples_of(ARENA / "README.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", program.replace("7100", str(daemon_process.port))],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"game \d+ took \d+ turns: WinReason\.\w+\n", done.stdout)
