"""``gmd export`` and ``gmd import`` bring every whole game of a damaged log into a new one, whatever happened to the
file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio
from sqlalchemy import Engine, Table

from gmd.event_log.damage import checked_rows
from gmd.event_log.directory import DataError, locked_directory
from gmd.event_log.migrations import HEAD
from gmd.event_log.opening import open_readable
from gmd.event_log.tables import contests, players
from gmd.lobby.contest_sql import read_contest
from gmd.players.account import Account
from gmd.players.sql import account_of
from tests.archive.damaged_logs import (
    FILE,
    PAGE,
    WAYS,
    Rows,
    Stored,
    damage,
    games_by_page,
    games_of,
    rows_of,
    seeds,
    spoil_row,
)
from tests.cli.commands import Ran, change, gmd
from tests.helpers import running_daemon

WHOLE = "nothing is damaged."


def exported(data: Path) -> Ran:
    """Export what is whole to a file beside a log."""
    return gmd("export", "--data", data, "--all", data.parent / "whole.jsonl", "--replay")


def carried_over(data: Path) -> tuple[Ran, Rows]:
    """Export and import what is whole of a log; return how the export ended, and the rows of the new log."""
    ran = exported(data)
    assert ran.status in (0, 1), ran
    imported = gmd("import", "--data", data.parent / "new", data.parent / "whole.jsonl")
    assert (imported.status, imported.err) == (0, "")
    checked = gmd("check", "--data", data.parent / "new")
    assert (checked.status, checked.err) == (0, "")
    assert checked.out.endswith(f": {WHOLE}\n")
    return ran, rows_of(data.parent / "new")


def whole_games(rows: Rows, *without: int) -> dict[int, Any]:
    """Return the rows of each game: its own, its events and its token."""
    tokens = {row[1]: row for row in rows["tokens"]}
    return {
        game_id: (row, events, tokens.get(game_id))
        for game_id, (row, events) in games_of(rows).items()
        if game_id not in without
    }


def zero_bytes(data: Path, start: int, size: int) -> None:
    content = bytearray((data / FILE).read_bytes())
    content[start : start + size] = bytes(size)
    (data / FILE).write_bytes(content)


def zero_root(data: Path, name: str) -> None:
    """Zero the first page of a table or an index."""
    with closing(sqlite3.connect(data / FILE)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    zero_bytes(data, (page - 1) * PAGE, PAGE)


@contextmanager
def recovered(data: Path) -> Iterator[Engine]:
    with open_readable(str(data)) as (engine, damages):
        assert damages
        yield engine


def test_undamaged_log_is_carried_over_row_by_row(stored: Stored, data: Path) -> None:
    ran, new = carried_over(data)
    assert (ran.status, ran.err) == (0, "")
    assert new == stored.rows


@pytest.mark.parametrize("seed", seeds(range(12)))
def test_damaged_bytes_lose_only_games_with_rows_on_the_damaged_pages(
    seed: int, stored: Stored, data: Path, tmp_path: Path
) -> None:
    by_page = games_by_page(stored.directory, tmp_path)
    hit = {game_id for page in damage(data, seed) for game_id in by_page.get(page, ())}
    before = (data / FILE).read_bytes()
    ran, new = carried_over(data)
    games, kept = whole_games(stored.rows), whole_games(new)
    # A token may be on a damaged page of its own.
    assert {game_id: kept.get(game_id, ())[:2] for game_id in games.keys() - hit} == {
        game_id: games[game_id][:2] for game_id in games.keys() - hit
    }
    # Of the other games, those that are kept have the same events: a game is kept whole, or not at all. A flipped bit,
    # however, may turn one legal move into another; the log has no checksums that would show this.
    same = len if Random(seed).choice(list(WAYS)) == "flipped" else list[Any]
    assert {id_: same(kept[id_][1]) for id_ in kept} == {id_: same(games[id_][1]) for id_ in kept}
    lost = games.keys() - kept.keys()
    assert ran.status == 1 or not lost
    assert "is damaged: " in ran.err or {id_ for id_ in lost if f"game {id_} is left out" in ran.err} == lost
    assert (data / FILE).read_bytes() == before


@pytest.mark.parametrize("seed", seeds(range(100, 112)))
def test_damaged_column_loses_at_most_its_own_game(seed: int, stored: Stored, data: Path) -> None:
    table, key = spoil_row(data, seed)
    _, new = carried_over(data)
    games, kept = whole_games(stored.rows), whole_games(new)
    own = {"games": key, "events": key}.get(table)
    if table == "tokens":
        (own,) = (game_id for token, game_id, _ in stored.rows["tokens"] if token == key)
        assert kept[own][:2] == games[own][:2]
    for game_id in games.keys() - {own}:
        assert kept[game_id] == games[game_id]
    others = [row for row in stored.rows["players"] if table != "players" or row[0] != key]
    assert [row for row in new["players"] if table != "players" or row[0] != key] == others


@pytest.mark.parametrize("place", seeds([0, 100, 20]))
def test_damage_at_the_start_of_the_file_loses_no_game(place: int, stored: Stored, data: Path) -> None:
    zero_bytes(data, place, 512)
    ran, new = carried_over(data)
    assert ran.status == 1
    assert new | {"retired": stored.rows["retired"]} == stored.rows


@pytest.mark.parametrize(
    "name", seeds(["events", "sqlite_autoindex_events_1", "games_by_end", "retired", "tokens_of_games"])
)
def test_damaged_first_page_of_a_tree_loses_no_game(name: str, stored: Stored, data: Path) -> None:
    zero_root(data, name)
    ran, new = carried_over(data)
    assert (ran.status, ran.err.splitlines()) == (
        1,
        [f"data: the file in {data} is damaged: database disk image is malformed; what is whole is exported"],
    )
    assert new | {"retired": stored.rows["retired"]} == stored.rows


def test_damaged_games_are_named_and_left_out(stored: Stored, data: Path) -> None:
    lost, shorter, robbed, nameless = sorted(games_of(stored.rows))[5:9]
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("UPDATE events SET event = '?' WHERE game_id = ? AND seq = 0", (lost,))
        connection.execute(
            "DELETE FROM events WHERE game_id = :id AND seq = (SELECT max(seq) FROM events WHERE game_id = :id)",
            {"id": shorter},
        )
        connection.execute("DELETE FROM games WHERE game_id = ?", (robbed,))
        connection.execute("UPDATE tokens SET content = 'x' WHERE game_id = ?", (nameless,))
        connection.commit()
    ran, new = carried_over(data)
    count = len(games_of(stored.rows)[shorter][1])
    assert (ran.status, ran.err.splitlines()) == (
        1,
        [
            f"game {lost} is left out: event 0: it cannot be read: JSON is malformed: invalid character (byte 0): '?'",
            f"game {shorter} is left out: its row says that events is {count}; its events say {count - 1}",
            f"game {robbed} is left out: its own row is lost",
            f"a token of game {nameless} is left out: Expected `bytes`, got `str` - at `$.content`",
        ],
    )
    games = whole_games(stored.rows, lost, shorter, robbed)
    games[nameless] = (*games[nameless][:2], None)
    assert whole_games(new) == games


@pytest.mark.parametrize("seq", [5, 11], ids=["in the place of one", "after the last one"])
def test_damaged_event_of_another_game_does_no_harm(seq: int, stored: Stored, data: Path) -> None:
    """One bit of an event's row has changed, so that it has the number of another game."""
    games = games_of(stored.rows)
    other = next(game_id for game_id in sorted(games) if 5 < len(games[game_id][1]) <= 11)
    robbed = next(game_id for game_id in sorted(games) if len(games[game_id][1]) > 11 and game_id < 128)
    row = bytes([seq]) + games[robbed][1][seq][2].encode()
    content = (data / FILE).read_bytes()
    assert content.count(bytes([robbed]) + row) == 1
    (data / FILE).write_bytes(content.replace(bytes([robbed]) + row, bytes([other]) + row))
    ran, new = carried_over(data)
    assert ran.status == 1
    assert whole_games(new) == whole_games(stored.rows, robbed)


