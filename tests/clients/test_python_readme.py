"""The examples in the README and the reference of the Python clients."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.other_languages import python_programs
from tests.serving import Served

pytestmark = pytest.mark.slow

PATIENCE = 120


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program, which must succeed without writing to standard error, and return its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_programs_of_readme_and_reference_run(daemon_process: Served, tmp_path: Path) -> None:
    sources = [text.replace("7100", str(daemon_process.port)) for text in python_programs()]
    at_random, refused, by_trio, tracking = [run(sys.executable, "-c", source, cwd=tmp_path) for source in sources]
    assert at_random in {"1-0\n", "0-1\n", "1/2-1/2\n"}
    assert refused == "e2e4 illegal_move\n"
    assert by_trio == ""
    assert tracking in {"victory_white\n", "victory_black\n", "draw_fifty_moves\n"}
