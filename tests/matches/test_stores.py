"""The contract of every store of shared matches: each game is handed out until it is over, and counted once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from gm_protocol.work import PlayedGame, WorkShare
from gmd.contests.contest import Owner
from gmd.matches import limits
from gmd.matches.claim import Claim, OtherMatch
from gmd.matches.memory import memory_matches
from gmd.matches.sql import SqlMatches
from gmd.matches.store import MatchStore
from gmd.players.account import FIRST_PLAYER
from tests.helpers import running_log, store_in
from tests.helpers_proof import proof_size
from tests.postgres import clean_database, new_store, require_postgres

ADA = Owner(FIRST_PLAYER)
LEASE = 60.0


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self, connection: object) -> float:
        return self.now


@asynccontextmanager
async def of_memory(clock: Clock, count: int) -> AsyncIterator[Sequence[MatchStore]]:
    yield [memory_matches(clock)] * count


@asynccontextmanager
async def of_sqlite(clock: Clock, count: int) -> AsyncIterator[Sequence[MatchStore]]:
    with TemporaryDirectory() as directory, store_in(Path(directory)) as store:
        async with running_log(store) as log:
            yield [SqlMatches(log, clock)] * count


@asynccontextmanager
async def of_postgres(clock: Clock, count: int) -> AsyncIterator[Sequence[MatchStore]]:
    """Yield stores of as many daemons, none of which knows of the others."""
    with clean_database() as url, ExitStack() as opened:
        stores = [opened.enter_context(closing(new_store(url))) for _ in range(count)]
        async with AsyncExitStack() as running:
            logs = [await running.enter_async_context(running_log(store)) for store in stores]
            yield [SqlMatches(log, clock) for log in logs]


Opener = Callable[[Clock, int], AbstractAsyncContextManager[Sequence[MatchStore]]]
STORES: dict[str, Opener] = {"memory": of_memory, "sqlite": of_sqlite, "postgres": of_postgres}


@pytest.fixture(scope="module", params=list(STORES.values()), ids=list(STORES))
def opened(request: pytest.FixtureRequest) -> Opener:
    """Return a function that opens an empty database with some stores."""
    opener: Opener = request.param
    if opener is of_postgres:
        require_postgres()
    return opener


def claim(
    worker: str = "one", *, games: int = 10, token: bytes = b"t" * 32, owner: Owner = ADA, **fields: Any
) -> Claim:
    return Claim(owner, token, worker.ljust(16, "-"), ["bots=a b", "variant=rbc"], games, **fields)


def over(*numbers: int, result: Any = "1-0") -> list[PlayedGame]:
    return [PlayedGame(number=number, result=result, game_id=number + 100, detail=f"of {number}") for number in numbers]


async def asked(store: MatchStore, request: Claim) -> WorkShare:
    found = await store.work(request, begin=True)
    assert isinstance(found, WorkShare)
    return found


async def test_games_are_handed_out_in_order_to_one_worker_each(opened: Opener) -> None:
    async with opened(Clock(), 1) as (store,):
        assert await store.work(claim(), begin=False) is None
        assert (await asked(store, claim("one", want=2))).hold == [1, 2]
        assert (await asked(store, claim("two", want=3))).hold == [3, 4, 5]
        share = await asked(store, claim("one", want=3, played=over(2)))
        assert (share.hold, share.counted, share.results, share.over, share.workers) == ([1, 6, 7], [2], [], 1, 2)
        share = await asked(store, claim("two", want=3))
        assert (share.hold, share.results) == ([3, 4, 5], [])
        share = await asked(store, claim("one", played=over(1), want=0))
        assert share.results == over(1, 2)
        assert (await asked(store, claim("two", after=1, want=100))).results == over(2)
        assert (await asked(store, claim("two", want=100))).hold == [3, 4, 5, 8, 9, 10]


async def test_repeated_request_changes_nothing(opened: Opener) -> None:
    async with opened(Clock(), 1) as (store,):
        await asked(store, claim(want=2))
        request = claim(want=2, played=over(1))
        first = await asked(store, request)
        assert await asked(store, request) == first
        assert (first.hold, first.counted) == ([2, 3], [1])


async def test_game_of_a_lost_worker_is_given_to_another_after_its_lease(opened: Opener) -> None:
    clock = Clock()
    async with opened(clock, 1) as (store,):
        await asked(store, claim("lost", want=2))
        clock.now += LEASE - 1
        assert (await asked(store, claim("other", want=1))).hold == [3]
        clock.now += 1
        share = await asked(store, claim("other", want=2))
        assert share.hold == [1, 3]
        share = await asked(store, claim("other", want=1, played=over(1, result="0-1")))
        assert share.counted == [1]
        share = await asked(store, claim("lost", want=0, played=over(1)))
        assert (share.counted, share.hold) == ([], [2])
        assert share.results == over(1, result="0-1")


async def test_each_request_renews_the_lease(opened: Opener) -> None:
    clock = Clock()
    async with opened(clock, 1) as (store,):
        for _ in range(10):
            assert (await asked(store, claim("one", want=1))).hold == [1]
            clock.now += LEASE - 1
            assert (await asked(store, claim("two", want=1))).hold == [2]


async def test_lease_that_the_clock_cannot_have_given_is_over(opened: Opener) -> None:
    clock = Clock()
    async with opened(clock, 1) as (store,):
        await asked(store, claim("one", want=1))
        clock.now -= 1e6
        assert (await asked(store, claim("two", want=1))).hold == [1]


async def test_result_that_comes_late_counts_if_nobody_else_has_one(opened: Opener) -> None:
    clock = Clock()
    async with opened(clock, 1) as (store,):
        await asked(store, claim("slow", want=1))
        clock.now += LEASE
        assert (await asked(store, claim("other", want=1))).hold == [1]
        assert (await asked(store, claim("slow", played=over(1)))).counted == [1]
        share = await asked(store, claim("other", want=1, played=over(1, result="0-1")))
        assert (share.counted, share.hold, share.results) == ([], [2], over(1))


async def test_leaving_worker_gives_its_games_back_at_once(opened: Opener) -> None:
    async with opened(Clock(), 1) as (store,):
        await asked(store, claim("one", want=3))
        share = await asked(store, claim("one", leave=True, played=over(2), want=3))
        assert (share.hold, share.counted, share.workers) == ([], [2], 0)
        assert (await asked(store, claim("two", want=3))).hold == [1, 3, 4]


async def test_game_that_was_never_handed_out_does_not_count(opened: Opener) -> None:
    async with opened(Clock(), 1) as (store,):
        share = await asked(store, claim(games=1_000, played=over(500)))
        assert (share.counted, share.over) == ([], 0)


async def test_decided_match_hands_out_nothing_and_counts_nothing_more(opened: Opener) -> None:
    async with opened(Clock(), 1) as (store,):
        await asked(store, claim("one", want=4))
        await asked(store, claim("two", want=2))
        share = await asked(store, claim("one", want=4, played=over(1, 2, 4), decided=3))
        assert share.decided is None  # game 3 is not over
        share = await asked(store, claim("one", want=4, decided=2))
        assert (share.decided, share.hold) == (2, [])
        share = await asked(store, claim("two", want=2, decided=1, played=over(5)))
        assert (share.decided, share.hold, share.counted, share.results) == (2, [], [], over(1, 2))
        assert share.over == 2


async def test_other_arguments_are_refused_with_the_first_difference(opened: Opener) -> None:
    async with opened(Clock(), 1) as (store,):
        await asked(store, claim())
        for request, difference in (
            (claim(games=11), "planned is 10 in this match, not 11"),
            (structs.replace(claim(), arguments=["bots=a c", "variant=rbc"]), "bots is a b in this match, not a c"),
            (structs.replace(claim(), arguments=["bots=a b"]), "variant is rbc in this match, not not given"),
        ):
            refused = await store.work(request, begin=True)
            assert isinstance(refused, OtherMatch)
            assert refused.difference == difference


async def test_oldest_match_of_an_owner_makes_room_with_its_games(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_OF_PLAYER", 2)
    clock = Clock()
    async with opened(clock, 1) as (store,):
        for number in range(3):
            await asked(store, claim(token=bytes([number]) * 32, want=100, games=2_500))
            clock.now += 100
        assert await store.work(claim(token=bytes(32), games=2_500), begin=False) is None
        assert await store.sweep()
        while await store.sweep():
            pass
        share = await asked(store, claim(token=bytes([1]) * 32, want=100, games=2_500))
        assert share.hold == list(range(1, 101))


# --- Any history ------------------------------------------------------------------------------------------------

GAMES = 8
RESULTS = ("1-0", "0-1", "1/2-1/2")
WORKERS = st.integers(0, 2)
STEP = st.one_of(
    st.tuples(st.just("ask"), WORKERS, st.integers(0, 4), st.integers(0, 3)),
    st.tuples(st.just("unheard"), WORKERS, st.integers(0, 4), st.integers(0, 3)),
    st.tuples(st.just("die"), WORKERS),
    st.tuples(st.just("leave"), WORKERS),
    st.tuples(st.just("late"), WORKERS, st.integers(1, GAMES)),
    st.tuples(st.just("repeat"), st.integers(0, 30)),
    st.tuples(st.just("pass"), st.sampled_from([1.0, 20.0, LEASE])),
)


class History:
    """A match of some workers, of which each may die, and what must hold of it."""

    def __init__(self, stores: Sequence[MatchStore], clock: Clock) -> None:
        self._stores, self._clock = stores, clock
        self._names = [f"worker {number}" for number in range(len(stores))]
        self._hold: dict[str, set[int]] = {}
        self._asked: dict[str, float] = {}
        #: What the store said last that each worker holds, whether that heard it or not.
        self._holding: dict[str, set[int]] = {}
        self._requests: list[tuple[int, Claim]] = []
        self.results: dict[int, PlayedGame] = {}
        self.counted: dict[int, str] = {}
        self._played = 0

    async def step(self, what: str, *details: Any) -> None:
        match what:
            case "ask" | "unheard":
                number, want, count = details
                name = self._names[number]
                played = [self._game(game) for game in sorted(self._hold.get(name, ()))[:count]]
                await self._ask(number, claim(name, games=GAMES, want=want, played=played), heard=what == "ask")
            case "die":
                self._names[details[0]] += "'"
            case "leave":
                await self._ask(details[0], claim(self._names[details[0]], games=GAMES, leave=True))
            case "late":
                await self._ask(details[0], claim("somebody", games=GAMES, played=[self._game(details[1])]))
            case "repeat" if self._requests:
                await self._ask(*self._requests[details[0] % len(self._requests)], heard=False)
            case "pass":
                self._clock.now += details[0]

    async def finish(self) -> None:
        """Let one worker play what is left."""
        self._clock.now += LEASE
        share = await self._ask(0, claim("last", games=GAMES, want=GAMES))
        share = await self._ask(0, claim("last", games=GAMES, played=[self._game(number) for number in share.hold]))
        assert [game.number for game in share.results] == list(range(1, GAMES + 1))
        assert share.over == GAMES
        assert {game.number: game for game in share.results} == self.results

    def _game(self, number: int) -> PlayedGame:
        """Return an end of a game that differs from every other end."""
        self._played += 1
        return PlayedGame(number=number, result=RESULTS[self._played % 3], detail=f"played {self._played}")  # type: ignore[arg-type]

    async def _ask(self, number: int, request: Claim, *, heard: bool = True) -> WorkShare:
        share = await asked(self._stores[number], request)
        self._requests.append((number, request))
        self._check(request, share)
        if heard:
            self._hold[request.worker.rstrip("-")] = set(share.hold)
        return share

    def _check(self, request: Claim, share: WorkShare) -> None:
        known = [game.number for game in share.results]
        assert known == list(range(1, len(known) + 1))
        for game in share.results:
            assert self.results.setdefault(game.number, game) == game
        for game in request.played:
            if game.number in share.counted:
                assert self.counted.setdefault(game.number, request.worker) == request.worker
                self.results.setdefault(game.number, game)
        assert not set(share.hold) & set(self.results)
        self._asked[request.worker] = self._clock.now
        for other, at in self._asked.items():
            if other != request.worker and at + LEASE > self._clock.now:
                assert not set(share.hold) & self._held_by(other)
        self._holding[request.worker] = set(share.hold)

    def _held_by(self, worker: str) -> set[int]:
        return self._holding.get(worker, set()) - set(self.results)


@pytest.mark.long
@pytest.mark.proof
@settings(max_examples=proof_size(20, 2_000), deadline=None)
@given(steps=st.lists(STEP, max_size=40))
async def test_any_history_counts_each_game_once(opened: Opener, steps: list[tuple[Any, ...]]) -> None:
    clock = Clock()
    async with opened(clock, 3) as stores:
        history = History(stores, clock)
        for step in steps:
            await history.step(*step)
        await history.finish()


@pytest.mark.proof
async def test_workers_at_the_same_time_get_different_games(opened: Opener) -> None:
    games = proof_size(150, 3_000)
    given_to: dict[int, str] = {}
    counted: list[int] = []

    async def play(store: MatchStore, name: str) -> None:
        played: list[PlayedGame] = []
        while True:
            share = await asked(store, claim(name, games=games, want=3, played=played))
            counted.extend(share.counted)
            if not share.hold:
                return
            for number in share.hold:
                assert given_to.setdefault(number, name) == name
            played = over(*share.hold)

    async with opened(Clock(), 6) as stores:
        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                for number, store in enumerate(stores):
                    nursery.start_soon(play, store, f"worker {number}")
        share = await asked(stores[0], claim(games=games))
    assert share.over == games
    assert sorted(counted) == list(range(1, games + 1))
