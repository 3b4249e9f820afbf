"""The contract of every event log. To test a new log, add it to :data:`LOGS` and :data:`NAMES`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import chess
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from gm_protocol.endings import Termination
from gm_protocol.messages import ClockOption, GameOptions, GameRow, Variant
from gm_protocol.state import Color
from gmd.event_log.batching import BatchingLog
from gmd.event_log.interface import (
    Deadline,
    EventLog,
    GameQuery,
    Playing,
    Pruned,
    Ranked,
    RankedResult,
    SequenceConflict,
    TokenUse,
    Unanswered,
)
from gmd.event_log.memory import MemoryLog
from gmd.event_log.sqlite import SqliteStore, committer_of, open_engine
from gmd.event_log.tables import metadata
from gmd.games.events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded, Moved, Sensed
from gmd.games.game import GameSummary, Seating
from tests.helpers import START_FEN, running_log
from tests.postgres import clean_database, new_store, require_postgres, set_database_clock
from tests.proofs import cases

OPTIONS = GameOptions(
    variant="standard",
    fen=START_FEN,
    position=None,
    draws="claimed",
    max_moves=None,
    clock=ClockOption(initial=60.0, increment=0.5),
    illegal_move="refuse",
)
#: The variant that is rated.
BLIND = structs.replace(OPTIONS, variant="rbc")
CREATED = Created(-(2**63), 2**63 - 1, OPTIONS, "2026-11-21T04:41:00Z", "1/2-1/2")

#: One event of each kind, with every field set and with none.
EVENTS: list[AnyEvent] = [
    CREATED,
    Loaded(["e2e4", "e7e8q", "N@f3"]),
    Joined("white", -(2**63)),
    Joined("black", 2**63 - 1),
    FirstContactMade("white"),
    FirstContactMade("black"),
    Sensed(None),
    Sensed(63, 0.1 + 0.2),
    Moved("e2e4"),
    Moved("e7e5", 0.1 + 0.2, True),
    Ended("timeout_white"),
    Ended("forfeit_black", 1e-9, "black", "\u265e\0 nonsense"),
    Ended("expired"),
]
assert {type(event) for event in EVENTS} == set(get_args(AnyEvent))

SUMMARY = GameSummary("white", 0, "available_move", 60.0)
OVER = GameSummary("black", 3, "victory_white", None)

ROW = GameRow(
    game_id=1,
    variant="standard",
    player_white=-(2**63),
    player_black=2**63 - 1,
    status="live",
    turn="white",
    ply_index=0,
    termination="available_move",
    result="*",
    created="2026-11-21T04:41:00Z",
    changed="",  # set by the wall clock
)


@asynccontextmanager
async def memory_log() -> AsyncIterator[EventLog]:
    yield MemoryLog()


@asynccontextmanager
async def sqlite_log() -> AsyncIterator[EventLog]:
    """Yield a log whose batches are committed by a thread."""
    with TemporaryDirectory() as directory:
        engine = open_engine(Path(directory) / "games.sqlite", {"synchronous": "OFF"})
        metadata.create_all(engine)
        store = SqliteStore(engine)
        log = BatchingLog(store)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            try:
                yield log
            finally:
                log.stop()
        store.close()


@asynccontextmanager
async def process_log() -> AsyncIterator[EventLog]:
    """Yield a log whose batches are committed by a process, as a daemon's are."""
    with TemporaryDirectory() as directory:
        file = Path(directory) / "games.sqlite"
        engine = open_engine(file)
        metadata.create_all(engine)
        with closing(SqliteStore(engine)) as store, committer_of(file) as committer:
            assert committer is not None
            log = BatchingLog(store, committer=committer)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(log.run)
                await committer.process.ready.wait()
                try:
                    yield log
                finally:
                    log.stop()
            log.close()


@asynccontextmanager
async def postgres_log() -> AsyncIterator[EventLog]:
    """Yield a log in PostgreSQL."""
    with clean_database() as url, closing(new_store(url)) as store:
        async with running_log(store) as log:
            yield log


