"""``gmd check --repair`` loses no undamaged game, whatever happened to the file, and leaves an undamaged log."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.migrations import HEAD
from gmd.event_log.opening import open_log
from gmd.repair.repairing import repair
from tests.cli.commands import gmd
from tests.repair.logs import (
    FILE,
    TABLES,
    WAYS,
    Stored,
    damage,
    games_by_page,
    games_of,
    rows_of,
    spoil_row,
)
from tests.serving import served

WHOLE = "nothing is damaged."


def assert_checked_whole(data: Path) -> None:
    checked = gmd("check", "--data", data)
    assert (checked.status, checked.err) == (0, "")
    assert checked.out.endswith(f": {WHOLE}\n")


def test_repair_reads_the_rows_of_an_undamaged_log_as_sqlite_does(stored: Stored, data: Path) -> None:
    done = repair(data)
    assert rows_of(data) == stored.rows
    assert (done.changes, done.set_aside) == ([], None)
    assert (done.games, done.events, done.players) == tuple(
        len(stored.rows[table]) for table in TABLES[:2] + TABLES[3:4]
    )
    assert done.original.read_bytes() == (stored.directory / FILE).read_bytes()


@pytest.mark.parametrize("seed", range(24))
def test_damaged_bytes_lose_only_games_with_rows_on_the_damaged_pages(seed: int, stored: Stored, data: Path) -> None:
    pages = damage(data, seed)
    damaged = (data / FILE).read_bytes()
    repaired = repair(data)
    assert_checked_whole(data)
    by_page = games_by_page(stored.directory)
    hit = {game_id for page in pages for game_id in by_page.get(page, ())}
    games, kept = games_of(stored.rows), games_of(rows_of(data))
    assert {game_id: kept.get(game_id) for game_id in games.keys() - hit} == {
        game_id: games[game_id] for game_id in games.keys() - hit
    }
    # Of the other games, those that are kept have the same events: a game is kept whole, or not at all. A flipped bit,
    # however, may turn one legal move into another; the log has no checksums that would show this.
    same = len if Random(seed).choice(list(WAYS)) == "flipped" else list[Any]
    assert {id_: same(kept[id_][1]) for id_ in kept} == {id_: same(games[id_][1]) for id_ in kept}
    assert repaired.original.read_bytes() == damaged


@pytest.mark.parametrize("seed", range(100, 124))
def test_damaged_column_loses_at_most_its_own_game(seed: int, stored: Stored, data: Path) -> None:
    table, key = spoil_row(data, seed)
    repair(data)
    assert_checked_whole(data)
    games, kept = games_of(stored.rows), games_of(rows_of(data))
    of_game = {"games": key, "events": key}.get(table)
    for game_id in games.keys() - {of_game}:
        assert kept[game_id] == games[game_id]
    if table != "players":
        assert rows_of(data)["players"] == stored.rows["players"]


@pytest.mark.parametrize("place", [0, 100, 20])
def test_damage_at_the_start_of_the_file_loses_no_game(place: int, stored: Stored, data: Path) -> None:
    content = bytearray((data / FILE).read_bytes())
    content[place : place + 512] = bytes(512)
    (data / FILE).write_bytes(content)
    ran = gmd("check", "--repair", "--data", data)
    assert ran.status == 0, ran
    assert games_of(rows_of(data)) == games_of(stored.rows)
    assert_checked_whole(data)


def test_repair_reports_its_changes_and_sets_aside_what_it_does_not_keep(stored: Stored, data: Path) -> None:
    lost, mended, robbed = sorted(games_of(stored.rows))[5:8]
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("UPDATE events SET event = '?' WHERE game_id = ? AND seq = 0", (lost,))
        connection.execute("UPDATE games SET ply_index = 99 WHERE game_id = ?", (mended,))
        connection.execute("DELETE FROM games WHERE game_id = ?", (robbed,))
        (player,) = connection.execute("SELECT max(player) FROM players").fetchone()
        connection.execute("UPDATE players SET key = x'00' WHERE player = ?", (player,))
        connection.commit()
    status, out, err = gmd("check", "--repair", "--data", data)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    (set_aside,) = data.glob("set-aside-*.jsonl")
    (original,) = data.glob("games.sqlite.damaged-*")
    assert lines[-7:] == [
        f"game {lost}: set aside: event 0: it cannot be read: JSON is malformed: invalid character (byte 0): '?'",
        f"game {mended}: its row was damaged, and was rebuilt from its events",
        f"game {robbed}: its row is lost, and was rebuilt from its events",
        f"players, row {player}: set aside: key is not a digest of 32 bytes; player {player} is kept as 'player-11', "
        "and has no key",
        f"Repaired: {len(games_of(stored.rows)) - 1} games with "
        f"{len(stored.rows['events']) - len(games_of(stored.rows)[lost][1])} events and 12 players are intact.",
        f"Damaged data is set aside in {set_aside}",
        f"The damaged file is kept as {original}",
    ]
    assert set_aside.stat().st_mode & 0o777 == 0o600
    aside = [json.loads(line) for line in set_aside.read_text().splitlines()]
    of_lost = [each for each in aside if each.get("table") == "events"]
    assert [each["columns"]["event"] for each in of_lost] == [
        "?",
        *(event for _, _, event in games_of(stored.rows)[lost][1][1:]),
    ]
    (of_player,) = (each for each in aside if each["table"] == "players")
    assert of_player["columns"]["key"] == {"base64": "AA=="}
    assert_checked_whole(data)


def test_id_of_a_lost_game_is_never_reused(stored: Stored, data: Path) -> None:
    newest = max(games_of(stored.rows))
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("DELETE FROM events WHERE game_id = ? AND seq = 0", (newest,))
        connection.commit()
    repair(data)
    with open_log(str(data)) as log:
        assert log.next_game_id() == newest + 1


def test_repair_does_not_restore_removed_games(stored: Stored, data: Path) -> None:
    content = bytearray((data / FILE).read_bytes())
    content[0:100] = bytes(100)  # this includes the list of free pages
    (data / FILE).write_bytes(content)
    repair(data)
    assert not games_of(rows_of(data)).keys() - games_of(stored.rows).keys()


def test_undamaged_log_is_left_unchanged(data: Path) -> None:
    before = (data / FILE).read_bytes()
    assert gmd("check", "--repair", "--data", data).out.endswith(f"{WHOLE}\n")
    assert (data / FILE).read_bytes() == before
    assert not list(data.glob("*damaged*"))


async def test_repair_keeps_commits_of_a_killed_daemon_that_are_only_in_the_wal(tmp_path: Path) -> None:
    """The daemon's last commits are only in the write-ahead log."""
    with open_log(str(tmp_path / "data")):
        pass
    live = sqlite3.connect(tmp_path / "data" / FILE, isolation_level=None)
    live.execute("INSERT INTO retired VALUES (77)")
    copy = tmp_path / "copy"
    copy.mkdir()
    for ending in ("", "-wal"):
        (copy / f"{FILE}{ending}").write_bytes((tmp_path / "data" / f"{FILE}{ending}").read_bytes())
    live.close()
    assert (copy / f"{FILE}-wal").stat().st_size
    done = repair(copy)
    assert rows_of(copy)["retired"] == [(77,)]
    assert done.original.with_name(f"{done.original.name}-wal").exists()


def test_log_locked_by_a_daemon_is_not_changed(data: Path) -> None:
    damage(data, 3)
    before = (data / FILE).read_bytes()
    with (
        locked_directory(data),
        pytest.raises(DataError, match=f"is in use by another gmd: process {os.getpid()}"),
    ):
        repair(data)
    assert (data / FILE).read_bytes() == before


def test_log_open_in_another_program_is_not_changed(data: Path) -> None:
    with served("--data", str(data)):
        (data / "lock").unlink()  # the lock file is not what protects the log here
        with pytest.raises(DataError, match="is open in another program; end that program, then repair again"):
            repair(data)


def test_foreign_file_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"my novel" * 1_000)
    status, _, err = gmd("check", "--repair", "--data", tmp_path)
    assert (status, err) == (
        2,
        f"Error: data: nothing in {tmp_path / FILE} belongs to a log of games; nothing was changed\n",
    )
    assert (tmp_path / FILE).read_bytes() == b"my novel" * 1_000


def test_log_of_another_schema_revision_is_left_unchanged(data: Path) -> None:
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(DataError, match=f"is at revision 9999 of its schema, and this program repairs {HEAD}"):
        repair(data)