def test_schema_whose_damage_sqlite_cannot_name_is_recovered(stored: Stored, data: Path) -> None:
    """SQLite quotes the damaged name of a table in its error, which Python cannot decode."""
    content = (data / FILE).read_bytes()
    for name, damaged in (
        (b"retiredretired", b"\xdfetiredretired"),
        (b"CREATE TABLE retired", b"CREATE \xdfABLE retired"),
    ):
        assert content.count(name) == 1
        content = content.replace(name, damaged)
    (data / FILE).write_bytes(content)
    assert gmd("check", "--data", data).err.startswith(f"Error: data: {data / FILE} cannot be read as a log of games: ")
    _, new = carried_over(data)
    assert new | {"retired": stored.rows["retired"]} == stored.rows


def test_player_and_contest_that_the_daemon_could_not_read_are_left_out(stored: Stored, data: Path) -> None:
    player = max(stored.keys)
    change(data, f"UPDATE players SET nonce = x'00' WHERE player = {player}")
    change(data, "INSERT INTO contests VALUES (1, NULL, 1, zeroblob(32), 5.0, 5.0, '{}')")
    ran, new = carried_over(data)
    assert (ran.status, [line.partition(" is left out: ")[0] for line in ran.err.splitlines()]) == (
        1,
        ["row 1 of contests", f"row {player} of players"],
    )
    assert new["players"] == [row for row in stored.rows["players"] if row[0] != player]


