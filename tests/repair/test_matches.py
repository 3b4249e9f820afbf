"""The repair of a log that has shared matches: whole ones are kept, and lost games of others are played again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import trio

from gmd.repair.repairing import Repaired, repair
from tests.helpers import Json, running_daemon
from tests.repair.logs import FILE


def asking(**fields: Any) -> dict[str, Any]:
    claim = {"worker": "w" * 16, "arguments": ["a=minimax", "b=random"], "games": 500, "lease": 100.0}
    return {"token": "m" * 16, "begin": True, "claim": claim | fields}


async def work(directory: Path, *claims: dict[str, Any]) -> list[Json]:
    async with running_daemon(data=str(directory)) as daemon:
        return [(await daemon.ask("work", **claim))["share"] for claim in claims]


def made_in(directory: Path, **decided: int) -> None:
    played = [{"number": number, "result": "1-0", "detail": f"game {number}"} for number in (1, 2, 3)]
    trio.run(work, directory, asking(want=5), asking(want=5, played=played, **decided))


def rows_in(directory: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / FILE)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


def spoiled(directory: Path, statement: str) -> Repaired:
    with closing(sqlite3.connect(directory / FILE)) as connection:
        assert connection.execute(statement).rowcount > 0
        connection.commit()
    return repair(directory)


def test_shared_matches_survive_damage_at_the_start_of_the_file(tmp_path: Path) -> None:
    made_in(tmp_path)
    before = [rows_in(tmp_path, table) for table in ("matches", "match_games")]
    assert [len(rows) for rows in before] == [1, 64]
    content = bytearray((tmp_path / FILE).read_bytes())
    content[:512] = bytes(512)
    (tmp_path / FILE).write_bytes(content)
    done = repair(tmp_path)
    assert [rows_in(tmp_path, table) for table in ("matches", "match_games")] == before
    assert not any("match" in change for change in done.changes)
    (share,) = trio.run(work, tmp_path, asking(want=5))
    assert ([game["number"] for game in share["results"]], share["over"]) == ([1, 2, 3], 3)


def test_lost_game_of_a_match_is_played_again(tmp_path: Path) -> None:
    made_in(tmp_path)
    done = spoiled(tmp_path, "UPDATE match_games SET result = 'won' WHERE number = 2")
    assert len(rows_in(tmp_path, "match_games")) == 64
    assert any(change.endswith("1 of its games are lost, and are played again") for change in done.changes)
    (share,) = trio.run(work, tmp_path, asking(want=8, worker="v" * 16))
    assert [game["number"] for game in share["results"]] == [1]
    assert 2 in share["hold"]


def test_decided_match_without_all_of_its_results_is_set_aside(tmp_path: Path) -> None:
    made_in(tmp_path, decided=3)
    done = spoiled(tmp_path, "DELETE FROM match_games WHERE number = 2")
    assert rows_in(tmp_path, "matches") == rows_in(tmp_path, "match_games") == []
    assert any("decided after 3 games, and not all of their results are there" in change for change in done.changes)


def test_games_without_their_match_are_set_aside(tmp_path: Path) -> None:
    made_in(tmp_path)
    done = spoiled(tmp_path, "UPDATE matches SET arguments = '[1]'")
    assert rows_in(tmp_path, "matches") == rows_in(tmp_path, "match_games") == []
    assert done.set_aside is not None
    assert done.set_aside.read_text("utf-8").count('"table":"match_games"') == 64
    assert sum("matches, row 1: " in change for change in done.changes) == 1
