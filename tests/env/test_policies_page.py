"""The examples of the page on policies run, and print what they should."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import MANUAL, blocks_of
from tests.tools import require_module

NAMES = ("opponent", "pettingzoo", "reconchess", "bots")
EXAMPLES = dict(zip(NAMES, (text for _, text in blocks_of(MANUAL / "reference/env-policies.md")), strict=True))
#: What the examples print.
PRINTED = {"opponent": r"\d{3} games, won \d+\n", "reconchess": r"(-1|0|1)\.0\n"}


@pytest.mark.parametrize("name", NAMES)
def test_example_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("gymnasium", "pettingzoo", "reconchess"):
        require_module(module)
    exec(compile(EXAMPLES[name], "env-policies.md", "exec"), {})
    assert re.fullmatch(PRINTED.get(name, ""), capsys.readouterr().out)
