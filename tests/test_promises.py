"""The tests that ``tests/README.md`` names as promises are there, and in the ordinary run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PROMISES = re.findall(r"`(\S+\.py)::(test_\w+)`", (TESTS / "README.md").read_text())
assert PROMISES


@pytest.mark.parametrize(("module", "name"), PROMISES)
def test_promise_is_an_ordinary_test(module: str, name: str) -> None:
    tree = ast.parse((TESTS / module).read_text())
    tests = [node for node in tree.body if getattr(node, "name", None) == name]
    marks = [ast.unparse(mark) for test in tests for mark in test.decorator_list]  # type: ignore[attr-defined]
    marks += [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    assert len(tests) == 1
    assert [mark for mark in marks if re.match(r"(pytestmark = .*)?pytest\.mark\.(slow|nightly)", mark)] == []
