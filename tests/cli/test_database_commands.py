"""Commands with ``--database``: those that read or write games without a daemon, on PostgreSQL, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gmd.cli import main
from tests.postgres import clean_database, require_postgres

PGN = '[Event "a"]\n[White "1"]\n[Black "2"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n'


#: Where a command that asks a daemon is run.
WHERE = "run this command on the machine of the daemon that serves, with its --data"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def games(tmp_path: Path) -> Path:
    require_postgres()
    file = tmp_path / "games.pgn"
    file.write_text(PGN * 3)
    return file


@pytest.mark.slow
def test_games_are_imported_checked_and_exported(games: Path, tmp_path: Path) -> None:
    with clean_database() as url:
        at = ("--database", url)
        done = run("import", *at, games)
        assert (done.exit_code, done.output) == (0, "Imported 3 games\n"), done.output
        done = run("check", *at)
        assert (done.exit_code, done.stdout) == (0, "3 games with 6 events: nothing is damaged.\n")
        exported, again = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
        assert run("export", *at, "--format", "jsonl", "--output", exported).exit_code == 0
        assert run("import", "--data", tmp_path / "copy", exported).exit_code == 0
        assert run("export", "--data", tmp_path / "copy", "--format", "jsonl", "--output", again).exit_code == 0
        assert again.read_text() == exported.read_text()
        assert run("import", *at, exported).output == "Imported 0 games, 3 were there already\n"
        done = run("leaderboard", "--recompute", *at, "--json")
        assert (done.exit_code, done.output) == (0, '{\n  "leaderboard": [],\n  "games": 0\n}\n')


@pytest.mark.slow
def test_damage_is_found_in_a_database(games: Path) -> None:
    from gmd.event_log.postgres_engine import open_engine

    with clean_database() as url:
        run("import", "--database", url, games)
        engine = open_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM events WHERE game_id = 2 AND seq = 0")
        engine.dispose()
        done = run("check", "--database", url)
        assert done.exit_code == 1
        assert done.stdout.startswith("game 2, event 0: it is missing; the next one is 1\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("export", "--data", "games"), "--data and --database name two places; leave one of them out"),
        (("players", "--data", "games"), "--data and --database name two places; leave one of them out"),
        (("leaderboard",), "--database needs --recompute; a running daemon is found by its --data"),
        (("players", "--here"), f"--here: only a running daemon knows; {WHERE}"),
        (("register", "bot"), f"--database: this command asks a running daemon; {WHERE}"),
        (("rekey", "bot"), f"--database: this command asks a running daemon; {WHERE}"),
        (("revoke", "bot"), f"--database: this command asks a running daemon; {WHERE}"),
    ],
)
def test_contradictions_are_refused(arguments: tuple[str, ...], sentence: str) -> None:
    done = run(*arguments, "--database", "postgresql://host/games")
    assert done.exit_code == 2
    assert sentence in done.output


@pytest.mark.slow
def test_database_comes_from_the_environment_unless_a_directory_is_named(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clean_database() as url:
        run("import", "--data", tmp_path / "here", games)
        monkeypatch.setenv("GMD_DATABASE", url)
        assert run("check").stdout.startswith("0 games")
        assert run("check", "--data", tmp_path / "here").stdout.startswith("3 games")


@pytest.mark.slow
def test_players_are_listed_from_a_database_without_a_daemon(tmp_path: Path) -> None:
    from sqlalchemy import insert

    from gmd.event_log.postgres_engine import open_engine
    from gmd.event_log.tables import players

    require_postgres()
    with clean_database() as url:
        engine = open_engine(url)
        row = {"created": "2026-01-01T00:00:00Z", "key": b"1" * 32, "password": None}
        with engine.begin() as connection:
            for number, name in enumerate(("Ann", "Bob")):
                key = None if name == "Bob" else row["key"]
                named = {"player": 2**52 + number, "name": name, "folded": name.lower()}
                connection.execute(insert(players), row | named | {"key": key})
        engine.dispose()
        done = run("players", "--database", url)
        assert (done.exit_code, done.stdout) == (
            0,
            f"{2**52 + 1}  2026-01-01T00:00:00Z  Bob  (revoked)\n{2**52}  2026-01-01T00:00:00Z  Ann\n",
        )
    refused = run("players", "--database", "postgresql://gmd:secret@127.0.0.1:1/gmd")
    assert refused.exit_code == 2
    assert "secret" not in refused.output
