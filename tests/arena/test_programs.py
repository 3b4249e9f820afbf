"""The search for programs, and for Stockfish, whose path a variable may give."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gm_arena import programs
from gm_arena.programs import find_program
from gm_arena.stockfish import VARIABLE, say_where, stockfish
from tests.tools import require_tool


def test_program_among_debian_s_games_is_found_without_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path, among_games = tmp_path / "bin", tmp_path / "games"
    for folder, names in ((on_path, ["both"]), (among_games, ["both", "engine"])):
        folder.mkdir()
        for name in names:
            (folder / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(on_path))
    monkeypatch.setattr(programs, "GAMES", str(among_games))
    assert find_program("both") == str(on_path / "both")
    assert find_program("engine") == str(among_games / "engine")
    assert find_program("neither") is None


def test_stockfish_is_found_as_reconchess_s_trout_bot_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = require_tool("stockfish")
    if str(installed.parent) != programs.GAMES:
        pytest.skip(f"stockfish is in {installed.parent}, not in {programs.GAMES}")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert find_program("stockfish") == str(installed)


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
