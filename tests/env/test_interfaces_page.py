"""The examples of the page on interfaces run as a reader would run them, and its numbers are those of the library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gm_env.rendering.picture import SQUARE
from gm_env.turns import ACTIONS, FIRST_SENSE
from tests.docs.pages import MANUAL, blocks_of
from tests.tools import require_module

PAGE = MANUAL / "reference/env-interfaces.md"
NAMES = ("gymnasium", "vector", "opponent", "pettingzoo", "rendering", "openspiel")
EXAMPLES = dict(zip(NAMES, (text for _, text in blocks_of(PAGE)), strict=True))
#: How what the examples print begins.
PRINTED = {"gymnasium": "(24, 8, 8) ", "vector": "(64, 24, 8, 8) ", "openspiel": "(8, 814)\n(8, 8, 8)\n"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_example_runs(name: str, tmp_path: Path) -> None:
    require_module("gymnasium")
    require_module("pettingzoo")
    if name == "rendering":
        require_module("matplotlib")
    run = subprocess.run(
        [sys.executable, "-c", EXAMPLES[name]],
        cwd=tmp_path,
        env=dict(os.environ) | {"MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(PRINTED.get(name, ""))
    assert bool(run.stdout) == (name in PRINTED)


def test_numbers_are_those_of_the_library() -> None:
    text = PAGE.read_text("utf-8")
    assert f"`Discrete({ACTIONS})`" in text
    assert f"`FIRST_SENSE` ({FIRST_SENSE})" in text
    assert f"uint8[{8 * SQUARE}, {8 * SQUARE}, 3]" in text
