"""The arbiter: takes one command through one game, into the log, and to everyone who waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

import trio

from gm_protocol.errors import GmError, Internal, NoSuchGame
from gmd import loop_time
from gmd.budget import Workbench
from gmd.deadlines import Deadlines
from gmd.event_log.interface import Commit, EventLog, Pruned, TokenUse
from gmd.games.commands import Absent, CallOff, Command, FirstContact, Flag, Join
from gmd.games.events import AnyEvent, Sensed
from gmd.games.game import Decision, Game
from gmd.live_games import DEFAULT_BYTES, GameCache, LiveGame, Turned
from gmd.logger import get_logger
from gmd.turns import Turns
from gmd.watchers import Watchers

logger = get_logger(__name__)

#: Seconds until a game that is due but cannot be loaded, or written, is tried again: twice as many each time, up to the
#: second.
FIRST_RETRY = 1.0
LAST_RETRY = 60.0


class Arbiter:
    """Every change of every game goes through here. Times are the loop's (:mod:`gmd.loop_time`), in seconds."""

    def __init__(
        self,
        log: EventLog,
        start_seconds: float,
        idle_seconds: float,
        games_bytes: int = DEFAULT_BYTES,
        bench: Workbench | None = None,
    ) -> None:
        """:param start_seconds: how long a seat of a game with a clock may stay unheard.
        :param idle_seconds: how long a game that nobody asks for stays in memory, or twice that.
        :param games_bytes: how much memory games may take; beyond that idle ones are let go of earlier.
        :param bench: where games are loaded, and other long work is done.
        """
        self.bench = bench or Workbench()
        self.log = log
        self.watchers = Watchers()
        self.turns = Turns(log)
        self.deadlines = Deadlines(self._on_deadline)
        #: When to load again what could not be, and how long it was put off.
        self._retries = Deadlines(self._retry)
        self._delays: dict[int, float] = {}
        #: The games that could not be written since they last could; and how long the loading was put off, if it was.
        self._lost: dict[int, float] = {}
        self._cache = GameCache(log, self.bench, self._resume, games_bytes)
        self._start_seconds = start_seconds
        self._idle_seconds = idle_seconds
        #: Games to be loaded for their clocks' sake.
        self._wanted, self._to_load = trio.open_memory_channel[int](inf)
        #: The game of an id, if it needs no looking for.
        self.at_hand = self._cache.at_hand
        #: How many games are live, durably.
        self.live_games = 0
        self._on_seats: list[Callable[[Game], None]] = []
        self._on_begun: list[Callable[[Game], None]] = []
        self._on_over: list[Callable[[Game], None]] = []
        self._on_pruned: list[Callable[[Pruned], None]] = []

    @property
    def games_in_memory(self) -> int:
        """How many games it holds."""
        return len(self._cache)

    @property
    def games_bytes(self) -> int:
        """How many bytes these take, more or less."""
        return self._cache.bytes

    async def start(self) -> None:
        """Let the clocks of all games in the log run, from now: what time has passed while nobody served is forgiven.

        :raises GmError: the log cannot be read.
        """
        now = loop_time.now()
        for game_id, seconds_left in await self.log.deadlines():
            self.deadlines.set(game_id, now + (self._start_seconds if seconds_left is None else seconds_left))
        self.live_games = await self.log.live_games()

    def when_seats_change(self, callback: Callable[[Game], None]) -> None:
        """Call back with every game that is made, joined, or ended, once that is durable."""
        self._on_seats.append(callback)

    def when_begun(self, callback: Callable[[Game], None]) -> None:
        """Call back once with every game whose seats are both taken, once that is durable."""
        self._on_begun.append(callback)

    def when_over(self, callback: Callable[[Game], None]) -> None:
        """Call back once with every game that ends, or is called off before it begins, once that is durable."""
        self._on_over.append(callback)

    def when_pruned(self, callback: Callable[[Pruned], None]) -> None:
        """Call back with every game that is removed from the log."""
        self._on_pruned.append(callback)

    def lapse(self, game_id: int, seconds: float) -> None:
        """Call a game of the log's off after some time, if it has not begun by then."""
        self.deadlines.set(game_id, loop_time.now() + seconds)

    async def run(self) -> None:
        """Watch the clocks, wake those who wait, and let idle games go, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watchers.run)
            nursery.start_soon(self.deadlines.run)
            nursery.start_soon(self._retries.run)
            nursery.start_soon(self._load_wanted)
            nursery.start_soon(self._cache.age, self._idle_seconds, self._is_needed)

    async def live_game(self, game_id: int, peer: str = "") -> LiveGame:
        """The game of an id.

        :param peer: who asks for it, as host:port: loading it is charged to them, and waits behind their other work.
        :raises NoSuchGame: there is none.
        :raises LogFailed: the log cannot be read.
        """
        return self._cache.find(game_id) or await self._cache.load(game_id, peer)

    def open(self, game: Game, events: Sequence[AnyEvent], token: TokenUse | None) -> LiveGame:
        """Take in a new game that its first events have been applied to."""
        game.id = self.log.next_game_id()
        live = LiveGame(game, 0, loop_time.now())
        self._cache.put(live)
        self._append(live, events, token)
        return live

    def act(self, live: LiveGame, command: Command, at: float) -> Decision:
        """Let a command happen.

        :param at: when it arrived: the thinking it ends is charged up to then.
        """
        game = live.game
        elapsed = 0.0 if game.clock is None else game.elapsed(command, self.elapsed(live, at))
        decision = game.decide(command, elapsed)
        if decision.events:
            for event in decision.events:
                game.apply(event, decision.move)
            self._append(live, decision.events)
        return decision

    def join(self, live: LiveGame, command: Join, at: float) -> Decision:
        """Let a player take a seat: with the last one taken begins the time for both to be heard from."""
        opened = live.opened
        if live.game.players.count(None) == 1:
            live.opened = at
        decision = self.act(live, command, at)
        if not live.game.begun:  # it was refused
            live.opened = opened
        return decision

    def note_contact(self, live: LiveGame, player: int, at: float) -> None:
        """A player has sent a request that names the game: mark its seats heard from."""
        if live.game.awaits_contact:
            for seat in live.game.seats(player):
                self.act(live, FirstContact(seat), at)

    def look(self, live: LiveGame, at: float) -> None:
        """Bring the game up to a time: a flag that has fallen by then ends it."""
        if live.game.clock is not None:
            self.act(live, Flag(), at)

    def elapsed(self, live: LiveGame, at: float) -> float:
        """Seconds the clock of the side to move has been running."""
        game = live.game
        return max(0.0, at - live.since) if game.clock is not None and game.ticking else 0.0

    def forget(self, pruned: Pruned) -> None:
        """A finished game is in the log no more."""
        self._cache.drop(pruned.game_id)
        self.turns.forget(pruned.game_id, pruned.players)
        for callback in self._on_pruned:
            callback(pruned)

    # --- The log ------------------------------------------------------------------------------------------------

    def _append(self, live: LiveGame, events: Sequence[AnyEvent], token: TokenUse | None = None) -> None:
        game = live.game
        secret = type(events[-1]) is Sensed
        live.since = inf
        if live.shared:
            live.forget_shared_views(secret=secret)
        try:
            commit = self.log.append(game.id, live.seq, events, game.summary, token)
        except Exception as error:
            logger.exception("append failed", game_id=game.id)
            self._lose(live)
            raise Internal(f"game {game.id}: the event log failed; nothing was done") from error
        live.seq += len(events)
        if live.seq >= live.look_at:
            self._cache.weigh(live)
        if commit.done:
            if self._lost:
                self._lost.pop(game.id, None)
            if live.counted is game.over:  # it has just begun, and is on; or it was on, and has ended
                self._count(live, over=game.over)
            self._sense_durable(live) if secret else self._durable(live)
            return
        known = commit is live.commit or commit is live.sensed
        if secret:
            live.sensed = commit
        else:
            live.commit, live.sensed = commit, None
        if not known:
            commit.then(partial(self._settled, live, commit))

    def _settled(self, live: LiveGame, commit: Commit, error: GmError | None) -> None:
        """A commit is durable or has failed. If it is not the game's latest any more, there is another to wait for."""
        if error is not None:
            self._lose(live)
            return
        self._lost.pop(live.game.id, None)
        latest = live.commit is commit
        self._count(live, over=latest and live.game.over)
        if self._cache.find(live.game.id) is live:
            if latest:
                self._durable(live)
            if live.sensed is commit:
                self._sense_durable(live)

    def _durable(self, live: LiveGame) -> None:
        """A game's latest events cannot be lost any more: start the next clock and tell whoever waits."""
        game = live.game
        live.commit = None
        before = live.turned
        if before != (turned := (game.now.ply, game.over, game.players)):
            live.turned = turned
            self.turns.update(game)
            if before is None or before[1] != game.over or before[2] != game.players:
                for callback in self._on_seats:
                    callback(game)
                self._announce(game, before)
        if game.timed:
            self._start_clock(live)
        self.watchers.notify(game.id, game.named)

    def _announce(self, game: Game, before: Turned | None) -> None:
        """Tell that a game has begun, or is over, if that is new since it was last durable."""
        if game.begun and (before is None or None in before[2]):
            for callback in self._on_begun:
                callback(game)
        if game.over and (before is None or not before[1]):
            for callback in self._on_over:
                callback(game)

    def _sense_durable(self, live: LiveGame) -> None:
        """A sense cannot be lost any more: the clock runs on. Nobody else is told, nor is it anybody else's turn."""
        live.sensed = None
        if live.game.clock is not None:
            self._start_clock(live)

    def _count(self, live: LiveGame, *, over: bool) -> None:
        """A game has become durable as it is, ended or on: keep count of those that are live."""
        self.live_games += (not over) - live.counted
        live.counted = not over

    def _lose(self, live: LiveGame) -> None:
        """What was applied is not in the log: the game in memory is wrong, the log is right.

        A clock starts anew from what it showed before: nobody loses on time for what the log failed to take.
        """
        game = live.game
        if self._cache.find(game.id) is live:
            self._cache.drop(game.id)
            self.deadlines.clear(game.id)
            if game.timed:
                self._reload(game.id)

    def _reload(self, game_id: int) -> None:
        """Load a game again for its clock's sake: at once, but later and later where that has led to nothing.

        One with no time left is due as soon as it is loaded, and while nothing can be written it is lost as soon.
        """
        put_off = self._lost.get(game_id)
        if put_off is None:
            self._lost[game_id] = 0.0
            self._wanted.send_nowait(game_id)
        else:
            delay = self._lost[game_id] = _longer(put_off)
            self._retries.set(game_id, loop_time.now() + delay)

    # --- Clocks -------------------------------------------------------------------------------------------------

    def _start_clock(self, live: LiveGame) -> None:
        """The clock of the side to move runs from now."""
        live.since = loop_time.now()
        self._set_alarm(live)

    def _resume(self, live: LiveGame) -> None:
        """A game has come out of the log: its clock runs as its alarm says, or from now."""
        game = live.game
        if not game.timed:
            return
        deadline = self.deadlines.deadline(game.id)
        if game.clock is not None and game.ticking:
            live.since = loop_time.now() if deadline is None else deadline - game.clock.patience(game.turn)
        elif deadline is not None:
            live.opened = deadline - self._patience(game)
        self._set_alarm(live)

    def _deadline(self, live: LiveGame) -> float | None:
        """When the game ends if nobody does anything; None where it does not."""
        game = live.game
        if game.clock is not None and game.ticking:
            return live.since + game.clock.patience(game.turn)
        return live.opened + self._patience(game) if game.awaited or game.lapsing else None

    def _patience(self, game: Game) -> float:
        """Seconds that a game waits for its seats to be taken, and then for those who have them."""
        return game.created.lapses if game.lapsing and game.created.lapses is not None else self._start_seconds

    def _set_alarm(self, live: LiveGame) -> None:
        deadline = self._deadline(live)
        if deadline is None:
            self.deadlines.clear(live.game.id)
        else:
            self.deadlines.set(live.game.id, deadline)

    def _on_deadline(self, game_id: int) -> None:
        live = self._cache.find(game_id)
        if live is None:
            self._wanted.send_nowait(game_id)
        else:
            self._judge(live)

    def _judge(self, live: LiveGame) -> None:
        """End the game if its time has come; else see to it that it is looked at again."""
        now = loop_time.now()
        deadline = self._deadline(live)
        try:
            if deadline is not None and deadline <= now:
                self.act(live, _when_due(live.game), now)
        except Internal:
            return  # it has been logged, and the game is to be loaded again
        except Exception:
            logger.exception("alarm failed", game_id=live.game.id)  # one game's trouble is not the others'
            return
        if not live.game.over:
            self._set_alarm(live)

    async def _load_wanted(self) -> None:
        """Load games whose clocks nobody watches, or that are due, one after the other."""
        async for game_id in self._to_load:
            try:
                self._judge(await self.live_game(game_id))
            except NoSuchGame:
                self.deadlines.clear(game_id)
                self._lost.pop(game_id, None)
            except GmError:
                delay = self._delays[game_id] = _longer(self._delays.get(game_id, 0.0))
                self._retries.set(game_id, loop_time.now() + delay)
                continue
            self._delays.pop(game_id, None)

    def _retry(self, game_id: int) -> None:
        self._retries.clear(game_id)
        self._wanted.send_nowait(game_id)

    def _is_needed(self, live: LiveGame, is_crowded: bool) -> bool:
        """Whether a game is to stay in memory though nobody has asked for it of late.

        One that somebody waits for does while there is room: it is loaded again when there is something to look at.
        """
        if live.commit is not None or live.sensed is not None:
            return True
        return not is_crowded and self.watchers.watched(live.game.id)


def _when_due(game: Game) -> Command:
    """What is to be asked of a game whose deadline has come."""
    if game.lapsing:
        return CallOff(None)
    return Absent() if game.awaited else Flag()


def _longer(delay: float) -> float:
    """What to put off next, in seconds, what has been put off for so long before."""
    return min(2 * delay, LAST_RETRY) if delay else FIRST_RETRY
