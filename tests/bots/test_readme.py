"""The examples in the bots' README run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gm_bots.minimax.play.levels import LEVELS
from tests.arena.playing import untimed
from tests.clients.other_languages import ROOT, examples_of
from tests.serving import served

README = ROOT / "clients" / "bots" / "README.md"
PATIENCE = 120


def run(command: list[str]) -> list[str]:
    """Return what a command prints; it must succeed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_commands_of_the_bots_readme_run() -> None:
    with served() as daemon:  # its own: a bot plays all games of its player, and other tests have players 1 and 2
        blocks = [block.replace("7100", str(daemon.port)) for block in examples_of(README, "sh")]
        games, uci = (run(["bash", "-euc", block]) for block in blocks)
    assert {"won 2, lost 0, drawn 0", "won 1, lost 0, drawn 0"} <= {untimed(line) for line in games}
    assert uci[0] == "readyok"


def test_program_of_the_bots_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = examples_of(README, "python")
    exec(compile(program, "README.md", "exec"), {})
    first, line = capsys.readouterr().out.splitlines()
    assert first.split()[:3] == ["Qxf7#", "1", "99999"]
    assert line == "1. Qxf7#"


def test_readme_lists_every_level() -> None:
    text = README.read_text("utf-8")
    assert all(f"| `{name}` |" in text for name in LEVELS)
