"""Replies wait for the commit of what they show, waiting appends share one commit, and a conflict fails only one
game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
import structlog
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.errors import GmError
from gmd.event_log.batch_delay import LONGEST_SECONDS, RETURN_SECONDS, BatchDelay
from gmd.event_log.batching import BatchingLog
from gmd.event_log.interface import GameQuery, LogFailed, SequenceConflict
from gmd.event_log.pending import MOST_GAMES, PORTION
from gmd.event_log.store import GameAppend, ResultDelivered
from gmd.games.events import Moved
from tests.event_log.test_contract import CREATED, SUMMARY
from tests.helpers import Client, FaultyStore, Json, durable_daemon, running_log, store_in, troubles


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


async def receive_later(client: Client, replies: list[Json]) -> None:
    replies.append(await client.receive())


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "state", "game_id": 1},
        {"kind": "move", "game_id": 1, "player": 2, "move": "e5"},
        {"kind": "move", "game_id": 1, "player": 1, "move": "d4"},
        {"kind": "move", "game_id": 1, "player": 1, "move": "d4", "ply": 0},
        {"kind": "move", "game_id": 1, "player": 1, "move": "e4", "ply": 0},
        {"kind": "wait", "game_id": 1, "player": 2},
        {"kind": "wait", "any": True, "player": 2},
        {"kind": "actions", "game_id": 1, "player": 2},
        {"kind": "history", "game_id": 1},
        {"kind": "games"},
        {"kind": "end_game", "game_id": 1, "player": 2, "termination": "resignation_black"},
    ],
    ids=str,
)
async def test_no_reply_shows_what_is_not_durable(request_: Json, store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon, trio.open_nursery() as nursery:
        mover, other, third = [await daemon.connect() for _ in range(3)]
        await mover.new_game()
        replies: list[Json] = []
        with store.held():
            await mover.send({"kind": "move", "game_id": 1, "player": 1, "move": "e4"})
            await wait_all_tasks_blocked()
            await other.send(request_)
            nursery.start_soon(receive_later, mover, replies)
            nursery.start_soon(receive_later, other, replies)
            await wait_all_tasks_blocked()
            assert (await third.ask("ping"))["error"] is None, "nobody else waits"
            assert replies == []
    assert len(replies) == 2


async def test_wait_ends_when_the_move_is_durable(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon, trio.open_nursery() as nursery:
        mover, waiter = await daemon.connect(), await daemon.connect(player=2)
        await mover.new_game()
        replies: list[Json] = []
        await waiter.send({"kind": "wait", "game_id": 1})
        nursery.start_soon(receive_later, waiter, replies)
        with store.held():
            await mover.send({"kind": "move", "game_id": 1, "player": 1, "move": "e4"})
            await wait_all_tasks_blocked()
            assert replies == []
        assert (await mover.receive())["error"] is None
    assert replies[0]["state"]["last_move"] == "e2e4"


async def test_appends_during_a_commit_share_the_next_commit(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        clients = [await daemon.connect() for _ in range(8)]
        game_ids = [(await client.new_game())["game_id"] for client in clients]
        store.batches.clear()
        with store.held():
            for client, game_id in zip(clients, game_ids, strict=True):
                moves = [
                    {"kind": "move", "game_id": game_id, "player": 1 + ply % 2, "move": ["Nc3", "Nc6"][ply]}
                    for ply in range(2)
                ]
                # The first client makes one move, which holds up the others: of two moves, a busy machine may hand over
                # one alone.
                await client.send(*moves[: 1 if client is clients[0] else 2])
                await wait_all_tasks_blocked()
        assert (await clients[0].receive())["state"]["ply_index"] == 1
        for client in clients[1:]:
            assert [(await client.receive())["state"]["ply_index"] for _ in range(2)] == [1, 2]
        assert store.batches == [game_ids[:1], game_ids[1:]]


async def test_failed_commit_fails_all_waiting_requests_and_is_undone(
    store: FaultyStore,
) -> None:
    async with durable_daemon(store) as daemon:
        client, other = await daemon.connect(), await daemon.connect()
        await client.new_game()
        await client.play(1, "e4")
        before = await client.ask("state", game_id=1)
        store.fault = OSError("no space left on device")
        with structlog.testing.capture_logs() as logged:
            with store.held():
                await client.send(
                    {"kind": "move", "game_id": 1, "player": 2, "move": "e5", "id": 1},
                    {"kind": "move", "game_id": 1, "player": 1, "move": "Nf3", "id": 2},
                    {"kind": "move", "game_id": 1, "player": 1, "move": "Nf3", "id": 3},
                    {"kind": "ping", "id": 4},
                )
                await wait_all_tasks_blocked()
                await other.send({"kind": "move", "game_id": 1, "player": 2, "move": "e5", "ply": 1})
                await wait_all_tasks_blocked()
                await other.send({"kind": "state", "game_id": 1})
                await wait_all_tasks_blocked()
            replies = [await client.receive() for _ in range(4)] + [await other.receive() for _ in range(2)]
            failed = "game 1: the event log cannot be written; nothing was done"
            assert [reply["error"] for reply in replies] == [failed, failed, failed, None, failed, failed]
            assert {reply["code"] for reply in replies if reply["error"]} == {"internal"}
            assert await client.ask("state", game_id=1) == before
            store.fault = None
            assert (await client.ask("move", game_id=1, player=2, move="c5", ply=1))["state"]["last_move"] == "c7c5"
        assert [(entry["event"], entry["log_level"]) for entry in troubles(logged)] == [
            ("the event log cannot be written", "error"),
            ("the event log can be written again", "warning"),
        ]


async def test_failed_creation_leaves_no_game_and_its_token_free(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        client = await daemon.connect()
        store.fault = OSError("no space left on device")
        with structlog.testing.capture_logs():
            reply = await client.ask("new_game", player_white=1, player_black=2, token="t")
            assert (reply["code"], reply["state"], reply["game_id"]) == ("internal", None, None)
            assert (await client.ask("state", game_id=1))["code"] == "no_such_game"
            store.fault = None
            made = await client.ask("new_game", player_white=1, player_black=2, token="t")
        assert made["error"] is None
        assert await client.ask("new_game", player_white=1, player_black=2, token="t") == made


async def test_concurrent_requests_with_one_token_make_one_game(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        clients = [await daemon.connect() for _ in range(10)]
        for client in clients:
            await client.send({"kind": "new_game", "player_white": 1, "player_black": 2, "token": "t"})
        assert {(await client.receive())["game_id"] for client in clients} == {1}


async def test_conflict_fails_only_its_game_of_a_batch(store: FaultyStore) -> None:
    log = BatchingLog(store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        good, bad = log.next_game_id(), log.next_game_id()
        for game_id in (good, bad):
            await log.append(game_id, 0, [CREATED], lambda: SUMMARY).wait()
        store.batches.clear()
        with store.held():
            first = log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY)
            await wait_all_tasks_blocked()
            conflicting = log.append(bad, 5, [Moved("e2e4")], lambda: SUMMARY)
            fine = log.append(good, 1, [Moved("e2e4")], lambda: SUMMARY)
        await first.wait()
        await fine.wait()
        with pytest.raises(SequenceConflict):
            await conflicting.wait()
        assert await log.load(good) == [CREATED, Moved("e2e4")]
        assert await log.load(bad) == [CREATED]
        assert len(await log.rows(GameQuery())) == 3
        log.stop()


async def test_concurrent_requests_for_a_game_load_it_once(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        await (await daemon.connect()).new_game()
    async with durable_daemon(store) as daemon:
        clients = [await daemon.connect() for _ in range(10)]
        for client in clients:
            await client.send({"kind": "state", "game_id": 1})
        states = [(await client.receive())["state"] for client in clients]
    assert all(state == states[0] for state in states)
    assert store.loads == [1]


@pytest.mark.parametrize("how", ["cancelled", "stopped"])
async def test_appends_before_the_end_are_written_and_later_ones_refused(how: str, store: FaultyStore) -> None:
    log = BatchingLog(store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        await wait_all_tasks_blocked()
        with store.held():
            commits = [log.append(game_id, 0, [CREATED], lambda: SUMMARY) for game_id in (1, 2)]
            if how == "cancelled":
                nursery.cancel_scope.cancel()
            else:
                log.stop()
    assert [commit.done for commit in commits] == [True, True]
    assert store.load(2) == [CREATED]
    with pytest.raises(LogFailed, match="game 3: the event log is closed; nothing was done"):
        log.append(3, 0, [CREATED], lambda: SUMMARY)


async def test_failing_callback_of_a_commit_does_not_stop_the_others(store: FaultyStore) -> None:
    log = BatchingLog(store)
    followed: list[int] = []

    def fail(error: GmError | None) -> None:
        raise RuntimeError("a bug")

    with structlog.testing.capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            commit = log.append(1, 0, [CREATED], lambda: SUMMARY)
            commit.then(fail)
            commit.then(lambda _: followed.append(1))
            await commit.wait()
            log.stop()
    assert followed == [1]
    assert [(entry["event"], entry["game_id"]) for entry in logged] == [("what follows a commit failed", 1)]


@pytest.mark.parametrize(("seconds", "batches"), [(0.0, [[1, 2], [3]]), (3_600.0, [[1, 2, 3]])])
async def test_appends_are_batched_for_one_turn_or_while_the_loop_is_busy(
    seconds: float, batches: list[list[int]], store: FaultyStore
) -> None:
    log = BatchingLog(store, gather_seconds=seconds)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        await wait_all_tasks_blocked()
        with store.held():
            commits = [log.append(game_id, 0, [CREATED], lambda: SUMMARY) for game_id in (1, 2)]
            await trio.lowlevel.checkpoint()  # this task is ready at once, so the loop is busy
            commits.append(log.append(3, 0, [CREATED], lambda: SUMMARY))
        for commit in commits:
            await commit.wait()
        log.stop()
    assert store.batches == batches


@pytest.mark.parametrize(("seconds", "last"), [(0.0, [[3], [1, 2]]), (3_600.0, [[3, 1, 2]])])
async def test_batch_waits_for_the_games_of_the_last_one(
    seconds: float, last: list[list[int]], store: FaultyStore
) -> None:
    log = BatchingLog(store, return_seconds=seconds)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        await wait_all_tasks_blocked()
        with store.held():
            first = [log.append(game_id, 0, [CREATED], lambda: SUMMARY) for game_id in (1, 2)]
            for game_id, commit in enumerate(first, 1):
                move = partial(log.append, game_id, 1, [Moved(move="e2e4")], lambda: SUMMARY)
                commit.then(lambda error, move=move: later.append(move()))  # type: ignore[misc]
            await wait_all_tasks_blocked()
            later = [log.append(3, 0, [CREATED], lambda: SUMMARY)]
        await first[1].wait()
        for commit in later:
            await commit.wait()
        log.stop()
    assert store.batches == [[1, 2], *last]


async def test_batch_waits_no_longer_for_games_that_do_not_come_back(store: FaultyStore) -> None:
    log = BatchingLog(store, return_seconds=RETURN_SECONDS)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(log.run)
            await wait_all_tasks_blocked()
            with store.held():
                first = log.append(1, 0, [CREATED], lambda: SUMMARY)
                await wait_all_tasks_blocked()
                second = log.append(2, 0, [CREATED], lambda: SUMMARY)
            await first.wait()
            await second.wait()
            log.stop()
    assert store.batches == [[1], [2]]


async def test_games_that_come_back_prolong_the_wait_up_to_its_limit_and_others_do_not(mock_clock: MockClock) -> None:
    returning = BatchDelay(RETURN_SECONDS)
    for first, after in ((0, LONGEST_SECONDS), (2_000, RETURN_SECONDS)):
        returning.committed(range(1_000), {1_000})
        returning.settled()
        began = trio.current_time()
        for game_id in range(first, first + 1_000):
            mock_clock.jump(RETURN_SECONDS / 2)
            returning.gathered(game_id)
            if not returning.is_awaited:
                break
        assert trio.current_time() - began == pytest.approx(after, abs=RETURN_SECONDS / 2)


async def test_batches_have_a_limited_number_of_games(store: FaultyStore) -> None:
    number = 2 * MOST_GAMES + 5
    async with running_log(store) as log:
        commits = [log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY) for _ in range(number)]
        for commit in commits:
            await commit.wait()
    assert [len(batch) for batch in store.batches] == [MOST_GAMES, MOST_GAMES, 5]
    assert [game_id for batch in store.batches for game_id in batch] == list(range(1, number + 1))


async def test_appends_of_a_large_batch_are_settled_over_several_turns_in_order(store: FaultyStore) -> None:
    settled: list[int] = []
    number = MOST_GAMES

    async with running_log(store) as log:
        for game_id in range(1, number + 1):
            commit = log.append(game_id, 0, [CREATED], lambda: SUMMARY)
            commit.then(lambda error, game_id=game_id: settled.append(game_id))  # type: ignore[misc]
        while len(settled) < number:
            before = len(settled)
            await trio.lowlevel.checkpoint()
            assert len(settled) - before <= 2 * PORTION
    assert settled == list(range(1, number + 1))


async def test_log_that_stops_settles_every_append_of_a_large_batch(store: FaultyStore) -> None:
    async with running_log(store) as log:
        commits = [log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY) for _ in range(3 * MOST_GAMES)]
    assert all(commit.done for commit in commits)


async def test_later_append_that_fails_is_settled_after_the_earlier_one_of_its_game(store: FaultyStore) -> None:
    """The earlier one is the last of a large batch, which is settled over several turns."""
    settled: list[GmError | None] = []
    async with running_log(store) as log:
        others = [log.append(log.next_game_id(), 0, [CREATED], lambda: SUMMARY) for _ in range(MOST_GAMES - 1)]
        game_id = log.next_game_id()
        log.append(game_id, 0, [CREATED], lambda: SUMMARY).then(settled.append)
        await others[0].settled()
        store.fault = RuntimeError("broken")
        later = log.append(game_id, 1, [Moved(move="e2e4")], lambda: SUMMARY)
        later.then(settled.append)
        await later.settled()
    assert settled[0] is None
    assert isinstance(settled[1], LogFailed)


class FailingCommitter:
    """A committer with a bug."""

    def put(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> bool:
        raise ZeroDivisionError("a bug")

    async def run(self, answered: Callable[[bool], None]) -> None:
        await trio.sleep_forever()


async def test_log_that_fails_ends_and_leaves_nobody_waiting(store: FaultyStore) -> None:
    log = BatchingLog(store, committer=FailingCommitter())
    refused = list[str]()

    async def append_one() -> None:
        with pytest.raises(LogFailed) as caught:
            await log.append(1, 0, [CREATED], lambda: SUMMARY).wait()
        refused.append(str(caught.value))

    with structlog.testing.capture_logs() as logged, trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(append_one)
            with pytest.raises(ExceptionGroup) as ended:
                await log.run()
    log.close()
    assert ended.group_contains(ZeroDivisionError)
    assert [each["event"] for each in logged] == ["the event log has failed: the server ends"]
    [why] = refused
    assert why.startswith("game 1: the server failed, and it is not known whether the request was carried out: look")
