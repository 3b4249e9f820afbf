"""The examples of the reference run, and its numbers are those of the library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gm_env import HEADER_ROWS, INFORMATION, MOVES, OBSERVATION, PLANES, PRIVILEGED

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "env.md").read_text("utf-8")


GAMES, BELIEFS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def printed(example: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(example, "env.md", "exec"), {})
    return capsys.readouterr().out


def test_example_plays_games(capsys: pytest.CaptureFixture[str]) -> None:
    black, white = map(int, re.findall(r"\d+", printed(GAMES, capsys)))
    assert black > 20
    assert white > 20


def test_example_shows_a_belief(capsys: pytest.CaptureFixture[str]) -> None:
    count, exact = printed(BELIEFS, capsys).splitlines()[0].split()
    assert int(count) > 1
    assert exact == "True"


def test_shapes_are_those_of_the_library() -> None:
    assert f"uint8[n, {len(OBSERVATION)}, 8, 8]" in PAGE
    assert f"uint8[n, {len(PRIVILEGED)}, 8, 8]" in PAGE
    assert f"int16[n, {HEADER_ROWS} + recall, {len(INFORMATION)}]" in PAGE
    assert f"uint8[n, {MOVES}]" in PAGE
    assert f"uint64[n, {PLANES}]" in PAGE
