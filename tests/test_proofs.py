"""Each test whose size depends on GMD_PROOF is marked as a proof: otherwise ``make proof`` would not run it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def names_in(tree: ast.AST) -> set[str]:
    """Return the names that a part of a module uses, those of its parameters included: they may be fixtures."""
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return read | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def parts_of(module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name that a module defines, and how; methods of its classes included."""
    for part in module.body:
        match part:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield part.name, part
            case ast.ClassDef():
                yield from parts_of(ast.Module(part.body, []))
            case ast.Assign():
                yield from ((name, part) for target in part.targets for name in names_in(target))
            case ast.AnnAssign():
                yield from ((name, part) for name in names_in(part.target))


def sized_tests(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each test in a module whose size is of ``proof_size``, itself or by what it uses of the module, and whether
    it is marked as a proof.
    """
    parts = [*parts_of(ast.parse(text))]
    sized, before = {"proof_size"}, 0
    while len(sized) > before:
        before = len(sized)
        sized |= {name for name, part in parts if names_in(part) & sized}
    all_marked = any(name == "pytestmark" and "mark.proof" in ast.unparse(part) for name, part in parts)
    for name, part in parts:
        if name.startswith("test_") and name in sized and isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, all_marked or any("mark.proof" in ast.unparse(line) for line in part.decorator_list)


def test_every_test_of_a_size_is_a_proof() -> None:
    found = {(path.name, *test) for path in TESTS.rglob("test_*.py") for test in sized_tests(path.read_text())}
    unmarked = sorted(f"{module}::{name}" for module, name, is_proof in found if not is_proof)
    assert not unmarked, "mark with @pytest.mark.proof, or else make proof skips them"
    assert found


def test_size_is_found_behind_a_constant_and_a_fixture() -> None:
    text = """
GAMES = proof_size(1, 2)

def games():
    return range(GAMES)

def test_itself(): proof_size(1, 2)
def test_by_fixture(games): ...
@pytest.mark.proof
def test_marked(): games()
def test_of_one_size(): ...
"""
    assert dict(sized_tests(text)) == {"test_itself": False, "test_by_fixture": False, "test_marked": True}
