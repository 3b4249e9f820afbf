"""The examples that learn: they run, and learn; their page shows the commands and what they made."""

from __future__ import annotations

import csv
import importlib
import os
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
    env = os.environ | {"MPLBACKEND": "agg", "MPLCONFIGDIR": str(folder)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr  # -W error: no warning either
    assert (folder / f"{file}.svg").read_text("utf-8").startswith("<?xml")
    return done.stdout, list(csv.reader((folder / f"{file}.csv").read_text("utf-8").splitlines()))


def table_of(name: str) -> list[list[str]]:
    """Return the rows of an example's table beside its plot on the page."""
    return list(csv.reader((MANUAL / f"pictures/{name}.csv").read_text("utf-8").splitlines()))


def test_bandit_learns_where_to_look_as_the_page_shows(tmp_path: Path) -> None:
    for name in ("gymnasium", "matplotlib"):
        require_module(name)
    said, (head, *rows) = run("sensing_bandit", tmp_path, "--games", "400")
    kept = [float(share) for _, share in rows]
    assert kept[0] < 0.6 < 0.8 < sum(kept[-4:]) / 4
    assert said.startswith("not lost: ")
    assert [head, *rows] == table_of("sensing-bandit")[:9]


def test_ppo_plays_with_the_network_that_it_has_trained(tmp_path: Path) -> None:
    for name in ("gymnasium", "matplotlib", "torch"):
        require_module(name)
    said, (head, *rows) = run("ppo", tmp_path, "--updates", "1", "--games", "3")
    assert [head] == table_of("ppo")[:1]
    assert len(rows) == 1
    assert re.fullmatch(r"against random play: won \d, lost \d, drawn \d\n", said)
    assert run("ppo", tmp_path, "--updates", "0", "--games", "3") == (said, [head, *rows])


def test_ppo_learns_the_same_by_the_same_seed_and_plays_legal_games(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gymnasium", "matplotlib", "torch"):
        require_module(name)
    monkeypatch.syspath_prepend(ROOT / "clients/env/examples")
    monkeypatch.setenv("MPLBACKEND", "agg")
    ppo = importlib.import_module("ppo")

    def learn(seed: int) -> tuple[list[list[int]], bytes, list[int]]:
        ppo.torch.manual_seed(seed)
        agent = ppo.Agent()
        first = agent.rest.weight.detach().numpy().tobytes()
        rows = list(ppo.train(agent, 2, seed, games=8, steps=32))
        weights = agent.rest.weight.detach().numpy().tobytes()
        assert weights != first
        return rows, weights, list(ppo.play(agent, None, 3, seed))

    rows, weights, results = learn(1)
    assert len(results) == 3  # an illegal action would have been an error
    assert learn(1) == (rows, weights, results) != learn(2)


def test_page_shows_each_example_with_its_command_and_its_plot() -> None:
    assert [path.stem for path in EXAMPLES] == ["ppo", "sensing_bandit"]
    for path in EXAMPLES:
        file = path.stem.replace("_", "-")
        assert f"    .venv/bin/python clients/env/examples/{path.name} --out build\n" in PAGE
        assert f"](../pictures/{file}.svg)" in PAGE
        assert (MANUAL / "pictures" / f"{file}.svg").exists()
        assert (MANUAL / "pictures" / f"{file}.csv").exists()


def test_plots_of_the_page_show_that_something_was_learnt() -> None:
    kept = [float(share) for _, share in table_of("sensing-bandit")[1:]]
    assert sum(kept[-5:]) / 5 > 0.9 > 0.5 > kept[0]
    rows = [list(map(int, row)) for row in table_of("ppo")[1:]]
    turns, won, lost, drawn = (sum(column) for column in zip(*rows, strict=True))
    assert f"After {len(rows)} updates, {turns:,} turns and {won + lost + drawn:,} games" in re.sub(r"\s+", " ", PAGE)
    first, last = rows[0], [sum(column) for column in zip(*rows[-5:], strict=True)]
    assert (last[1] + last[3] / 2) / sum(last[1:]) > 0.98 > 0.7 > (first[1] + first[3] / 2) / sum(first[1:])
