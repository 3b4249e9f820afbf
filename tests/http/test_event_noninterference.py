"""Events reveal nothing hidden: in two games that look the same to a reader, the same bytes come at the same moments.

Streams stay open while a pair of games is played. After each step of either game, and after each passing of time, what
has come on both is compared. The opponent's hidden steps come at different moments in the two games.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.games.rbc import RbcGame
from gmd.handlers import state
from gmd.http.pages import live_channel, live_events
from gmd.http.pages.live_channel import HEARTBEAT_SECONDS
from gmd.http.pages.live_events import GameSource
from gmd.http.pages.looking import Look
from gmd.http.pages.visit import Visit
from gmd.play.arbiter import Arbiter
from gmd.play.live_games import LiveGame
from tests.http.helpers import open_http
from tests.http.many_pairs import Tables, compare_pairs, is_distinguished
from tests.http.pages.event_reader import EventReader, begun, live
from tests.http.rbc import answered, as_move
from tests.http.test_rbc_noninterference import everything_to_spectators, position_of
from tests.http.twins import Twin, session_of, two_tables
from tests.proofs import cases
from tests.secrecy.leaks import Patch
from tests.secrecy.paired_daemons import Distinguished
from tests.secrecy.twins import Action, OthersTurn, OwnTurn, Twins

#: Who reads, and what: "{game}" is the game's address.
STREAMS = [
    ("observer", "{game}/events"),
    ("stranger", "{game}/events"),
    ("nobody", "{game}/events?since=0"),
    ("observer", "/events"),
    ("nobody", "/events"),
]
#: Seconds that may pass between two steps: some of them are rhythms of the streams.
PAUSES = [0.0, 0.05, live_events.LEAST_SECONDS, 2.0, 7.5, HEARTBEAT_SECONDS]


class Watched:
    """A pair of games with open streams.

    :ivar compared: how often streams were compared; ``received`` counts the bytes that came.
    """

    def __init__(self, twins: tuple[Twin, Twin], clock: MockClock, rng: random.Random) -> None:
        self.twins = twins
        self.clock = clock
        self.rng = rng
        self.streams: list[tuple[EventReader, EventReader]] = []
        self.compared = self.received = 0

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Read all streams of both games while the context is open."""
        async with AsyncExitStack() as stack:
            for who, path in STREAMS:
                one, other = [await self._open(stack, twin, who, path) for twin in self.twins]
                self.streams.append((one, other))
            await self.compare("the beginning")
            yield
        for daemon in [daemon for twin in self.twins for daemon in twin.table.daemons]:
            while live(daemon).readers:
                await wait_all_tasks_blocked()

    async def _open(self, stack: AsyncExitStack, twin: Twin, who: str, path: str) -> EventReader:
        visitors = {"observer": twin.observer, "stranger": twin.table.other}
        cookie = session_of(twin.table, visitors[who].id, "events")[0] if who in visitors else None
        stream = await stack.enter_async_context(await open_http(twin.table.daemon))
        return await begun(stream, path.format(game=f"/games/{twin.game_id}"), cookie)

    async def compare(self, step: str) -> None:
        """Compare what has come on each stream in both games.

        :raises Distinguished: it differs.
        """
        for (one, other), (who, path) in zip(self.streams, STREAMS, strict=True):
            came = [await reader.drained() for reader in (one, other)]
            self.compared += 1
            self.received += len(came[0])
            if came[0] != came[1]:
                raise Distinguished(f"{who} {path} after {step}\n{came[0]!r}\n{came[1]!r}")

    async def pass_time(self) -> None:
        await self.jump(self.rng.choice(PAUSES))
        await self.compare("a pause")

    async def jump(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.jump(seconds)
        await wait_all_tasks_blocked()

    async def take_turn(self, turn: OwnTurn) -> None:
        """Play the observer's turn."""
        for act in (self._sense, self._move):
            for twin in self.twins:
                await act(twin, turn.action, observer=True)
            await self.compare("the observer's own step")
            await self.pass_time()

    async def watch_turn(self, turn: OthersTurn) -> None:
        """Play the opponent's turn; it senses at another moment in each game."""
        for twin, action in zip(self.twins, turn.actions, strict=True):
            await self._sense(twin, action, observer=False)
            await self.compare("a hidden sense in one of the games")
            await self.pass_time()
        for twin, action in zip(self.twins, turn.actions, strict=True):
            await self._move(twin, action, observer=False)
        await self.compare("the opponent's move")
        await self.pass_time()

    async def _sense(self, twin: Twin, action: Action, *, observer: bool) -> None:
        player = twin.observer if observer else twin.opponent
        answered(await player.post(twin.game_id, "sense", {"square": action.sense}))

    async def _move(self, twin: Twin, action: Action, *, observer: bool) -> None:
        player = twin.observer if observer else twin.opponent
        move = None if action.move is None else as_move(action.move.uci())
        answered(await player.post(twin.game_id, "move", {"requested_move": move}))
        answered(await player.post(twin.game_id, "end_turn", {}))


async def watch(clock: MockClock, tables: Tables, twins: Twins, rng: random.Random) -> Watched:
    """Play a pair of games while streams are read.

    :raises Distinguished: something different came, or at another moment.
    """
    one, other = (Twin(table, twins.observer) for table in tables)
    watched = Watched((one, other), clock, rng)
    for twin in watched.twins:
        await twin.begin(twins)
    async with watched.reading():
        for turn in twins.turns:
            await (watched.take_turn(turn) if isinstance(turn, OwnTurn) else watched.watch_turn(turn))
        await watched.jump(HEARTBEAT_SECONDS)
        await watched.compare("the end")
    for twin in watched.twins:
        answered(await twin.observer.post(twin.game_id, "error_resign", {}))
    return watched


async def test_games_that_look_the_same_send_the_same_bytes_at_the_same_moments(mock_clock: MockClock) -> None:
    watched = await compare_pairs(cases(1), two_tables, partial(watch, mock_clock))
    assert sum(each.received for each in watched) > 5_000 * len(watched)
    print(f"{sum(each.compared for each in watched)} comparisons of streams")


# --- Each leak is detected --------------------------------------------------------------------------------------------


def game_of(visit: Visit, look: Look) -> RbcGame:
    live_game_ = visit.backend.services.arbiter.cached(look.state.game_id)
    assert live_game_ is not None
    assert isinstance(live_game_.game, RbcGame)
    return live_game_.game


_payload, _sense_durable = live_events.payload, Arbiter._sense_durable


def payload_with_the_position(visit: Visit, look: Look, since: int | None) -> bytes:
    """Send a number that depends on the true position."""
    return _payload(visit, look, since) + b"%d" % (position_of(game_of(visit, look)) % 10)


def events_at_senses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send an event with a counter of events at every sense of either side."""
    numbers = iter(range(10**9))
    monkeypatch.setattr(live_events, "key_of", lambda look: b"%d" % next(numbers))

    def watch_all(source: GameSource, _: object) -> Any:
        return source.visit.backend.services.arbiter.watchers.overseeing(source.game_id)

    monkeypatch.setattr(GameSource, "subscribed", watch_all)


def heartbeats_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the time to the next heartbeat from the latest step, hidden or not."""
    readers: list[Any] = []
    run = live_channel.Reader.run

    async def noted(reader: live_channel.Reader, wire: Any) -> None:
        readers.append(reader)
        await run(reader, wire)

    def put_off(arbiter: Arbiter, game: LiveGame) -> None:
        _sense_durable(arbiter, game)
        for reader in (each for each in readers if each._join.args[0].backend.services.arbiter is arbiter):
            reader._beat = trio.current_time() + HEARTBEAT_SECONDS
            reader.wake()

    monkeypatch.setattr(live_channel.Reader, "run", noted)
    monkeypatch.setattr(Arbiter, "_sense_durable", put_off)


def patch_of(*patch: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a function that sets one attribute."""
    planted: Patch = patch  # type: ignore[assignment]
    return lambda monkeypatch: monkeypatch.setattr(*planted)


LEAKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the position in the payload": patch_of(live_events, "payload", payload_with_the_position),
    "everything, to spectators": patch_of(state, "viewer_of", everything_to_spectators),
    "an event with a counter at each sense": events_at_senses,
    "a heartbeat put off by hidden steps": heartbeats_put_off,
}


#: The leak that takes the longest to show.
LONGEST = "a heartbeat put off by hidden steps"


@pytest.mark.parametrize(
    "leak", [pytest.param(leak, marks=[pytest.mark.slow] if leak == LONGEST else []) for leak in LEAKS]
)
async def test_each_leak_is_detected(leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    LEAKS[leak](monkeypatch)
    async with two_tables() as tables:
        assert await is_distinguished(tables, partial(watch, mock_clock))
