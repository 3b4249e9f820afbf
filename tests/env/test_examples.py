"""The examples that learn: they run, and learn; their page shows the commands and what they made."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import MANUAL, ROOT
from tests.tools import require_module

pytestmark = pytest.mark.slow

EXAMPLES = sorted((ROOT / "clients/env/examples").glob("*.py"))
PAGE = (MANUAL / "tutorials/first-learners.md").read_text("utf-8")


def run(name: str, folder: Path, *arguments: str) -> tuple[str, list[list[str]]]:
    """Run an example; return what it printed and the rows of its table. It must have drawn its plot."""
    program = ROOT / "clients/env/examples" / f"{name}.py"
    file = name.replace("_", "-")
    command = [sys.executable, "-W", "error", str(program), "--out", str(folder), *arguments]
    env = {"MPLBACKEND": "agg", "MPLCONFIGDIR": str(folder), "HOME": str(folder)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr  # -W error: no warning either
    assert (folder / f"{file}.svg").read_text("utf-8").startswith("<?xml")
    return done.stdout, list(csv.reader((folder / f"{file}.csv").read_text("utf-8").splitlines()))


def test_bandit_learns_where_to_look_and_again_the_same(tmp_path: Path) -> None:
    for name in ("gymnasium", "matplotlib"):
        require_module(name)
    said, (head, *rows) = run("sensing_bandit", tmp_path, "--games", "400")
    assert head == ["games", "kept"]
    assert [int(games) for games, _ in rows] == list(range(50, 401, 50))
    kept = [float(share) for _, share in rows]
    assert kept[0] < 0.6 < 0.8 < sum(kept[-4:]) / 4
    assert said.startswith("not lost: ")
    assert run("sensing_bandit", tmp_path, "--games", "100")[1] == [head, *rows[:2]]


def test_ppo_runs(tmp_path: Path) -> None:
    for name in ("gymnasium", "matplotlib", "torch"):
        require_module(name)
    said, (head, *rows) = run("ppo", tmp_path, "--updates", "1")
    assert head == ["won", "lost", "drawn"]
    played = [sum(map(int, column)) for column in zip(*rows, strict=True)]
    assert len(rows) == 1
    assert said == "in the last five updates: won {}, lost {}, drawn {}\n".format(*played)


def test_page_shows_each_example_with_its_command_and_its_plot() -> None:
    assert [path.stem for path in EXAMPLES] == ["ppo", "sensing_bandit"]
    for path in EXAMPLES:
        file = path.stem.replace("_", "-")
        assert f"    .venv/bin/python clients/env/examples/{path.name} --out docs/pictures\n" in PAGE
        assert f"](../pictures/{file}.svg)" in PAGE
        assert (MANUAL / "pictures" / f"{file}.svg").exists()
        assert (MANUAL / "pictures" / f"{file}.csv").exists()


def test_plots_of_the_page_show_that_something_was_learnt() -> None:
    with (MANUAL / "pictures/sensing-bandit.csv").open(newline="") as file:
        kept = [float(row["kept"]) for row in csv.DictReader(file)]
    assert sum(kept[-5:]) / 5 > 0.9 > 0.5 > kept[0]
    with (MANUAL / "pictures/ppo.csv").open(newline="") as file:
        rows = [tuple(map(int, row.values())) for row in csv.DictReader(file)]
    won, lost, drawn = (sum(column) for column in zip(*rows[-5:], strict=True))
    assert won > 0.7 * (won + lost + drawn)
    assert f"of the last {won + lost + drawn} games it won {won}" in re.sub(r"\s+", " ", PAGE)