LogFactory = Callable[[], AbstractAsyncContextManager[EventLog]]

#: Every kind of log, empty, by its name.
LOGS: dict[str, LogFactory] = {
    "memory": memory_log,
    "sqlite": sqlite_log,
    "process": process_log,
    "postgres": postgres_log,
}


#: The names of the logs, as parameters: those of which every test starts a process, or uses a server, are slow.
NAMES = ["memory", "sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("process", "postgres"))]


@pytest.fixture(params=NAMES)
def new_log(request: pytest.FixtureRequest) -> LogFactory:
    """Return a function that opens an empty log."""
    if request.param == "postgres":
        require_postgres()
    return LOGS[request.param]


async def append(log: EventLog, game_id: int, seq: int, *events: AnyEvent, summary: GameSummary = SUMMARY) -> None:
    """Append events and wait until they are durable."""
    await log.append(game_id, seq, events, lambda: summary).wait()


async def test_appended_events_are_loaded_in_order_also_if_no_append_waits_for_the_previous_one(
    new_log: LogFactory,
) -> None:
    async with new_log() as log:
        game_id = log.next_game_id()
        commits = [log.append(game_id, seq, [event], lambda: SUMMARY) for seq, event in enumerate(EVENTS)]
        for commit in reversed(commits):
            await commit.wait()
        assert await log.load(game_id) == EVENTS


async def test_events_of_different_games_do_not_mix(new_log: LogFactory) -> None:
    async with new_log() as log:
        first, second = log.next_game_id(), log.next_game_id()
        await append(log, first, 0, CREATED)
        await append(log, second, 0, CREATED, Moved("d2d4"))
        await append(log, first, 1, Moved("e2e4"))
        assert await log.load(first) == [CREATED, Moved("e2e4")]
        assert await log.load(second) == [CREATED, Moved("d2d4")]


async def test_missing_game_has_no_events(new_log: LogFactory) -> None:
    async with new_log() as log:
        for game_id in (0, 1, 2**53 - 1):
            assert await log.load(game_id) == []


async def test_ids_are_new_and_fit_into_53_bits(new_log: LogFactory) -> None:
    async with new_log() as log:
        ids = [log.next_game_id() for _ in range(100)]
        assert ids == sorted(set(ids))
        assert ids[0] > 0
        assert ids[-1] < 2**53


@pytest.mark.parametrize("expected", [0, 10**6])
async def test_conflict_writes_nothing(expected: int, new_log: LogFactory) -> None:
    async with new_log() as log:
        game_id = log.next_game_id()
        await append(log, game_id, 0, CREATED, Moved("e2e4"))
        with pytest.raises(SequenceConflict) as caught:
            await log.append(game_id, expected, [Moved("d2d4")], lambda: SUMMARY, TokenUse(1, b"token", b"")).wait()
        conflict = caught.value
        assert (conflict.game_id, conflict.expected, conflict.actual) == (game_id, expected, 2)
        assert await log.load(game_id) == [CREATED, Moved("e2e4")]
        assert await log.made_under(1, b"token") is None
        await append(log, game_id, 2, Moved("e7e5"))
        assert await log.load(game_id) == [CREATED, Moved("e2e4"), Moved("e7e5")]


async def test_game_begins_at_sequence_number_0(new_log: LogFactory) -> None:
    async with new_log() as log:
        game_id = log.next_game_id()
        with pytest.raises(SequenceConflict):
            await log.append(game_id, 1, [CREATED], lambda: SUMMARY).wait()
        assert await log.load(game_id) == []
        assert await log.rows(GameQuery()) == []


async def test_commit_calls_back_once_it_is_durable(new_log: LogFactory) -> None:
    async with new_log() as log:
        called: list[str] = []
        commit = log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY)
        commit.then(lambda error: called.append(f"before: {error}"))
        await commit.wait()
        assert commit.done
        assert called == ["before: None"]
        commit.then(lambda error: called.append(f"after: {error}"))
        assert called == ["before: None", "after: None"]
        await commit.wait()


