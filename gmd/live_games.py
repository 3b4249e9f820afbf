"""The games at hand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import islice
from math import inf
from types import MappingProxyType

import chess
import trio

from gm_protocol.errors import NoSuchGame
from gmd import loop_time
from gmd.budget import Workbench
from gmd.event_log.interface import Commit, EventLog, LogFailed
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.shared_views import SharedView, shared_view
from gmd.games.variants import make_game
from gmd.games.views import Viewer
from gmd.keyed_locks import KeyedLocks
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Idle games looked at before the others get a turn: some hundred microseconds.
GAMES_A_STEP = 500
#: Events between two looks at a game's size.
EVENTS_A_LOOK = 32
#: Bytes of games kept at hand, where nothing else is said.
DEFAULT_BYTES = 256 << 20


#: What most games have of views that are shared: nobody watches them.
NONE_SHARED: Mapping[tuple[Viewer, bool], SharedView] = MappingProxyType({})
#: At which ply a game is, whether it is over, and who has its seats.
Turned = tuple[int, bool, tuple[int | None, int | None]]


class LiveGame:
    """A game being played, and what this process knows of it beside its events."""

    __slots__ = (
        *("__weakref__", "commit", "counted", "game", "look_at", "opened", "sensed", "seq", "shared", "since", "size"),
        *("results_delivered", "turned"),
    )

    def __init__(self, game: Game, seq: int, opened: float) -> None:
        self.game = game
        #: How many of its events the log has, or is being given.
        self.seq = seq
        #: The latest append that all may know of, until it is durable. No reply that shows the game leaves before it.
        self.commit: Commit | None = None
        #: The append of the side to move's sense behind it, until it is durable: for whoever may know of that.
        self.sensed: Commit | None = None
        #: When the side to move's clock began to run, in the loop's time; never, while the move before is not durable.
        self.since = inf
        #: When the game was made, or its seats were first waited for, in the loop's time.
        self.opened = opened
        #: Whether the log has it as a live game, which is counted.
        self.counted = False
        #: At which ply, whether over, and whose the game was when the players' turns were last noted.
        self.turned: Turned | None = None
        #: The seats whose players have been shown the end.
        self.results_delivered: tuple[chess.Color, ...] = ()
        #: The bytes that it was last found to take, more or less; and at which number of events to look again.
        self.size = 0
        self.look_at = 0
        #: What its spectators are shown, by who they are and whether in brief; none until many are to be shown it.
        self.shared: Mapping[tuple[Viewer, bool], SharedView] = NONE_SHARED

    def shared_view(self, viewer: Viewer, *, brief: bool) -> SharedView:
        """What a viewer without a seat is shown of the game, encoded once for all of them until the game changes."""
        view = self.shared.get((viewer, brief))
        if view is None:
            self.shared = {**self.shared, (viewer, brief): shared_view(self.game, viewer, brief=brief)}
            view = self.shared[viewer, brief]
        return view

    def forget_shared_views(self, *, secret: bool) -> None:
        """The game has changed.

        :param secret: only for those who see everything. The others' views stay: one made anew takes longer, by which
            it would tell that something has happened.
        """
        if secret:
            self.shared = {shown: view for shown, view in self.shared.items() if shown[0] is not Viewer.OVERSEER}
        else:
            self.shared = NONE_SHARED

    def commit_for(self, viewer: Viewer) -> Commit | None:
        """What a reply that shows the game to a viewer must wait for.

        Whoever may not know of a sense may not wait for it either: it would tell by when it gets its reply.
        """
        if self.sensed is None or not viewer.knows_of_sense(self.game.turn):
            return self.commit
        return self.sensed


class GameCache:
    """Every game asked for, loaded from the log by replay when it is not here.

    A game that nobody asks for ages, and is let go of. So that asking costs no more than a look into a dictionary,
    all games age together: who is among the older ones when the next period ends was idle for a whole one. A period
    ends early when the games asked for in it take half of the bytes that there are for games.

    :ivar bytes: how many they take, more or less.
    """

    def __init__(
        self,
        log: EventLog,
        bench: Workbench,
        resume: Callable[[LiveGame], None],
        max_bytes: int = DEFAULT_BYTES,
    ) -> None:
        """:param bench: where games are replayed.
        :param resume: called with every table loaded, before anybody else sees it.
        :param max_bytes: how many bytes games may take, apart from those that must stay.
        """
        self._log = log
        self._bench = bench
        self._resume = resume
        self._recent: dict[int, LiveGame] = {}
        self._older: dict[int, LiveGame] = {}
        self._loading = KeyedLocks()
        self._crowded = trio.Event()
        self._max_recent = max_bytes // 2
        self._recent_bytes = 0
        self.bytes = 0
        #: The game of an id, if it was asked for lately.
        self.at_hand: Callable[[int], LiveGame | None] = self._recent.get

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def find(self, game_id: int) -> LiveGame | None:
        """The game of an id, if it is here."""
        live = self._recent.get(game_id)
        if live is None and (live := self._older.pop(game_id, None)) is not None:
            self._keep(live)
        return live

    def put(self, live: LiveGame) -> None:
        """Keep a game at hand that is not here."""
        live.size = live.game.estimated_bytes
        live.look_at = live.seq + EVENTS_A_LOOK
        self.bytes += live.size
        self._keep(live)

    def weigh(self, live: LiveGame) -> None:
        """Look how large a game has become. To be called when it has as many events as its ``look_at`` says."""
        before, live.size = live.size, live.game.estimated_bytes
        live.look_at = live.seq + EVENTS_A_LOOK
        if self._recent.get(live.game.id) is live:
            self.bytes += live.size - before
            self._recent_bytes += live.size - before
            self._note_crowd()
        elif self._older.get(live.game.id) is live:
            self.bytes += live.size - before

    def drop(self, game_id: int) -> None:
        """Forget a game; the log has it."""
        if (live := self._recent.pop(game_id, None)) is not None:
            self._recent_bytes -= live.size
            self.bytes -= live.size
        if (live := self._older.pop(game_id, None)) is not None:
            self.bytes -= live.size

    async def load(self, game_id: int, peer: str = "") -> LiveGame:
        """The game out of the log; once for all who ask for it at the same time.

        Whoever loads it has its address's place meanwhile, so that it comes to an end however many others wait.

        :param peer: who asks, as host:port. It is charged and not refused: its own game may have to be loaded, too.
        :raises NoSuchGame: the log has none of that id.
        :raises LogFailed: the log cannot be read, or what it has of the game is damaged.
        """
        async with self._bench.place(peer), self._loading.hold(game_id):
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
        """The game that its events make.

        :raises LogFailed: they make none. What they are refused with is for operators: it may tell what is hidden.
        """
        try:
            return await self._bench.run(_applied(game_id, events), peer)
        except Exception as error:
            logger.exception("a game cannot be replayed", game_id=game_id)
            why = "its events do not apply to each other, so it cannot be played on; gmd check says where"
            raise LogFailed(f"game {game_id}: {why}") from error

    def _keep(self, live: LiveGame) -> None:
        """Have a game, which is counted, among the recent ones."""
        self._recent[live.game.id] = live
        self._recent_bytes += live.size
        self._note_crowd()

    def _note_crowd(self) -> None:
        if self._recent_bytes > self._max_recent:
            self._crowded.set()

    async def age(self, seconds: float, needed: Callable[[LiveGame, bool], bool]) -> None:
        """Let go of games that nobody has asked for in one to two periods, until cancelled.

        :param seconds: a period, unless the games asked for take so many bytes that it ends early.
        :param needed: whether to keep a table all the same; it is told whether the period has ended early.
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


def _applied(game_id: int, events: Sequence[AnyEvent]) -> Generator[None, None, Game]:
    """The game that its events make, in steps of one event."""
    created, *others = events
    assert isinstance(created, Created)
    game = make_game(created)
    game.id = game_id
    for event in others:
        yield
        game.apply(event)
    return game
