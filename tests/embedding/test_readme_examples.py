"""The manual's examples of embedding, each run as a reader would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import MANUAL, blocks_of
from tests.embedding.test_pytest_plugin import OTHERS
from tests.helpers import START_FEN

pytestmark = pytest.mark.slow

EMBED = MANUAL / "how-to/embed.md"
EXAMPLES = [text for language, text in blocks_of(EMBED) if language == "python"]


def example(containing: str) -> str:
    """Return the only example that contains this text."""
    (found,) = [text for text in EXAMPLES if containing in text]
    return found


def python(*arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("by_line", [False, True])
def test_script_plays_a_game_whole_or_line_by_line_as_in_a_notebook(by_line: bool, tmp_path: Path) -> None:
    text = example("daemon.close()")
    if by_line:  # each statement is a cell, so nothing may depend on the scope of a block
        text = f"import ast\nfor cell in ast.parse({text!r}).body: exec(ast.unparse(cell))"
    run = python("-c", text, directory=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "0-1 victory_black\n", "")


def test_asyncio_example_runs(tmp_path: Path) -> None:
    run = python("-c", example("asyncio"), directory=tmp_path)
    pong = b'\0\0\0\x0e{"error":null}'
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{pong!r}\n{START_FEN}\n", "")


def test_trio_example_runs(tmp_path: Path) -> None:
    run = python("-c", example("trio.run"), directory=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[0].startswith("[Event ")
    assert run.stdout.rstrip().endswith(("1-0", "0-1", "1/2-1/2"))


def test_pytest_example_passes(tmp_path: Path) -> None:
    (tmp_path / "test_bot.py").write_text(example("gmd_daemon"))
    without = [part for name in OTHERS for part in ("-p", f"no:{name}")]
    run = python("-W", "default", "-m", "pytest", "-q", *without, directory=tmp_path)
    assert run.returncode == 0, run.stdout
    assert run.stdout.splitlines()[-1].startswith("1 passed")
