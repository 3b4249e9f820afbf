"""The path of Stockfish: given by a variable, or found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gm_arena.stockfish import VARIABLE, say_where, stockfish
from tests.tools import require_tool


def test_variable_decides_where_stockfish_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "stockfish"
    monkeypatch.setenv(VARIABLE, str(program))
    assert stockfish() is None
    say_where()
    assert os.environ[VARIABLE] == str(program), "a value that is set stays"
    program.touch()
    assert stockfish() == str(program)


def test_installed_stockfish_is_found_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = require_tool("stockfish")
    monkeypatch.setenv(VARIABLE, "")  # so that monkeypatch restores it afterwards
    monkeypatch.delenv(VARIABLE)
    assert stockfish() == str(installed)
    say_where()
    assert os.environ[VARIABLE] == str(installed)
