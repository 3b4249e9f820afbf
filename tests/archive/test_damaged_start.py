"""A daemon on a damaged log serves the undamaged games, or says what to do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from gmd.config import Config
from gmd.daemon import Daemon, open_daemon
from gmd.event_log.directory import DataError
from gmd.handlers.in_process import Refused
from tests.archive.damaged_logs import FILE, Stored, damage, games_by_page, games_of, rows_of, seeds, shown, spoil_row
from tests.helpers import connected, running_daemon, troubles

EXPORT = "gmd export"


async def assert_served(data: Path, stored: Stored, games: set[int]) -> None:
    """Assert that a daemon serves these games unchanged, or gives advice at the start or for a game."""
    with structlog.testing.capture_logs() as logged:
        try:
            async with open_daemon(Config(data=str(data), port=0)) as daemon:
                answers = {game_id: await answer(daemon, game_id) for game_id in games}
        except DataError as refused:
            said = str(refused)
            answers = dict.fromkeys(games, "internal")
        else:
            said = "".join(str(entry.get("advice")) for entry in troubles(logged))
    wrong = {game_id for game_id, shown in answers.items() if shown != stored.shown[game_id]}
    assert {str(answers[game_id]) for game_id in wrong} <= {"internal"}
    assert not wrong or EXPORT in said


async def answer(daemon: Daemon, game_id: int) -> object:
    """Return a game as a daemon shows it, or the code of its refusal."""
    try:
        return await shown(daemon, game_id)
    except Refused as refused:
        return refused.code


@pytest.mark.parametrize("seed", seeds(range(6)))
async def test_daemon_reports_damaged_bytes_and_serves_undamaged_games(
    seed: int, stored: Stored, data: Path, tmp_path: Path
) -> None:
    pages = damage(data, seed)
    by_page = games_by_page(stored.directory, tmp_path)
    hit = {game_id for page in pages for game_id in by_page.get(page, ())}
    await assert_served(data, stored, games_of(stored.rows).keys() - hit)


@pytest.mark.parametrize("seed", seeds(range(100, 106)))
async def test_daemon_reports_a_damaged_column_and_serves_the_other_games_and_players(
    seed: int, stored: Stored, data: Path
) -> None:
    table, key = spoil_row(data, seed)
    games = games_of(stored.rows).keys() - ({key} if table in ("games", "events") else set())
    async with open_daemon(Config(data=str(data), port=0)) as daemon:
        for game_id in games:
            assert await shown(daemon, game_id) == stored.shown[game_id]
        for player, player_key in stored.keys.items():
            if table != "players" or player != key:
                reply = await daemon.ask("new_game", player_white=player, player_black=2, player=player, key=player_key)
                assert reply["error"] is None
        listed = {row["game_id"] for row in (await daemon.ask("games", limit=100))["games"]}
        assert games <= listed


def zero_in_players(data: Path, size: int = 512) -> None:
    """Zero the end of the players' page: the rows of the players who registered first."""
    with closing(sqlite3.connect(data / FILE)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'players'").fetchone()
    content = bytearray((data / FILE).read_bytes())
    content[page * 4_096 - size : page * 4_096] = bytes(size)
    (data / FILE).write_bytes(content)


async def test_zeroed_player_row_is_reported_and_other_players_keep_their_games(stored: Stored, data: Path) -> None:
    zero_in_players(data)
    with structlog.testing.capture_logs() as logged:
        async with running_daemon(data=str(data)) as daemon, connected(daemon) as client:
            newest, key = max(stored.keys.items())
            assert (await client.ask("hello", player=newest, key=key))["error"] is None
            assert (await client.ask("state", game_id=max(games_of(stored.rows))))["error"] is None
            assert (await client.ask("register", name="somebody-new"))["player"] == newest + 1
    entries = [entry for entry in logged if entry["event"].startswith("a row is damaged, and is left out")]
    assert entries
    for entry in entries:
        assert (entry["table"], entry["file"]) == ("players", str(data / FILE))
        assert f"{EXPORT} --data {data}" in entry["advice"]


async def test_unreadable_game_waiting_for_its_player_does_not_prevent_the_start(
    tmp_path: Path,
) -> None:
    async with open_daemon(Config(data=str(tmp_path), port=0)) as daemon:
        players = [await daemon.ask("register", name=name) for name in ("ann", "bob")]
        for _ in range(2):
            await daemon.ask(
                "new_game", player_white=1, player_black=players[0]["player"], clock={"initial": 60, "increment": 0}
            )
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("UPDATE events SET event = '{' WHERE game_id = 1")
        connection.commit()
    with structlog.testing.capture_logs() as logged:
        async with open_daemon(Config(data=str(tmp_path), port=0)) as daemon:
            assert (await daemon.ask("state", game_id=2))["error"] is None
    assert [(entry["table"], entry["row"]) for entry in troubles(logged) if "table" in entry] == [
        ("events", "of game 1")
    ]
    assert len(rows_of(tmp_path)["games"]) == 2
