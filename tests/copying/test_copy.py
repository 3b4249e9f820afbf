"""``gmd copy`` moves a whole log between SQLite and PostgreSQL, compares every row, and can be stopped."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, text

from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.migrations import migrate
from gmd.event_log.opening import open_log, open_store
from gmd.event_log.tables import contests, players
from tests.cli.commands import Ran, change, filled, gmd, gmd_process
from tests.postgres import new_database, require_postgres
from tests.serving import environment

KINDS = ("sqlite", "postgres")
#: Copies with small transactions, and is killed when some rows are written.
KILLED = """
import os, signal, sys
from gmd.copying import rows
rows.BATCH_ROWS = 3
from gmd.copying import copying
from gmd.copying.places import opened_source, opened_target
left = int(sys.argv[3])
def advance(count):
    global left
    left -= count
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
with opened_source(sys.argv[1]) as place, opened_target(sys.argv[2], again=False) as target:
    source = copying.Source(place)
    source.check(lambda count: None)
    copying.write_rows(source, target.place, advance)
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with games, players and a contest. Tests must not change it."""
    data = filled(tmp_path_factory.mktemp("played"))
    with open_store(str(data)) as store, store._transaction() as connection:
        account = {"name": "Émile", "folded": "émile", "created": "2026-01-01T00:00:00Z", "key": b"\0" * 32}
        connection.execute(insert(players), [{"player": 2**52 + 1, **account}])
        contest = {"contest_id": 1, "player": None, "operator": True, "token": b"\xff" * 32, "began": 1.5}
        report = r'{"name": "a\u0000b \\ \"", "tab": "' + "\t" + '"}'
        connection.execute(insert(contests), [{**contest, "changed": 2.25, "report": report}])
        connection.execute(text("INSERT INTO retired VALUES (9007199254740991)"))
    return data


@contextmanager
def empty_place(kind: str, tmp_path: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield str(tmp_path / "empty")
        return
    require_postgres()
    with new_database() as url:
        yield url


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with empty_place(request.param, tmp_path) as place:
        yield place


def copied(source: str | Path, target: str | Path, *options: str) -> Ran:
    return gmd("copy", "--from", source, "--to", target, *options)


def digest_of(ran: Ran) -> str:
    assert ran.status == 0, ran
    return ran.out.rsplit(" ", 1)[1]


def at(place: str) -> tuple[str, str]:
    return ("--database" if "://" in place else "--data", place)


@contextmanager
def engine_of(place: str) -> Iterator[Engine]:
    directory, database = ("", place) if "://" in place else (place, None)
    with open_store(directory, database) as store:
        yield store._engine


@pytest.mark.parametrize("back", KINDS)
def test_log_is_the_same_there_and_back(played: Path, target: str, back: str, tmp_path: Path) -> None:
    before = (played / "games.sqlite").read_bytes()
    there = copied(played, target, "--replay")
    name = "empty" if "://" not in target else "postgresql://"
    assert there.out.startswith("Copied 5 games, 16 events, 1 token, 1 player and 1 contest to "), there
    assert name in there.out
    assert there.out.endswith("Every game replays.\n")
    assert (played / "games.sqlite").read_bytes() == before
    with empty_place(back, tmp_path / "back") as second:
        returned = copied(target, second)
        assert digest_of(returned) in there.out
        assert digest_of(copied(second, tmp_path / "third")) == digest_of(returned)
        with engine_of(second) as engine, engine.connect() as connection:
            assert connection.execute(text("SELECT game_id FROM retired")).scalars().all() == [2**53 - 1]


def test_log_without_games_is_copied(target: str, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "nothing")):
        pass
    ran = copied(tmp_path / "nothing", target)
    assert ran.out.startswith("Copied 0 games, 0 events, 0 tokens, 0 players and 0 contests to ")
    assert ran.status == 0


def test_target_that_has_rows_is_refused(played: Path, target: str) -> None:
    copied(played, target)
    ran = copied(played, target)
    assert ran.status == 2
    assert "is not empty: it has a row of players, a row of contests, a row of retired, a row of tokens, " in ran.err
    assert ran.err.endswith("5 rows of games, 16 rows of events; name another place with --to\n")


@pytest.mark.long
@pytest.mark.parametrize("written", [1, 4, 9, 19])
def test_killed_copy_goes_on_where_it_was(played: Path, target: str, written: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(played), target, str(written)]
    assert subprocess.run(command, env=environment(), check=False).returncode == -signal.SIGKILL
    directory, database = (str(tmp_path / "own"), target) if "://" in target else (target, None)
    refused = pytest.raises(DataError, match="holds a part of a log: `gmd copy` was stopped")
    with refused, open_log(directory, database=database):
        pass
    assert "holds a part of a log" in copied(target, tmp_path / "elsewhere").err
    resumed = copied(played, target)
    assert "has a part of a log already; the copy goes on from there" in resumed.err
    assert digest_of(resumed) == digest_of(copied(played, tmp_path / "whole"))


def test_source_that_changed_since_the_copy_was_stopped_is_found(played: Path, target: str, tmp_path: Path) -> None:
    data = shutil.copytree(played, tmp_path / "data")
    subprocess.run([sys.executable, "-c", KILLED, data, target, "19"], env=environment(), check=False)
    change(data, "UPDATE events SET event = '{}' WHERE game_id = 1 AND seq = 2")
    ran = copied(data, target)
    assert ran.status == 2
    assert "events: row 1, 2 is not the same in both: the source has changed since the copy began" in ran.err
    assert copied(data, target).status == 2
    assert copied(data, target, "--again").status == 0


def test_damaged_rows_are_named_and_left_out_only_if_told(played: Path, target: str, tmp_path: Path) -> None:
    data = shutil.copytree(played, tmp_path / "data")
    change(
        data,
        "UPDATE games SET seconds_left = 'soon' WHERE game_id = 2",
        "UPDATE events SET event = x'ff00' WHERE game_id = 5 AND seq = 1",
        "UPDATE players SET name = 'a' || char(0) || 'b'",
    )
    ran = copied(data, target)
    named = [
        "players, row 4503599627370497: name is 'a\\x00b', which is text with a NUL character, "
        "which PostgreSQL does not keep",
        "games, row 2: seconds_left is 'soon', which is not a finite number",
        "events, row 5, 1: event is b'\\xff\\x00', which is not text",
    ]
    assert ran.err.splitlines()[:3] == named
    assert ran.err.splitlines()[3].startswith("3 rows damaged; nothing was copied.")
    assert (ran.status, ran.out) == (1, "")
    ran = copied(data, target, "--leave-out-damaged", "--replay")
    assert ran.status == 1
    assert ran.out.startswith("Copied 3 games, ")
    assert "Left out: 3 damaged rows, and 2 games that they belong to." in ran.out
    assert ran.out.endswith("Every game replays.\n")


def test_game_that_does_not_replay_is_copied_and_named(played: Path, target: str, tmp_path: Path) -> None:
    data = shutil.copytree(played, tmp_path / "data")
    change(data, "DELETE FROM events WHERE game_id = 1 AND seq = 2")
    ran = copied(data, target, "--replay")
    assert ran.status == 1
    assert "game 1, event 2: it is missing; the next one is 3\n1 game damaged.\n" in ran.out


def test_directory_in_use_is_refused(played: Path, tmp_path: Path) -> None:
    for source, target in ((played, tmp_path / "new"), (tmp_path / "new", played)):
        with locked_directory(played):
            if source != played:
                filled(source)
            assert "is in use by another gmd: process" in copied(source, target).err


def test_place_without_a_log_is_refused_and_not_made(tmp_path: Path) -> None:
    ran = copied(tmp_path / "nothing", tmp_path / "new")
    assert (ran.status, "does not exist" in ran.err) == (2, True)
    assert not list(tmp_path.iterdir())
    assert copied(tmp_path, tmp_path).err == "Error: --from and --to name the same place\n"


def test_directory_with_the_record_of_a_lost_log_is_refused(played: Path, tmp_path: Path) -> None:
    shutil.copy(played / "last-commit", tmp_path)
    assert "has the file last-commit of a log whose games are gone" in copied(played, tmp_path).err


def test_database_that_daemons_use_is_refused(played: Path, tmp_path: Path) -> None:
    from gmd.event_log.postgres_engine import open_engine

    require_postgres()
    with new_database() as url:
        copied(played, url)
        engine = open_engine(url)
        with engine.begin() as connection:
            connection.execute(text(_DAEMON))
        engine.dispose()
        for source, target in ((url, tmp_path / "new"), (played, url)):
            ran = copied(source, target)
            assert (ran.status, "is in use by 1 daemon; stop them first" in ran.err) == (2, True), ran


_DAEMON = """
INSERT INTO daemons (daemon, link, game, version, until) VALUES (7, 'a:1', 'a:2', '9', now() + interval '1 h')
"""


def test_database_cannot_be_written_while_it_is_copied(played: Path) -> None:
    from sqlalchemy.exc import OperationalError

    from gmd.copying.places import opened_source
    from gmd.event_log.postgres_engine import open_engine

    require_postgres()
    with new_database() as url:
        copied(played, url)
        writer = open_engine(url)
        with opened_source(url), writer.connect() as connection:
            connection.execute(text("SET lock_timeout = '1ms'"))
            with pytest.raises(OperationalError, match="lock timeout"):
                connection.execute(text("DELETE FROM tokens"))
        writer.dispose()


def test_two_copies_into_one_database_are_refused(played: Path) -> None:
    from gmd.copying.places import opened_target

    require_postgres()
    with new_database() as url, opened_target(url, again=False):
        assert "is in use by another gmd copy" in copied(played, url).err


def test_password_is_shown_nowhere(played: Path) -> None:
    ran = gmd_process("copy", "--from", played, "--to", "postgresql://gmd:secret@127.0.0.1:1/gmd")
    assert ran.status == 2
    assert "secret" not in ran.out + ran.err
    assert ran.err.startswith("Error: postgresql://gmd@127.0.0.1:1/gmd cannot be used: ")


def test_older_schema_in_the_target_is_brought_up_to_date(played: Path, tmp_path: Path) -> None:
    from gmd.event_log.sqlite import open_engine

    (tmp_path / "old").mkdir()
    engine = open_engine(tmp_path / "old" / "games.sqlite")
    migrate(engine)
    engine.dispose()
    change(tmp_path / "old", "DROP TABLE contests", "UPDATE alembic_version SET version_num = '0006'")
    assert copied(played, tmp_path / "old").status == 0
