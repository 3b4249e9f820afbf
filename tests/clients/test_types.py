"""The public types of the Python clients, as a type checker sees them from a bot's own code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.other_languages import PYTHON, ROOT
from tests.tools import require_module

SOURCES = [ROOT / "protocol", PYTHON, *(ROOT / "clients" / each for each in ("arena", "bots", "env"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["--strict", str(Path(__file__).with_name("typed_bots.py"))],
        [str(PYTHON / "examples" / "random_bot.py"), str(PYTHON / "examples" / "random_bot_trio.py")],
    ],
    ids=["bots", "examples"],
)
def test_type_checker_has_no_complaint(arguments: list[str], tmp_path: Path) -> None:
    require_module("mypy")
    path = os.pathsep.join(map(str, [*SOURCES, PYTHON / "examples"]))
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", f"--cache-dir={tmp_path}"]
    checked = subprocess.run(
        [*command, "--follow-imports=silent", *arguments],
        env={**os.environ, "MYPYPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
