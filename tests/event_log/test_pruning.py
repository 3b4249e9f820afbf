"""Pruning on disk: a restart must not bring anything back, and pruning must not hold up writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
import trio

from gmd.event_log.batching import BatchingLog
from gmd.event_log.interface import GameQuery, LogFailed, TokenUse
from gmd.event_log.migrations import HEAD, migrate, stored_revision
from gmd.event_log.sql import PRUNED_EVENTS
from gmd.event_log.sqlite import SqliteStore, open_engine
from gmd.event_log.store import GameAppend
from gmd.games.events import Moved
from tests.event_log.test_contract import CREATED, OVER, SUMMARY
from tests.event_log.test_opening import at_first_revision
from tests.helpers import FaultyStore, store_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


def add(store: FaultyStore, game_id: int, moves: int = 0, *, over: bool = True) -> None:
    summary = OVER if over else SUMMARY
    store.write([GameAppend(game_id, 0, [CREATED, *[Moved("e2e4")] * moves], summary, None)], [])


def prune_all(store: FaultyStore) -> list[list[int]]:
    """Return the ids of the games that each step of pruning removed."""
    steps = []
    while pruned := store.prune(0):
        steps.append([game.game_id for game in pruned])
    return steps


@pytest.mark.parametrize("live", [[], [1], [2]])
def test_no_id_is_given_twice_whatever_was_pruned(live: list[int], store: FaultyStore) -> None:
    for game_id in (1, 2, 3):
        add(store, game_id, over=game_id not in live)
    prune_all(store)
    assert BatchingLog(store).next_game_id() == 4
    add(store, 4)
    prune_all(store)
    prune_all(store)
    assert BatchingLog(store).next_game_id() == 5


def test_nothing_of_a_pruned_game_is_left(store: FaultyStore, tmp_path: Path) -> None:
    store.write([GameAppend(1, 0, [CREATED, Moved("e2e4")], OVER, TokenUse(1, b"token", b""))], [])
    add(store, 2, moves=3, over=False)
    prune_all(store)
    connection = sqlite3.connect(tmp_path / "games.sqlite")
    counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("events", "tokens")]
    connection.close()
    assert counts == [4, 0]


def test_step_of_pruning_removes_a_bounded_number_of_events_or_one_game(store: FaultyStore) -> None:
    half = PRUNED_EVENTS // 2 - 1  # with the creation, exactly half of a step
    for game_id, moves in enumerate([half, half, 0, 2 * PRUNED_EVENTS, half], 1):
        add(store, game_id, moves)
    assert prune_all(store) == [[1, 2], [3], [4], [5]]


def test_games_are_pruned_in_the_order_in_which_they_ended(store: FaultyStore) -> None:
    for game_id in (1, 2, 3):
        add(store, game_id, PRUNED_EVENTS, over=False)
    for game_id in (2, 3, 1):
        store.write([GameAppend(game_id, PRUNED_EVENTS + 1, [Moved("e7e5")], OVER, None)], [])
    assert prune_all(store) == [[2], [3], [1]]


async def test_waiting_appends_are_written_between_two_steps_of_pruning(store: FaultyStore) -> None:
    for game_id in (1, 2, 3):
        add(store, game_id, PRUNED_EVENTS)
    done: list[object] = []
    log = BatchingLog(store)

    async def prune() -> None:
        done.append([game.game_id for game in await log.prune(0)])

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(prune)
        await trio.testing.wait_all_tasks_blocked()
        for game_id in (4, 5):
            log.append(game_id, 0, [CREATED], lambda: SUMMARY).then(lambda error, g=game_id: done.append((g, error)))
        log.stop()
        nursery.start_soon(log.run)
    # At most one step runs before the waiting appends. All steps were requested before the stop, and all are executed.
    assert sorted(done[:3], key=str) == [(4, None), (5, None), [1]]
    assert done[3:] == [[2], [3]]


async def test_failed_pruning_removes_nothing_and_is_logged(store: FaultyStore, tmp_path: Path) -> None:
    add(store, 1)
    log = BatchingLog(store)
    other = sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)
    with structlog.testing.capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            other.execute("ALTER TABLE tokens RENAME TO lost")
            with pytest.raises(LogFailed, match=r"^finished games cannot be pruned; nothing was removed$"):
                await log.prune(0)
            assert [row.game_id for row in await log.rows(GameQuery())] == [1]
            assert await log.load(1) == [CREATED]
            other.execute("ALTER TABLE lost RENAME TO tokens")
            assert len(await log.prune(0)) == 1
            log.stop()
    other.close()
    assert [entry["event"] for entry in logged] == ["finished games cannot be pruned"]


def test_games_that_ended_before_ends_were_recorded_are_pruned_like_others(tmp_path: Path) -> None:
    engine = at_first_revision(tmp_path / "games.sqlite")
    with engine.begin() as connection:
        for game_id, status, changed in ((1, "over", 1000.0), (2, "live", 1000.0), (3, "over", 2e12)):
            connection.exec_driver_sql(
                "INSERT INTO games VALUES (?, 'standard', 1, 2, '2026-11-21T04:41:00Z', 0, 1, 1, ?, 'draw_agreed', 1, "
                "'white', 0, NULL, ?)",
                (game_id, status, changed),
            )
    migrate(engine)
    assert stored_revision(engine) == HEAD
    store = SqliteStore(engine)
    assert [game.game_id for game in store.prune(60)] == [1]
    assert store.prune(60) == []
    assert [row.game_id for row in store.rows(GameQuery())] == [3, 2]
    store.close()


PLANNED = {
    "newest": GameQuery(),
    "variant and status": GameQuery(variant="crazyhouse", status="live", before=9),
    "player": GameQuery(player=1),
    "player and variant": GameQuery(player=1, variant="crazyhouse"),
}


def plan_of(path: Path, act: str, *arguments: object) -> list[str]:
    """Return SQLite's plan for the last query that a method of the store makes."""
    engine = open_engine(path / "games.sqlite")
    migrate(engine)
    asked: list[tuple[str, object]] = []
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        raw.set_trace_callback(lambda statement: asked.append((statement, None)))
        connection.rollback()
    store = SqliteStore(engine)
    getattr(store, act)(*arguments)
    (query,) = [statement for statement, _ in asked if statement.startswith("SELECT games.")]
    with engine.connect() as connection:
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}")]
    store.close()
    return plan


@pytest.mark.parametrize("query", PLANNED.values(), ids=list(PLANNED))
def test_page_of_games_is_found_by_an_index_in_its_order(query: GameQuery, tmp_path: Path) -> None:
    """SQLite neither scans nor sorts rows, except the few rows that each part of the query has found."""
    plan = plan_of(tmp_path, "rows", query)
    searches = [step for step in plan if step.startswith(("SEARCH", "SCAN")) and "anon" not in step]
    if query.player is not None:
        assert {step.split(" (")[0].rsplit("_", 1)[0] for step in searches[1:]} <= {
            "SEARCH games USING INDEX games_of",
            "SEARCH games USING COVERING INDEX games_of",
        }
        assert not any("games_of_variant" in step for step in searches)
    assert searches == ["SCAN games"] if query == GameQuery() else all(s.startswith("SEARCH") for s in searches)
    assert not any("TEMP B-TREE" in step for step in plan)


def test_games_to_prune_are_found_by_an_index(tmp_path: Path) -> None:
    (step,) = plan_of(tmp_path, "prune", 60.0)
    assert step.startswith("SEARCH games USING INDEX games_by_end ")
