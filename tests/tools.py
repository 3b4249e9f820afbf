"""Programs and modules that some tests need and that not every machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

import gmd.http.pages

#: Where the build brings the moving board of the pages.
BOARD = Path(gmd.http.pages.__file__).parent / "static/chessground"
#: The directory of games on Debian, stockfish among them; not every user has it on the PATH.
GAMES = "/usr/games"


def require_tool(name: str, *trial: str) -> Path:
    """Return the path of the program ``name``. Without it the test is skipped, or fails where GMD_REQUIRE_ALL=1.

    :param trial: arguments with which it must exit with status 0: a program may be installed and not be allowed to
        work.
    """
    found = shutil.which(name) or shutil.which(name, path=GAMES)
    if found is None:
        _do_without(f"{name} is not installed")
    if trial and subprocess.run([found, *trial], capture_output=True, check=False).returncode != 0:
        _do_without(f"{name} is installed, and does not work here")
    return Path(found)


def require_any_tool(*names: str) -> Path:
    """Return the path of the first of these programs that is there, as :func:`require_tool`."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        _do_without(f"none of {', '.join(names)} is installed")
    return Path(found)


def require_program_of(name: str, folders: Sequence[Path]) -> Path:
    """Return the path of the program ``name`` in the first of the folders that has it, or else on the PATH.

    Without it the test is skipped, or fails where GMD_REQUIRE_ALL=1.
    """
    places = [str(folder) for folder in folders] + os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        _do_without(f"{name} is not installed")
    return Path(found)


def require_module(name: str) -> ModuleType:
    """Import a module. Without it the test, or its module, is skipped, or fails where GMD_REQUIRE_ALL=1."""
    package = name.partition(".")[0]
    if find_spec(package) is None:
        _do_without(f"the module {package} is not installed")
    return import_module(name)


def require_board() -> Path:
    """Return the folder of the moving board. Without it the test is skipped, or fails where GMD_REQUIRE_ALL=1."""
    if not (BOARD / "LICENSE").exists():
        _do_without("the moving board of the pages was not downloaded (make board)")
    return BOARD


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("GMD_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason}, and GMD_REQUIRE_ALL=1 lets no test be skipped for that")
    pytest.skip(reason, allow_module_level=True)