def test_removed_games_are_not_recovered_and_their_ids_not_used_again(stored: Stored, data: Path) -> None:
    newest = max(games_of(stored.rows))
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("PRAGMA secure_delete = OFF").close()
        for table in ("games", "events", "tokens"):
            connection.execute(f"DELETE FROM {table} WHERE game_id = ?", (newest,))
        connection.execute("UPDATE retired SET game_id = ?", (newest,))
        connection.commit()
    zero_root(data, "games_by_end")
    ran, new = carried_over(data)
    assert len(ran.err.splitlines()) == 1
    assert whole_games(new) == whole_games(stored.rows, newest)
    assert new["retired"] == [(newest,)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 512], ids=["whole file", "damaged header"])
def test_commits_that_are_only_in_the_wal_are_recovered(size: int, stored: Stored, data: Path, tmp_path: Path) -> None:
    game_id = min(games_of(stored.rows))
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as live:
        live.execute("UPDATE events SET event = '?' WHERE game_id = ?", (game_id,))
        copy = tmp_path / "copy" / "data"
        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*-shm"))
    assert (copy / f"{FILE}-wal").stat().st_size
    zero_root(copy, "games_by_end") if size == 0 else zero_bytes(copy, 0, size)
    _, new = carried_over(copy)
    assert whole_games(new) == whole_games(stored.rows, game_id)


async def test_players_and_contests_are_recovered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running_daemon(data=str(data)) as daemon:
        ada = await daemon.ask("register", name="ada")
        who = {"player": ada["player"], "key": ada["key"]}
        rows = {"columns": ["x" * 90] * 20, "players": [{"name": "ada", "cells": ["y" * 90] * 20}] * 20}
        for number, fields in enumerate(({"players": [{"name": "ada"}]}, rows)):  # the second one fills several pages
            report = {"title": f"match {number}", "form": "match", "variant": "rbc", **fields}
            await daemon.ask("contest", token=f"{number:016}", report=report, **who)
    readers: dict[Table, Callable[[Mapping[str, Any]], object]] = {players: account_of, contests: read_contest}
    with open_readable(str(data)) as (engine, damages), engine.connect() as connection:
        assert damages == []
        before = [list(checked_rows(connection, *each)) for each in readers.items()]
    assert [type(player) for _, player in before[0]] == [Account]
    assert len(before[1]) == 2
    zero_bytes(data, 0, 512)
    with recovered(data) as engine, engine.connect() as connection:
        assert [list(checked_rows(connection, *each)) for each in readers.items()] == before


def test_other_exports_of_a_damaged_file_name_the_command(data: Path) -> None:
    zero_root(data, "games")
    command = f"gmd export --data {data} --all whole.jsonl --replay"
    advice = f"`{command}` exports what is whole, for `gmd import` into a new directory"
    assert gmd("export", "--data", data, "--status", "all") == (
        2,
        "",
        f"Error: data: the log cannot be read to its end: database disk image is malformed. {advice}\n",
    )


def test_damaged_log_in_use_is_not_exported(data: Path) -> None:
    zero_bytes(data, 0, 512)
    with locked_directory(data):
        ran = exported(data)
    assert (ran.status, ran.err) == (
        2,
        f"Error: data: {data} is in use by another gmd: process {os.getpid()}; name another directory with --data\n",
    )


def test_file_without_any_row_of_a_log_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / FILE).write_bytes(b"my novel" * 1_000)
    ran = exported(data)
    assert (ran.status, ran.err) == (2, f"Error: data: nothing in {data / FILE} belongs to a log of games\n")
    assert (data / FILE).read_bytes() == b"my novel" * 1_000


def test_damaged_log_of_another_schema_revision_is_refused(data: Path) -> None:
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    zero_bytes(data, 0, 512)
    with (
        pytest.raises(DataError, match=f"is damaged, and at revision 9999 of its schema; this program reads {HEAD}"),
        recovered(data),
    ):
        pass


async def test_id_of_a_lost_player_is_not_given_to_another(tmp_path: Path) -> None:
    """Whoever gets the id of a player whose row is damaged gets that player's games."""
    data = tmp_path / "data"
    async with running_daemon(data=str(data)) as daemon:
        lost = await daemon.ask("register", name="lost")
        for seats in ({"player_white": lost["player"], "player_black": 2}, {"player_white": 1, "player_black": 2}):
            await daemon.ask("new_game", **seats, player=lost["player"], key=lost["key"])
    change(data, "UPDATE players SET created = x'ff'")
    ran = await trio.to_thread.run_sync(carried_over, data)
    assert [line.partition(" is left out")[0] for line in ran[0].err.splitlines()] == [
        f"row {lost['player']} of players"
    ]
    async with running_daemon(data=str(tmp_path / "new")) as daemon:
        assert (await daemon.ask("register", name="new"))["player"] == lost["player"] + 1
