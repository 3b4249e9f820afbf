"""``gmd status``: the daemon of a data directory, and the games there or in a database."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gmd import Config, background_daemon
from tests.cli.commands import gmd
from tests.postgres import clean_database, require_postgres


def test_status_of_a_data_directory(tmp_path: Path) -> None:
    with background_daemon(Config(port=0, data=str(tmp_path))):
        ran = gmd("status", "--data", tmp_path)
        process = os.getpid()
        assert ran.status == 0
        assert f" runs as process {process}; 0 games, 0 of them live\n" in ran.out
        assert json.loads(gmd("status", "--data", tmp_path, "--json").out)["process"] == process
    ran = gmd("status", "--data", tmp_path)
    assert (ran.status, ran.out) == (1, f"{tmp_path}: no daemon runs; 0 games, 0 of them live\n")


@pytest.mark.slow
def test_status_of_a_database(tmp_path: Path) -> None:
    require_postgres()
    file = tmp_path / "games.pgn"
    file.write_text('[White "1"]\n[Black "2"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n')
    with clean_database() as url:
        assert gmd("import", "--database", url, file).status == 0
        ran = gmd("status", "--database", url)
        assert (ran.status, ran.out.partition(": ")[2]) == (1, "1 game, 0 of them live\nno daemon serves\n")
        found = json.loads(gmd("status", "--database", url, "--json").out)
        assert (found["games"], found["live_games"], found["server"], found["standbys"]) == (1, 0, None, [])
