"""Programs that some tests run and that not every machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

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


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("GMD_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason}, and GMD_REQUIRE_ALL=1 lets no test be skipped for that")
    pytest.skip(reason)
