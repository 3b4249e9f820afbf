"""Each test whose size depends on GMD_PROOF is marked as a proof: otherwise ``make proof`` would not run it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def sized_tests(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the name of each test in a module that calls ``proof_size``, and whether it is marked as a proof."""
    module = ast.parse(text)
    marks = "".join(
        ast.unparse(line) for line in module.body if isinstance(line, ast.Assign) and "pytestmark" in ast.unparse(line)
    )
    for test in module.body:
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name.startswith("test_"):
            decorators = " ".join(map(ast.unparse, test.decorator_list))
            if "proof_size(" in ast.unparse(test):
                yield test.name, "mark.proof" in decorators + marks


def test_every_test_of_a_size_is_a_proof() -> None:
    found = {(path.name, *test) for path in TESTS.rglob("test_*.py") for test in sized_tests(path.read_text())}
    assert len(found) > 100
    assert sorted((name, test) for name, test, is_proof in found if not is_proof) == []