async def test_token_finds_the_game_created_with_it(new_log: LogFactory) -> None:
    async with new_log() as log:
        uses = [
            TokenUse(player, token, content)
            for player in (None, 0, 1, -(2**63), 2**63 - 1)
            for token, content in ((b"", b""), (b"a", b"{}"), (b"A", b"\xff\0"), (b"\xff\0", b"x" * 10_000))
        ]
        made = {}
        for use in uses:
            game_id = made[use] = log.next_game_id()
            await log.append(game_id, 0, [CREATED], lambda: SUMMARY, use).wait()
        for use in uses:
            assert await log.made_under(use.player, use.token) == (made[use], use.content)
        assert await log.made_under(2, b"a") is None
        assert await log.made_under(1, b"b") is None


async def test_row_is_replaced_with_every_append(new_log: LogFactory) -> None:
    async with new_log() as log:
        game_id = log.next_game_id()
        await append(log, game_id, 0, CREATED)
        assert await rows_of(log) == [structs.replace(ROW, game_id=game_id)]
        await append(log, game_id, 1, Moved("e2e4"), summary=GameSummary("black", 1, "available_move", 60.0))
        assert await rows_of(log) == [structs.replace(ROW, game_id=game_id, ply_index=1, turn="black")]
        await append(log, game_id, 2, Ended("timeout_black"), summary=GameSummary("black", 1, "timeout_black", None))
        (row,) = await log.rows(GameQuery())
        assert (row.status, row.termination, row.result) == ("over", "timeout_black", "1-0")


