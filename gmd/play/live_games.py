"""The cache of games in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import inf
from types import MappingProxyType

import chess
import trio

from gm_protocol.errors import NoSuchGame
from gmd.event_log.interface import Commit, EventLog, LogFailed
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.games.variants import replayed
from gmd.games.views import SharedView, Viewer, shared_view
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.play.budget import CpuQueue

logger = get_logger(__name__)

#: Idle games checked before other tasks get a turn: some hundred microseconds.
GAMES_A_STEP = 500
#: Events between two estimates of a game's size.
EVENTS_A_LOOK = 32
#: Default size of the cache in bytes.
DEFAULT_BYTES = 256 << 20


#: The shared views of a game without spectators, as most are.
NONE_SHARED: Mapping[tuple[Viewer, bool], SharedView] = MappingProxyType({})
#: A game's ply, whether it is over, and the players in its seats.
Turned = tuple[int, bool, tuple[int | None, int | None]]


class LiveGame:
    """A game in memory, with the state that is not in its events."""

    __slots__ = (
        *("__weakref__", "commit", "counted", "game", "look_at", "opened", "sensed", "seq", "shared", "since", "size"),
        *("results_delivered", "turned"),
    )

    def __init__(self, game: Game, seq: int, opened: float) -> None:
        self.game = game
        #: The number of its events that were appended to the log, durable or not.
        self.seq = seq
        #: The commit of the latest public events; None once it is durable. Replies that show the game wait for it.
        self.commit: Commit | None = None
        #: The commit of a later sense by the side to move; None once it is durable. Only viewers who may know of the
        #: sense wait for it.
        self.sensed: Commit | None = None
        #: When the clock of the side to move started, in the loop's time; inf until the move before it is durable.
        self.since = inf
        #: When the game was created, or when its seats were all taken, in the loop's time.
        self.opened = opened
        #: Whether it is counted as a live game, as it is in the log.
        self.counted = False
        #: Its ply, whether it was over, and its players, when Turns was last updated.
        self.turned: Turned | None = None
        #: The seats whose players are known to have received the result.
        self.results_delivered: tuple[chess.Color, ...] = ()
        #: Its last estimated size in bytes; and the number of events at which to estimate it again.
        self.size = 0
        self.look_at = 0
        #: Views that spectators share, by kind of viewer and whether brief; empty until the game has many spectators.
        self.shared: Mapping[tuple[Viewer, bool], SharedView] = NONE_SHARED

    @property
    def version(self) -> int:
        """The number of its public events that were appended, and of senses before them; it grows with each."""
        return self.seq - (self.sensed is not None)

    def shared_view(self, viewer: Viewer, *, brief: bool) -> SharedView:
        """Return the view for spectators of one kind, which is encoded once until the game changes."""
        view = self.shared.get((viewer, brief))
        if view is None:
            self.shared = {**self.shared, (viewer, brief): shared_view(self.game, viewer, brief=brief)}
            view = self.shared[viewer, brief]
        return view

    def forget_shared_views(self, *, secret: bool) -> None:
        """Drop shared views after a change of the game.

        :param secret: whether only viewers who see everything may know of the change. The other views are kept: making
            a view again takes longer, and the delay would reveal that something has happened.
        """
        if secret:
            self.shared = {shown: view for shown, view in self.shared.items() if shown[0] is not Viewer.OVERSEER}
        else:
            self.shared = NONE_SHARED

    def commit_for(self, viewer: Viewer) -> Commit | None:
        """Return the commit that a reply showing the game to a viewer must wait for; None for none.

        A viewer who may not know of a sense must not wait for it: the time of the reply would reveal the sense.
        """
        if self.sensed is None or not viewer.knows_of_sense(self.game.turn):
            return self.commit
        return self.sensed


class GameCache:
    """A cache of games, which are loaded from the log by replay.

    Idle games are evicted. So that a lookup costs no more than a dictionary access, all games age together: at the end
    of each period, the recent games become the older ones. A game that is still among the older ones at the end of the
    next period was idle for a whole period, and is evicted. A period ends early when the games used in it take half of
    the cache's bytes.

    :ivar bytes: the estimated size of the games in the cache.
    """

    def __init__(
        self,
        log: EventLog,
        cpu_queue: CpuQueue,
        resume: Callable[[LiveGame], None],
        max_bytes: int = DEFAULT_BYTES,
    ) -> None:
        """:param cpu_queue: replays games.
        :param resume: called with every game that was loaded, before it is returned to anyone.
        :param max_bytes: how many bytes games may take, apart from those that must stay.
        """
        self._log = log
        self._cpu_queue = cpu_queue
        self._resume = resume
        self._recent: dict[int, LiveGame] = {}
        self._older: dict[int, LiveGame] = {}
        self._loading = KeyedLocks()
        self._crowded = trio.Event()
        self._max_recent = max_bytes // 2
        self._recent_bytes = 0
        self.bytes = 0
        #: Return a recently used game by its id, else None.
        self.cached: Callable[[int], LiveGame | None] = self._recent.get

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def find(self, game_id: int) -> LiveGame | None:
        """Return a game by its id; None if it is not in the cache."""
        live = self._recent.get(game_id)
        if live is None and (live := self._older.pop(game_id, None)) is not None:
            self._keep(live)
        return live

    def put(self, live: LiveGame) -> None:
        """Add a game that is not in the cache."""
        live.size = live.game.estimated_bytes
        live.look_at = live.seq + EVENTS_A_LOOK
        self.bytes += live.size
        self._keep(live)

    def weigh(self, live: LiveGame) -> None:
        """Estimate a game's size again. Call this when the game has as many events as its ``look_at`` says."""
        before, live.size = live.size, live.game.estimated_bytes
        live.look_at = live.seq + EVENTS_A_LOOK
        if self._recent.get(live.game.id) is live:
            self.bytes += live.size - before
            self._recent_bytes += live.size - before
            self._note_crowd()
        elif self._older.get(live.game.id) is live:
            self.bytes += live.size - before

    def __iter__(self) -> Iterator[LiveGame]:
        return chain(self._recent.values(), self._older.values())

    def drop(self, game_id: int) -> None:
        """Remove a game from the cache; the log keeps it."""
        if (live := self._recent.pop(game_id, None)) is not None:
            self._recent_bytes -= live.size
            self.bytes -= live.size
        if (live := self._older.pop(game_id, None)) is not None:
            self.bytes -= live.size

    async def load(self, game_id: int, peer: str = "") -> LiveGame:
        """Load a game from the log; concurrent requests for a game load it once.

        The client that loads it holds its address's place meanwhile, so that loading finishes however many others wait.

        :param peer: the client, as host:port. It is charged but never refused, as it may be loading its own game.
        :raises NoSuchGame: the log has no game of this id.
        :raises LogFailed: the log cannot be read, or the game's events are damaged.
        """
        async with self._cpu_queue.slot(peer), self._loading.hold(game_id):
            live = self.find(game_id)
            if live is None:
                events = await self._log.load(game_id)
                if not events:
                    raise NoSuchGame(f"game_id: there is no game {game_id}")
                game = await self._replayed(game_id, events, peer)
                live = LiveGame(game, len(events), loop_time.now())
                live.counted = not game.over
                live.turned = game.now.ply, game.over, game.players
                self._resume(live)
                self.put(live)
        return live

    async def _replayed(self, game_id: int, events: Sequence[AnyEvent], peer: str) -> Game:
        """Return a game, replayed from its events.

        :raises LogFailed: they cannot be applied. The reason is only in the daemon's log: it may reveal hidden moves.
        """
        try:
            return await self._cpu_queue.run(replayed(game_id, events), peer)
        except Exception as error:
            logger.exception("a game cannot be replayed", game_id=game_id)
            why = "its events do not apply to each other, so it cannot be played on; gmd check says where"
            raise LogFailed(f"game {game_id}: {why}") from error

    def _keep(self, live: LiveGame) -> None:
        """Add a game, whose size is already in ``bytes``, to the recent ones."""
        self._recent[live.game.id] = live
        self._recent_bytes += live.size
        self._note_crowd()

    def _note_crowd(self) -> None:
        if self._recent_bytes > self._max_recent:
            self._crowded.set()

    async def age(self, seconds: float, needed: Callable[[LiveGame, bool], bool]) -> None:
        """Evict games that were idle for one to two periods, until cancelled.

        :param seconds: the length of a period, which ends early when the recent games take too many bytes.
        :param needed: returns whether to keep an idle game; its second argument is whether the period ended early.
        """
        while True:
            with trio.move_on_after(seconds):
                await self._crowded.wait()
            is_crowded = self._crowded.is_set()
            while some := list(islice(self._older.values(), GAMES_A_STEP)):
                for live in some:
                    del self._older[live.game.id]
                    if needed(live, is_crowded):
                        self._keep(live)
                    else:
                        self.bytes -= live.size
                await trio.lowlevel.checkpoint()
            self._older.update(self._recent)
            self._recent.clear()
            self._recent_bytes = 0
            self._crowded = trio.Event()
