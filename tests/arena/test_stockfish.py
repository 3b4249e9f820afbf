"""Where Stockfish is said to be, and where it is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gm_arena.stockfish import VARIABLE, say_where, stockfish
from tests.tools import require_tool


def test_the_variable_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "stockfish"
    monkeypatch.setenv(VARIABLE, str(program))
    assert stockfish() is None
    say_where()
    assert os.environ[VARIABLE] == str(program), "what somebody has said stays"
    program.touch()
    assert stockfish() == str(program)


def test_without_it_the_one_that_is_installed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = require_tool("stockfish")
    monkeypatch.setenv(VARIABLE, "")  # so that it is put back afterwards
    monkeypatch.delenv(VARIABLE)
    assert stockfish() == str(installed)
    say_where()
    assert os.environ[VARIABLE] == str(installed)
