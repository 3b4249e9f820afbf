"""Where programs are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gm_arena import programs
from gm_arena.programs import find_program
from tests.tools import require_tool


def test_a_game_of_debian_s_is_found_where_nobody_has_it_on_the_path(
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


def test_stockfish_is_found_as_reconchess_s_trout_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = require_tool("stockfish")
    if str(installed.parent) != programs.GAMES:
        pytest.skip(f"stockfish is in {installed.parent}, not in {programs.GAMES}")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert find_program("stockfish") == str(installed)
