"""The examples in the arena's page on matches run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.other_languages import ROOT, examples_of
from tests.tools import require_tool

ARENA = ROOT / "clients" / "arena"
PATIENCE = 180


@pytest.mark.slow
def test_commands_of_the_match_page_run(tmp_path: Path) -> None:
    (block,) = examples_of(ARENA / "MATCH.md", "sh")
    folders = [Path(sys.executable).parent, require_tool("stockfish").parent]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euc", block],
        env={**os.environ, "PATH": path}, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert (
        sum(bool(re.match(r"game \d: (new - old|old - new) .*, opening [12]: (open|closed)$", line)) for line in lines)
        == 4
    )
    assert any(line.startswith("new against old: won ") for line in lines)
    assert any(line.startswith("│ 1 │ ") for line in lines)
    assert (tmp_path / "match.pgn").read_text().count("[Event ") == 4
    assert len((tmp_path / "match.jsonl").read_text().splitlines()) == 6


def test_arenas_readme_links_to_the_match_page() -> None:
    assert "(MATCH.md)" in (ARENA / "README.md").read_text("utf-8")
