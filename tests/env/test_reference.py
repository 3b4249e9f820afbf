"""The example of the reference runs, and its numbers are those of the library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gm_env import INFORMATION, MOVES, OBSERVATION, PLANES, PRIVILEGED

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "env.md").read_text("utf-8")


def test_example_plays_games(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "env.md", "exec"), {})
    black, white = map(int, re.findall(r"\d+", capsys.readouterr().out))
    assert black > 20
    assert white > 20


def test_shapes_are_those_of_the_library() -> None:
    assert f"uint8[n, {len(OBSERVATION)}, 8, 8]" in PAGE
    assert f"uint8[n, {len(PRIVILEGED)}, 8, 8]" in PAGE
    assert f"int16[n, recall, {len(INFORMATION)}]" in PAGE
    assert f"uint8[n, {MOVES}]" in PAGE
    assert f"uint64[n, {PLANES}]" in PAGE