async def test_row_gives_the_time_of_the_last_move_or_end(new_log: LogFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row must not reveal when a player sensed or made first contact."""
    minutes = iter(range(10, 60))
    async with new_log() as log:
        game_id, noted = log.next_game_id(), []
        for events, summary in [
            ([CREATED], SUMMARY),
            ([FirstContactMade("white")], SUMMARY),
            ([Sensed(chess.E7)], SUMMARY),
            ([Moved("e2e4")], GameSummary("black", 1, "available_move", None)),
            ([Ended("timeout_black")], GameSummary("black", 1, "timeout_black", None)),
        ]:
            instant = datetime(2026, 11, 21, 4, next(minutes), tzinfo=UTC).timestamp() + 0.75
            monkeypatch.setattr("time.time", lambda instant=instant: instant)
            await set_database_clock(log, instant)
            await append(log, game_id, len(await log.load(game_id)), *events, summary=summary)
            (row,) = await log.rows(GameQuery())
            noted.append(row.changed)
        assert noted == [f"2026-11-21T04:{minute}:00Z" for minute in (10, 10, 10, 13, 14)]


async def rows_of(log: EventLog, query: GameQuery | None = None) -> list[GameRow]:
    """Return the rows without the time of their last change, which the wall clock sets."""
    return [structs.replace(row, changed="") for row in await log.rows(query or GameQuery())]


players = st.sampled_from([1, 2, -(2**63), 2**63 - 1])
variants = st.sampled_from(["standard", "chess960", "crazyhouse"])
games = st.tuples(players | st.none(), players | st.none(), variants, st.booleans())
queries = st.builds(
    GameQuery,
    player=st.none() | players,
    status=st.none() | st.sampled_from(["live", "over", "open"]),
    variant=st.none() | variants,
    before=st.none() | st.integers(0, 25) | st.just(2**53 - 1),
    limit=st.integers(1, 30),
)


def listed(rows: Sequence[GameRow], query: GameQuery) -> list[GameRow]:
    """Return the page of rows that a query asks for, computed by its definition."""
    found = [
        row
        for row in rows
        if query.player in (None, row.player_white, row.player_black)
        and query.status in (None, row.status)
        and query.variant in (None, row.variant)
        and (query.before is None or row.game_id < query.before)
    ]
    return sorted(found, key=lambda row: -row.game_id)[: query.limit]


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=cases(10))
@given(st.lists(games, max_size=20), st.lists(queries, min_size=1, max_size=5))
def test_page_of_rows_matches_the_query(
    name: str, made: list[tuple[int | None, int | None, Variant, bool]], asked: list[GameQuery]
) -> None:
    async def main() -> None:
        async with LOGS[name]() as log:
            rows = []
            for white, black, variant, over in made:
                game_id, options = log.next_game_id(), structs.replace(OPTIONS, variant=variant)
                created = structs.replace(CREATED, player_white=white, player_black=black, options=options)
                log.append(game_id, 0, [created], lambda over=over: OVER if over else SUMMARY)
                row = structs.replace(ROW, game_id=game_id, variant=variant, player_white=white, player_black=black)
                over_row = structs.replace(
                    row, status="over", turn="black", ply_index=3, termination="victory_white", result="1-0"
                )
                rows.append(over_row if over else row)
            for query in asked:
                assert await rows_of(log, query) == listed(rows, query)

    if name == "postgres":
        require_postgres()
    trio.run(main)


async def test_deadlines_are_those_of_live_games_with_clocks(new_log: LogFactory) -> None:
    async with new_log() as log:
        unclocked = structs.replace(CREATED, options=structs.replace(OPTIONS, clock=None))
        waiting, running, over, without = (log.next_game_id() for _ in range(4))
        await append(log, waiting, 0, CREATED, summary=GameSummary("white", 0, "available_move", None))
        await append(
            log,
            running,
            0,
            CREATED,
            FirstContactMade("white"),
            summary=GameSummary("white", 0, "available_move", 1 / 3),
        )
        await append(log, over, 0, CREATED, Ended("timeout_white"), summary=OVER)
        await append(log, without, 0, unclocked, summary=GameSummary("white", 0, "available_move", None))
        assert sorted(await log.deadlines()) == [Deadline(waiting, None), Deadline(running, 1 / 3)]
        await append(log, running, 2, Ended("timeout_white"), summary=OVER)
        assert await log.deadlines() == [Deadline(waiting, None)]


async def test_live_games_are_counted(new_log: LogFactory) -> None:
    async with new_log() as log:
        assert await log.live_games() == 0
        for _ in range(3):
            await append(log, log.next_game_id(), 0, CREATED)
        await append(log, log.next_game_id(), 0, CREATED, Ended("timeout_white"), summary=OVER)
        assert await log.live_games() == 3
        await append(log, 2, 1, Ended("timeout_white"), summary=OVER)
        assert await log.live_games() == 2
        assert log.failure is None


async def test_game_due_longest_comes_first_and_results_are_delivered_once(new_log: LogFactory) -> None:
    async with new_log() as log:
        first, second, third = (log.next_game_id() for _ in range(3))
        created = structs.replace(CREATED, player_white=1, player_black=2)
        for game_id in (first, second, third):
            await append(log, game_id, 0, created)
        assert await log.due(1) == [first, second, third]
        assert await log.due(2) == await log.due(3) == []
        await append(log, first, 1, Moved("e2e4"), summary=GameSummary("black", 1, "available_move", None))
        assert (await log.due(1), await log.due(2)) == ([second, third], [first])
        await append(log, second, 1, Ended("resignation_white"), summary=OVER)
        assert (await log.due(1), await log.due(2)) == ([third, second], [first, second])
        log.result_delivered(second, chess.WHITE)
        await append(log, first, 2, Moved("e7e5"))  # deliveries are written with the next append
        assert (await log.due(1), await log.due(2)) == ([third, first], [second])


async def test_game_keeps_its_place_during_the_same_turn(new_log: LogFactory) -> None:
    async with new_log() as log:
        first, second = log.next_game_id(), log.next_game_id()
        for game_id in (first, second):
            await append(log, game_id, 0, structs.replace(CREATED, player_white=1, player_black=2))
        await append(log, first, 1, FirstContactMade("black"))
        assert await log.due(1) == [first, second]
        lost = GameSummary("white", 0, "resignation_white", None)
        await append(log, first, 2, Ended("resignation_white"), summary=lost)
        assert await log.due(1) == [second, first]


def summary_with_seats(
    *seating: Any, turn: Color = "white", termination: Termination = "available_move"
) -> GameSummary:
    return GameSummary(turn, 0, termination, None, Seating(*seating))


async def test_game_is_open_until_its_last_seat_is_taken(new_log: LogFactory) -> None:
    async with new_log() as log:
        older, newer = log.next_game_id(), log.next_game_id()
        created = structs.replace(CREATED, player_white=1, player_black=None)
        await append(log, older, 0, created, summary=summary_with_seats(1, None, True, False))
        await append(log, newer, 0, structs.replace(CREATED, player_white=3, player_black=2))
        rows = {row.game_id: row for row in await log.rows(GameQuery())}
        assert (rows[older].status, rows[older].player_white, rows[older].player_black) == ("open", 1, None)
        assert [row.game_id for row in await log.rows(GameQuery(status="open"))] == [older]
        assert await log.deadlines() == [Deadline(newer, 60.0)]
        assert await log.live_games() == 2
        await append(log, older, 1, Joined("black", 2), summary=summary_with_seats(1, 2, True, True))
        rows = {row.game_id: row for row in await log.rows(GameQuery(player=2))}
        assert list(rows) == [newer, older]
        assert (rows[older].status, rows[older].player_white, rows[older].player_black) == ("live", 1, 2)
        assert await log.rows(GameQuery(status="open")) == []
        assert await log.deadlines() == [Deadline(older, None), Deadline(newer, 60.0)]
        await append(
            log, older, 2, Ended("timeout_white"), summary=summary_with_seats(1, 2, True, True, termination="stalemate")
        )
        assert [row.game_id for row in await log.rows(GameQuery(status="over"))] == [older]


async def test_invitation_is_due_until_it_is_accepted_or_the_game_ends(new_log: LogFactory) -> None:
    async with new_log() as log:
        created = structs.replace(CREATED, player_white=1, player_black=2, invited=["black"])
        ended, joined, waiting = (log.next_game_id() for _ in range(3))
        for game_id in (ended, joined, waiting):
            await append(log, game_id, 0, created, summary=summary_with_seats(1, 2, True, False))
        assert await log.due(1) == []
        assert sorted(await log.due(2)) == [ended, joined, waiting]
        await append(log, joined, 1, Joined("black", 2), summary=summary_with_seats(1, 2, True, True))
        given_up = summary_with_seats(1, 2, True, False, termination="resignation_white")
        await append(log, ended, 1, Ended("resignation_white"), summary=given_up)
        assert await log.due(1) == [joined, ended]
        assert await log.due(2) == [waiting]


async def test_games_and_unanswered_invitations_of_registered_players_are_listed(new_log: LogFactory) -> None:
    first, last, beyond = 2**52, 2**53 - 1, 2**53
    async with new_log() as log:
        open_ids, live, awaits_contact, clockless, kept, vacant, unkept, over = (log.next_game_id() for _ in range(8))

        async def made(
            game_id: int, white: int | None, black: int | None, summary: GameSummary, **fields: Any
        ) -> Created:
            created = structs.replace(CREATED, player_white=white, player_black=black, **fields)
            await append(log, game_id, 0, created, summary=summary)
            return created

        no_contact = structs.replace(SUMMARY, seconds_left=None)
        await made(open_ids, 1, beyond, no_contact)
        await made(live, first, 1, SUMMARY)
        awaits_contact_made = await made(awaits_contact, 1, last, no_contact)
        await made(clockless, first, last, no_contact, options=structs.replace(OPTIONS, clock=None))
        kept_made = await made(
            kept, first, last, summary_with_seats(first, last, True, False), invited=["black"], lapses=0.5
        )
        vacant_made = await made(vacant, None, first, summary_with_seats(None, first, False, True))
        await made(unkept, 1, None, summary_with_seats(1, None, True, False))
        await made(over, first, last, summary_with_seats(first, last, True, False), invited=["black"])
        called_off = summary_with_seats(first, last, True, False, termination="expired")
        await append(log, over, 1, Ended("expired"), summary=called_off)
        await append(log, awaits_contact, 1, FirstContactMade("black"), summary=no_contact)
        assert sorted(await log.playing()) == [
            Playing(live, first, 1),
            Playing(awaits_contact, 1, last),
            Playing(clockless, first, last),
        ]
        assert await log.unanswered() == [
            Unanswered(awaits_contact, [awaits_contact_made, FirstContactMade("black")]),
            Unanswered(kept, [kept_made]),
            Unanswered(vacant, [vacant_made]),
        ]
        await append(log, kept, 1, Joined("black", last), summary=summary_with_seats(first, last, True, True))
        assert [game_id for game_id, _ in await log.unanswered()] == [awaits_contact, kept, vacant]
        assert Playing(kept, first, last) in await log.playing()


async def test_result_is_delivered_to_both_seats_of_one_player(new_log: LogFactory) -> None:
    async with new_log() as log:
        game_id = log.next_game_id()
        await append(log, game_id, 0, structs.replace(CREATED, player_white=1, player_black=1), summary=OVER)
        assert await log.due(1) == [game_id]
        log.result_delivered(game_id, chess.BLACK)
        await append(log, log.next_game_id(), 0, CREATED)
        assert await log.due(1) == [game_id]
        log.result_delivered(game_id, chess.WHITE)
        await append(log, log.next_game_id(), 0, CREATED)
        assert await log.due(1) == []


async def test_pending_appends_appear_in_listings_and_tokens(new_log: LogFactory) -> None:
    async with new_log() as log:
        game_id = log.next_game_id()
        log.append(game_id, 0, [CREATED], lambda: SUMMARY, TokenUse(1, b"token", b"content"))
        assert await log.made_under(1, b"token") == (game_id, b"content")
        assert [row.game_id for row in await log.rows(GameQuery())] == [game_id]
        assert await log.load(game_id) == [CREATED]


async def ids_of(log: EventLog, query: GameQuery | None = None) -> list[int]:
    return [row.game_id for row in await log.rows(query or GameQuery())]


async def prune_all(log: EventLog, seconds: float) -> list[Pruned]:
    """Prune everything that can be pruned, in as many steps as it takes."""
    pruned: list[Pruned] = []
    while some := await log.prune(seconds):
        pruned += some
    return pruned


async def test_finished_games_are_pruned_and_live_games_never(new_log: LogFactory) -> None:
    async with new_log() as log:
        live, over, ended_later, over_at_once = (log.next_game_id() for _ in range(4))
        created = structs.replace(CREATED, player_white=1, player_black=2)
        await append(log, live, 0, created, Moved("e2e4"))
        await append(log, over, 0, created, Moved("f2f3"))
        await append(log, over, 2, Moved("e7e5"), summary=OVER)
        await append(log, ended_later, 0, created)
        await append(log, over_at_once, 0, structs.replace(created, player_white=None, player_black=2), summary=OVER)
        assert await prune_all(log, 3_600) == []
        assert sorted(await prune_all(log, 0)) == [Pruned(over, (1, 2)), Pruned(over_at_once, (None, 2))]
        assert await prune_all(log, 0) == []
        assert await log.load(over) == await log.load(over_at_once) == []
        assert await log.load(live) == [created, Moved("e2e4")]
        assert await ids_of(log) == await ids_of(log, GameQuery(player=1)) == [ended_later, live]
        assert await ids_of(log, GameQuery(player=2, variant="standard")) == [ended_later, live]
        assert (await log.due(1), await log.due(2)) == ([live, ended_later], [])
        log.result_delivered(over, chess.WHITE)  # as by a player who saw the result before the game was pruned
        await append(log, ended_later, 1, Ended("timeout_white"), summary=OVER)
        assert await prune_all(log, 0) == [Pruned(ended_later, (1, 2))]
        assert await ids_of(log) == [live]


async def test_many_games_are_pruned_in_steps(new_log: LogFactory) -> None:
    async with new_log() as log:
        ids = [log.next_game_id() for _ in range(250)]
        for game_id in ids:
            log.append(game_id, 0, [CREATED], lambda: OVER)
        await log.rows(GameQuery())  # waits for all of them
        steps = []
        while pruned := await log.prune(0):
            steps.append([game.game_id for game in pruned])
        assert [len(step) for step in steps] == [100, 100, 50]
        assert sorted(game_id for step in steps for game_id in step) == ids


async def test_token_of_a_pruned_game_is_free_but_its_id_is_not(new_log: LogFactory) -> None:
    async with new_log() as log:
        over, live = log.next_game_id(), log.next_game_id()
        await log.append(over, 0, [CREATED], lambda: OVER, TokenUse(1, b"token", b"content")).wait()
        await log.append(live, 0, [CREATED], lambda: SUMMARY, TokenUse(1, b"other", b"content")).wait()
        await prune_all(log, 0)
        assert await log.made_under(1, b"token") is None
        assert await log.made_under(1, b"other") == (live, b"content")
        again = log.next_game_id()
        assert again not in (over, live)
        await log.append(again, 0, [CREATED], lambda: SUMMARY, TokenUse(1, b"token", b"new content")).wait()
        assert await log.made_under(1, b"token") == (again, b"new content")


def summed(results: list[RankedResult]) -> dict[RankedResult, int]:
    """Return how many games there are of each kind; a log may count one kind in several rows."""
    found: dict[RankedResult, int] = {}
    for result in results:
        kind = result._replace(games=0)
        found[kind] = found.get(kind, 0) + result.games
    return found


async def test_ranked_games_are_counted_by_result_and_games_in_progress_are_listed(new_log: LogFactory) -> None:
    ranked = Created(1, 2, BLIND, "2026-11-21T04:41:00Z", ranked=True, versions=(3, 0))
    seating = Seating(1, 2, False, False)
    async with new_log() as log:
        assert await log.ranked() == Ranked([], [])
        ids = [log.next_game_id() for _ in range(8)]
        over, again, other, on, waiting, called_off, unranked, of_chess = ids
        for game_id in (over, again, on):
            await append(log, game_id, 0, ranked, Moved("e2e4"))
        await append(log, over, 2, Moved("e7e5"), summary=OVER)
        await append(
            log, again, 2, Ended("resignation_black"), summary=structs.replace(OVER, termination="resignation_black")
        )
        await append(log, other, 0, structs.replace(ranked, versions=(4, 0)), Moved("e2e4"))
        await append(log, other, 2, Ended("draw_agreed"), summary=structs.replace(OVER, termination="draw_agreed"))
        open_ = structs.replace(SUMMARY, seating=seating)
        invited = structs.replace(ranked, invited=["white", "black"])
        await append(log, waiting, 0, invited, summary=open_)
        await append(log, called_off, 0, invited, summary=open_)
        await append(log, called_off, 1, Ended("declined"), summary=structs.replace(open_, termination="declined"))
        await append(log, unranked, 0, structs.replace(ranked, ranked=False), summary=OVER)
        await append(log, of_chess, 0, structs.replace(ranked, options=OPTIONS), summary=OVER)
        found = await log.ranked()
        assert summed(found.results) == {
            RankedResult(1, 3, 2, 0, chess.WHITE, 0): 2,
            RankedResult(1, 4, 2, 0, None, 0): 1,
        }
        assert sorted(found.on) == [Playing(on, 1, 2), Playing(waiting, 1, 2)]
        pruned = {game.game_id: game.ranked for game in await prune_all(log, 0)}
        won, drawn = RankedResult(1, 3, 2, 0, chess.WHITE), RankedResult(1, 4, 2, 0, None)
        assert pruned == {over: won, again: won, other: drawn, called_off: None, unranked: None, of_chess: None}
        assert (await log.ranked()).results == []


async def test_ranked_game_with_an_open_seat_changes_no_rating(new_log: LogFactory) -> None:
    """The daemon never makes such a game, but an imported file may contain one."""
    async with new_log() as log:
        created = Created(1, None, BLIND, "2026-11-21T04:41:00Z", ranked=True, versions=(1, 1))
        await append(log, log.next_game_id(), 0, created, summary=OVER)
        assert await log.ranked() == Ranked([], [])
