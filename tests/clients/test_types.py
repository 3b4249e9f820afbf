"""The public types of the Python clients, as type checkers see them from a bot's own code."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

from tests.clients.other_languages import PYTHON, ROOT
from tests.tools import require_module, require_program_of

SOURCES = [ROOT / "protocol", PYTHON, *(ROOT / "clients" / each for each in ("arena", "bots", "env"))]
BOTS = Path(__file__).with_name("typed_bots.py")
EXAMPLES = [PYTHON / "examples", ROOT / "clients" / "env" / "examples"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["--strict", str(BOTS)], [str(path) for path in sorted(EXAMPLES[0].glob("*.py"))]],
    ids=["bots", "examples"],
)
def test_mypy_has_no_complaint(arguments: list[str], tmp_path: Path) -> None:
    require_module("mypy")
    path = os.pathsep.join(map(str, [*SOURCES, EXAMPLES[0]]))
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", f"--cache-dir={tmp_path}"]
    checked = subprocess.run(
        [*command, "--follow-imports=silent", *arguments],
        env={**os.environ, "MYPYPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_pyright_has_no_complaint_about_bots_and_examples(tmp_path: Path) -> None:
    """And it knows the types: it finds fault with a bot that is wrong."""
    program = require_program_of("basedpyright", [Path(sys.executable).parent])
    for module in ("chess", "gymnasium", "msgspec", "numba", "trio"):
        require_module(module)
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import gm_client, gm_recon\ngm_recon.play_local(1, 2)\ngm_client.run(gm_client, opponent=[])\n")
    config = tmp_path / "pyrightconfig.json"
    sources = [str(path) for path in [*SOURCES, EXAMPLES[0]]]
    for paths, status in (([BOTS, *EXAMPLES], 0), ([wrong], 1)):
        checked = [str(path) for path in paths]
        config.write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": sources, "include": checked}))
        command = [program, "--project", config, "--pythonpath", sys.executable, "--outputjson"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == status, done.stdout
        assert json.loads(done.stdout)["summary"]["filesAnalyzed"] >= len(paths)
    assert {found["range"]["start"]["line"] for found in json.loads(done.stdout)["generalDiagnostics"]} == {1, 2}


@pytest.mark.slow
def test_public_names_of_the_manual_s_modules_have_docstrings_and_types() -> None:
    for module in ("gymnasium", "numba", "pettingzoo", "reconchess"):
        require_module(module)
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    found = {*re.findall(r"automodule:: (gm_(?:arena|client|env|recon)[\w.]*)", pages), "gm_client"}
    assert {name.partition(".")[0] for name in found} == {"gm_arena", "gm_client", "gm_env", "gm_recon"}
    lacking = [name for module in sorted(found) for name, item in public(module) if not is_described(item)]
    assert lacking == []


def public(module: str) -> Iterator[tuple[str, object]]:
    """Yield the classes, methods and functions that a module of ours offers, by name."""
    holder = import_module(module)
    own = [name for name, item in vars(holder).items() if name[0] != "_" and getattr(item, "__module__", "") == module]
    for name in getattr(holder, "__all__", own):
        item = getattr(holder, name)
        if not isinstance(item, type | FunctionType):
            continue
        yield f"{module}.{name}", item
        for part, member in vars(item).items() if isinstance(item, type) else ():
            method = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not part.startswith("_") and isinstance(method, FunctionType):
                yield f"{module}.{name}.{part}", method


def is_described(item: object) -> bool:
    """Return whether it has a docstring, and each of its parameters and results a type."""
    if not isinstance(item, FunctionType):
        return bool(item.__doc__)
    documented = inspect.getdoc(item)  # of a base class where the method has none
    names = {*inspect.signature(item).parameters, "return"} - {"self", "cls"}
    return bool(documented) and names <= item.__annotations__.keys()
