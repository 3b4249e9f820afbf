"""The arbiter: applies a command to a game, appends its events to the log, and notifies the game's subscribers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import trio

from gm_protocol.errors import GmError, Internal, NoSuchGame
from gmd.event_log.interface import Commit, EventLog, Pruned, TokenUse
from gmd.games.commands import Command, FirstContact, Flag, Join
from gmd.games.events import AnyEvent
from gmd.games.game import Decision, Game, when_due
from gmd.games.game_note import note_of
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.play.budget import CpuQueue
from gmd.play.deadlines import Deadlines, Reloads
from gmd.play.game_feed import GameFeed
from gmd.play.live_games import DEFAULT_BYTES, GameCache, LiveGame
from gmd.play.turns import Turns
from gmd.play.watchers import Watchers

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease

logger = get_logger(__name__)

#: Seconds between two looks at a deadline that has come while the lease has run out.
LAPSED_SECONDS = 0.1


class Arbiter:
    """The only place that changes games. Times are the event loop's (:mod:`gmd.net.loop_time`), in seconds."""

    def __init__(
        self,
        log: EventLog,
        start_seconds: float,
        idle_seconds: float,
        games_bytes: int = DEFAULT_BYTES,
        cpu_queue: CpuQueue | None = None,
        lease: Lease | None = None,
    ) -> None:
        """:param start_seconds: how long the players of a game with a clock have for their first contact.
        :param idle_seconds: how long an unused game stays in memory, or up to twice that.
        :param games_bytes: how much memory games may take; beyond that idle ones are evicted earlier.
        :param cpu_queue: loads games and does other long work.
        :param lease: the right to serve the log's database; None where the log is nobody else's.
        """
        self._lease = lease
        if lease is not None:
            lease.on_resumed = self.give_back
        self.cpu_queue = cpu_queue or CpuQueue()
        self.log = log
        self.watchers = Watchers()
        self.turns = Turns(log)
        self.deadlines = Deadlines(self._on_deadline)
        #: Games to be loaded because their clocks run.
        self._reloads = Reloads()
        self._cache = GameCache(log, self.cpu_queue, self._resume, games_bytes)
        self._start_seconds = start_seconds
        self._idle_seconds = idle_seconds
        #: Return a recently used game by its id, else None.
        self.cached = self._cache.cached
        self.live_games = 0  # as far as durable
        #: The news of the games.
        self.feed = GameFeed()

    @property
    def games_in_memory(self) -> int:
        """The number of games in memory."""
        return len(self._cache)

    @property
    def games_bytes(self) -> int:
        """The estimated size of the games in memory, in bytes."""
        return self._cache.bytes

    async def start(self) -> None:
        """Start the clocks of all games in the log from now: time while the daemon was down is not charged.

        :raises GmError: the log cannot be read.
        """
        now = loop_time.now()
        for game_id, seconds_left in await self.log.deadlines():
            self.deadlines.set(game_id, now + (self._start_seconds if seconds_left is None else seconds_left))
        self.live_games = await self.log.live_games()

    def lapse(self, game_id: int, seconds: float) -> None:
        """Call a game off after some seconds if it has not begun."""
        self.deadlines.set(game_id, loop_time.now() + seconds)

    async def run(self) -> None:
        """Watch the clocks, notify subscribers and evict idle games, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watchers.run)
            nursery.start_soon(self.deadlines.run)
            nursery.start_soon(self._reloads.run)
            nursery.start_soon(self._load_wanted)
            nursery.start_soon(self._cache.age, self._idle_seconds, self._is_needed)

    async def live_game(self, game_id: int, peer: str = "") -> LiveGame:
        """Return a game by its id, loaded from the log if need be.

        :param peer: the client, as host:port: loading is charged to its address and queues behind its other work.
        :raises NoSuchGame: no game has this id.
        :raises LogFailed: the log cannot be read.
        """
        return self._cache.find(game_id) or await self._cache.load(game_id, peer)

    def open(self, game: Game, events: Sequence[AnyEvent], token: TokenUse | None) -> LiveGame:
        """Append a new game to the log, whose first events have been applied."""
        game.id = self.log.next_game_id()
        live = LiveGame(game, 0, loop_time.now())
        self._cache.put(live)
        self._append(live, events, token)
        return live

    def act(self, live: LiveGame, command: Command, at: float) -> Decision:
        """Apply a command to a game and append its events to the log.

        :param at: when the command arrived: the player's clock is charged up to then.
        :raises Internal: the log failed; nothing was done.
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
        """Give a player a seat. When the last one is taken, both players must make contact within the start timeout."""
        opened = live.opened
        if live.game.players.count(None) == 1:
            live.opened = at
        try:
            return self.act(live, command, at)
        finally:
            if not live.game.begun:  # it was refused, or could not be carried out
                live.opened = opened

    def note_contact(self, live: LiveGame, player: int, at: float) -> None:
        """Note a player's first request that names the game, for each of its seats."""
        if live.game.awaits_contact:
            for seat in live.game.seats(player):
                self.act(live, FirstContact(seat), at)

    def look(self, live: LiveGame, at: float) -> None:
        """End the game if the flag of the side to move has fallen at the given time."""
        if live.game.clock is not None:
            self.act(live, Flag(), at)

    def elapsed(self, live: LiveGame, at: float) -> float:
        """Return for how many seconds the clock of the side to move has been running."""
        game = live.game
        return max(0.0, at - live.since) if game.clock is not None and game.ticking else 0.0

    def forget(self, pruned: Pruned) -> None:
        """Forget a finished game that was pruned from the log."""
        self._cache.drop(pruned.game_id)
        self.turns.forget(pruned.game_id, pruned.players)
        self.feed.pruned(pruned)

    def give_back(self, seconds: float) -> None:
        """Charge no game for the last seconds, in which this daemon could not serve."""
        now = loop_time.now()
        self.deadlines.postpone(seconds)
        for live in self._cache:
            live.since = _later(live.since, seconds, now)
            live.opened = _later(live.opened, seconds, now)
            if live.game.timed and not live.game.over:
                self._set_deadline(live)

    # --- The log ------------------------------------------------------------------------------------------------

    def _append(self, live: LiveGame, events: Sequence[AnyEvent], token: TokenUse | None = None) -> None:
        game = live.game
        secret = events[-1].is_secret
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
            self._reloads.written(game.id)
            if live.counted is game.over:  # it is new and live, or it was live and has ended
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
        """Handle a commit that is durable or has failed. One that is not the game's latest only updates the counts."""
        if error is not None:
            self._lose(live)
            return
        self._reloads.written(live.game.id)
        latest = live.commit is commit
        self._count(live, over=latest and live.game.over)
        if self._cache.find(live.game.id) is live:
            if latest:
                self._durable(live)
            if live.sensed is commit:
                self._sense_durable(live)

    def _durable(self, live: LiveGame) -> None:
        """Start the next clock and notify subscribers: a game's latest events are durable."""
        game = live.game
        live.commit = None
        before = live.turned
        if before != (turned := (game.now.ply, game.over, game.players)):
            live.turned = turned
            self.turns.update(game)
            if before is None or before[1] != game.over or before[2] != game.players:
                began = game.begun and (before is None or None in before[2])
                ended = game.over and (before is None or not before[1])
                self.feed.seats_changed(note_of(game), began=began, ended=ended)
        if game.timed:
            self._start_clock(live)
        self.watchers.notify(game.id, game.named)

    def _sense_durable(self, live: LiveGame) -> None:
        """Restart the clock: a sense is durable. Only those who may know of it are notified; the turn is the same."""
        live.sensed = None
        if live.game.clock is not None:
            self._start_clock(live)
        self.watchers.notify_sense(live.game.id, live.game.turn)

    def _count(self, live: LiveGame, *, over: bool) -> None:
        """Update the number of live games: this game's state, over or live, has become durable."""
        if change := (not over) - live.counted:
            self.live_games += change
            live.counted = not over

    def _lose(self, live: LiveGame) -> None:
        """Drop a game from memory after a failed write: it has events that the log does not have.

        Its clock restarts from what it showed before: nobody loses on time because the log failed.
        """
        game = live.game
        if self._cache.find(game.id) is live:
            self._cache.drop(game.id)
            self.deadlines.clear(game.id)
            if game.timed:
                self._reloads.lose(game.id)

    # --- Clocks -------------------------------------------------------------------------------------------------

    def _start_clock(self, live: LiveGame) -> None:
        """Start the clock of the side to move, from now."""
        live.since = loop_time.now()
        self._set_deadline(live)

    def _resume(self, live: LiveGame) -> None:
        """Start the clock of a game loaded from the log: as its deadline says, or from now."""
        game = live.game
        if not game.timed:
            return
        deadline = self.deadlines.deadline(game.id)
        if game.clock is not None and game.ticking:
            live.since = loop_time.now() if deadline is None else deadline - game.clock.seconds_to_flag(game.turn)
        elif deadline is not None:
            live.opened = deadline - self._patience(game)
        self._set_deadline(live)

    def _deadline(self, live: LiveGame) -> float | None:
        """Return when the game ends if nobody acts; None if it does not end."""
        game = live.game
        if game.clock is not None and game.ticking:
            return live.since + game.clock.seconds_to_flag(game.turn)
        return live.opened + self._patience(game) if game.awaited or game.lapsing else None

    def _patience(self, game: Game) -> float:
        """Return how many seconds a game waits for its seats to be taken or, later, for its players' first contact."""
        return game.created.lapses if game.lapsing and game.created.lapses is not None else self._start_seconds

    def _set_deadline(self, live: LiveGame) -> None:
        deadline = self._deadline(live)
        if deadline is None:
            self.deadlines.clear(live.game.id)
        else:
            self.deadlines.set(live.game.id, deadline)

    def _on_deadline(self, game_id: int) -> None:
        live = self._cache.find(game_id)
        if live is None:
            self._reloads.want(game_id)
        else:
            self._judge(live)

    def _judge(self, live: LiveGame) -> None:
        """End the game if its deadline has come; else set the deadline again.

        Nothing ends while the lease has run out.
        """
        now = loop_time.now()
        if self._lease is not None and not self._lease.is_valid():
            self.deadlines.put_off(live.game.id, now + LAPSED_SECONDS)
            return
        deadline = self._deadline(live)
        try:
            if deadline is not None and deadline <= now:
                self.act(live, when_due(live.game), now)
        except Internal:
            return  # _append has logged it, and the game will be loaded again
        except Exception:
            logger.exception("deadline failed", game_id=live.game.id)  # it must not stop the other games' deadlines
            return
        if not live.game.over:
            self._set_deadline(live)

    async def _load_wanted(self) -> None:
        """Load games that are not in memory and have a deadline to keep, one after the other."""
        while True:
            game_id = await self._reloads.next()
            try:
                self._judge(await self.live_game(game_id))
            except NoSuchGame:
                self.deadlines.clear(game_id)
                self._reloads.written(game_id)
            except GmError:
                self._reloads.failed(game_id)
                continue
            self._reloads.loaded(game_id)

    def _is_needed(self, live: LiveGame, is_crowded: bool) -> bool:
        """Return whether an idle game stays in memory.

        A game with subscribers stays while there is room: an evicted one is loaded again when it changes.
        """
        if live.commit is not None or live.sensed is not None:
            return True
        return not is_crowded and self.watchers.watched(live.game.id)


def _later(since: float, seconds: float, now: float) -> float:
    """Return when a clock began to run that stood still for the last seconds, or for as long as it has been running."""
    return max(since, min(since + seconds, now))
