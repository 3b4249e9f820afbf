"""Each test whose size depends on GMD_PROOF is marked as a proof: otherwise ``make proof`` would not run it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
MARK = "mark.proof"


class Part(NamedTuple):
    """A part of a module: what defines a name, or sets an attribute of it.

    :ivar marks: the text in which a mark of its own would stand.
    """

    name: str
    node: ast.stmt
    marks: str


def names_in(tree: ast.AST) -> set[str]:
    """Return the names that a part uses, with those of attributes and of parameters, which may be fixtures."""
    nodes = [*ast.walk(tree)]
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    read |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return read | {node.arg for node in nodes if isinstance(node, ast.arg)}


def parts_of(body: list[ast.stmt], marks: str = "") -> Iterator[Part]:
    """Yield the parts of a module or class, also those below its conditions.

    :param marks: those of the class.
    """
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield Part(node.name, node, marks + "".join(map(ast.unparse, node.decorator_list)))
            case ast.ClassDef():
                yield from parts_of(node.body, marks + "".join(map(ast.unparse, node.decorator_list)))
            case ast.Assign():
                yield from (Part(name, node, ast.unparse(node)) for each in node.targets for name in names_in(each))
            case ast.AnnAssign():
                yield from (Part(name, node, ast.unparse(node)) for name in names_in(node.target))
            case ast.If():
                yield from parts_of([*node.body, *node.orelse], marks)


def sized_tests(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each test in a module whose size is of ``proof_size``, itself or by what it uses of the module, and whether
    it is marked as a proof.
    """
    if "proof_size" not in text:
        return
    parts = [*parts_of(ast.parse(text).body)]
    used = [(part.name, names_in(part.node)) for part in parts]
    sized, before = {"proof_size"}, 0
    while len(sized) > before:
        before = len(sized)
        sized |= {name for name, names in used if names & sized}
    marked = {part.name for part in parts if MARK in part.marks}
    tests = {part.name for part in parts if part.name.startswith(("test_", "Test"))}
    yield from ((name, name in marked or "pytestmark" in marked) for name in tests & sized)


def test_every_test_of_a_size_is_a_proof() -> None:
    found = {(path.name, *test) for path in TESTS.rglob("test_*.py") for test in sized_tests(path.read_text())}
    unmarked = sorted(f"{module}::{name}" for module, name, is_proof in found if not is_proof)
    assert not unmarked, "mark with @pytest.mark.proof, or else make proof skips them"
    assert len(found) > 110, "some are no longer found"


def test_size_is_found_wherever_it_is_stated() -> None:
    text = """
GAMES = helpers_proof.proof_size(1, 2)
def games(): return range(GAMES)

def test_itself(): proof_size(1, 2)
def test_by_fixture(games): ...
@pytest.mark.proof
def test_marked(): games()
def test_of_one_size(): ...

@pytest.mark.proof
class TestTable:
    def games(self): return range(GAMES)
    def test_in_a_class(self): self.games()

TestAnyOrder = machine.TestCase
TestAnyOrder.settings = settings(max_examples=GAMES)
"""
    unmarked = {"test_itself": False, "test_by_fixture": False, "TestAnyOrder": False}
    assert dict(sized_tests(text)) == unmarked | {"test_marked": True, "test_in_a_class": True}
