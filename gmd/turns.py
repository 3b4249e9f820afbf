"""Whose turn it is, over all games: what ``wait`` with ``any`` asks.

The log knows. What it says of a player is kept, and kept current, while that player goes on asking: the players of most
games never do, and cost nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Sequence
from math import inf
from weakref import ReferenceType, ref

import chess

from gmd.event_log.interface import EventLog
from gmd.games.game import Game
from gmd.keyed_locks import KeyedLocks
from gmd.live_games import LiveGame

#: Players whose turns are kept, and games that are kept for one of them; beyond that the log is asked again.
MAX_PLAYERS = 10_000
MAX_GAMES = 20_000


class _Known:
    """One player's games that are due, oldest first."""

    __slots__ = ("due", "touched")

    def __init__(self) -> None:
        self.due: dict[int, None] = {}
        #: The games that changed while the log was being asked: what it says of them is old. None once it has said.
        self.touched: set[int] | None = set()

    def note(self, game_id: int, *, due: bool) -> None:
        if self.touched is not None:
            self.touched.add(game_id)
        self.due.pop(game_id, None)
        if due:
            self.due[game_id] = None

    def learn(self, game_ids: list[int]) -> None:
        assert self.touched is not None
        older = {game_id: None for game_id in game_ids if game_id not in self.touched}
        self.due = older | self.due
        self.touched = None


class Turns:
    """For every player, the live games where it is to act and the ended ones it does not know of, oldest first."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._players: OrderedDict[int, _Known] = OrderedDict()
        self._asking = KeyedLocks()

    def update(self, game: Game) -> None:
        """A game has changed, durably: it is another side's turn, or over."""
        if not self._players:
            return
        if game.begun:
            mover, rested = game.players[game.turn], game.players[not game.turn]
            # First the one that rests: where one player holds both seats, the other seat's turn is a new one.
            self._note(rested, game.id, due=game.over)
            self._note(mover, game.id, due=True)
        else:
            for player in game.named:
                self._note(player, game.id, due=game.waits_unbegun(player))

    def knows(self, player: int, live: LiveGame) -> None:
        """The player has been shown the end of a game, and is known to have seen it."""
        seats = [seat for seat in live.game.seats(player) if seat not in live.results_delivered]
        live.results_delivered = (*live.results_delivered, *seats)
        self.know(player, live.game.id, seats)

    def know(self, player: int, game_id: int, seats: Sequence[chess.Color]) -> None:
        """The player is known to have seen the end of a game, in these seats of its."""
        if seats:
            self._note(player, game_id, due=False)
            for seat in seats:
                self._log.result_delivered(game_id, seat)

    def forget(self, game_id: int, players: Iterable[int | None]) -> None:
        """A game of these players is no more."""
        for player in players:
            self._note(player, game_id, due=False)

    async def longest_due(self, player: int, without: Container[int]) -> int | None:
        """The game that has waited longest for the player, but those in ``without``."""
        known = self._players.get(player)
        if known is None or known.touched is not None:
            known = await self._ask(player)
        self._players.move_to_end(player)
        return next((game_id for game_id in known.due if game_id not in without), None)

    async def _ask(self, player: int) -> _Known:
        """Learn from the log what waits for a player."""
        async with self._asking.hold(player):
            known = self._players.get(player)
            if known is not None and known.touched is None:
                return known
            known = self._players[player] = _Known()
            known.learn(await self._log.due(player))
            self._players[player] = known  # it may have been forgotten meanwhile
        if len(self._players) > MAX_PLAYERS:
            self._players.popitem(last=False)
        return known

    def _note(self, player: int | None, game_id: int, *, due: bool) -> None:
        if player is not None and (known := self._players.get(player)) is not None:
            known.note(game_id, due=due)
            if len(known.due) > MAX_GAMES:
                del self._players[player]


class UnacknowledgedResults:
    """The ends of games that one session has shown to players, for as long as its client may not have them.

    A reply that was sent may be lost with its connection, so that an end is known to its player only when the client
    has shown that it has the reply. Meanwhile this session tells it no second time; but another one does.
    """

    def __init__(self, turns: Turns, batch: Callable[[], int]) -> None:
        """:param lot: the number of the lot of replies that the one being made will leave with; they leave in order."""
        self._turns = turns
        self._batch = batch
        #: By player and game: the game, which this does not keep in memory; the player's seats; and the lot.
        self._shown: dict[tuple[int, int], tuple[ReferenceType[LiveGame], Sequence[chess.Color], int]] = {}

    def __bool__(self) -> bool:
        return bool(self._shown)

    def show(self, player: int, live: LiveGame) -> None:
        """The reply being made shows a player the end of a game, if what it shows becomes durable."""
        shown = player, live.game.id
        seats = [seat for seat in live.game.seats(player) if seat not in live.results_delivered]
        if shown in self._shown or not seats:
            return
        self._shown[shown] = ref(live), seats, self._batch()
        if live.commit is not None:
            live.commit.then(lambda error: None if error is None else self._take_back(shown))

    def to(self, player: int) -> set[int]:
        """The games whose ends it has shown to a player."""
        return {game_id for shown_to, game_id in self._shown if shown_to == player}

    def received(self, batches: float = inf) -> None:
        """The client has the replies of the first so many lots."""
        for (player, game_id), (game, seats, batch) in list(self._shown.items()):
            if batch < batches:
                del self._shown[player, game_id]
                if (live := game()) is not None:
                    self._turns.knows(player, live)
                else:
                    self._turns.know(player, game_id, seats)

    def _take_back(self, shown: tuple[int, int]) -> None:
        """It did not become durable: the reply has become an error."""
        self._shown.pop(shown, None)
