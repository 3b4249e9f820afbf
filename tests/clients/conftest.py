"""What the tests of several clients share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.clients.other_languages import NODE, PYTHON, Bots, C, compile_c
from tests.tools import require_tool


@pytest.fixture(scope="session")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Bots:
    """How to start each random bot. The one in C watches its own memory."""
    folder = tmp_path_factory.mktemp("bots")

    def command(language: str) -> list[str | Path]:
        if language == "node":
            return [require_tool("node"), NODE / "examples" / "random_bot.js"]
        if language.startswith("python"):
            name = "random_bot_trio.py" if language == "python-trio" else "random_bot.py"
            return [sys.executable, PYTHON / "examples" / name]
        program = folder / "random_bot"
        return [program if program.exists() else compile_c(program, C / "examples" / "random_bot.c")]

    return command
