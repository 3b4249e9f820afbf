"""A cache of the games in which each player must act, for ``wait`` with ``any``.

The log answers this for a player's first such request. The answer is then cached and kept up to date while the player
goes on asking. The players of most games never ask, and cost nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from math import inf
from weakref import ReferenceType, ref

import chess

from gmd.event_log.interface import EventLog
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.games.game import Game
from gmd.games.game_note import note_of
from gmd.play.live_games import LiveGame

#: Players in the cache, and games cached for one of them; beyond that the log is queried again.
MAX_PLAYERS = 10_000
MAX_GAMES = 20_000
#: Results that a session keeps until its client acknowledges them. A client that always has a partly sent request
#: acknowledges none; beyond this number the oldest is forgotten, and may be shown again.
MAX_RESULTS = 4_096
#: Estimated bytes of such a result, and how many of them are counted at a time.
RESULT_BYTES = 500
RESULTS_COUNTED = 16


class _Known:
    """The games due to one player, the longest due first."""

    __slots__ = ("due", "touched")

    def __init__(self) -> None:
        self.due: dict[int, None] = {}
        #: The games that changed during the log's query: its answer is out of date for them. None after the answer.
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
    """For every player, the games due to it, the longest due first.

    A game is due to a player who must act in it, or who may not have received its result yet.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._players: OrderedDict[int, _Known] = OrderedDict()
        self._asking = KeyedLocks()

    def __contains__(self, player: int) -> bool:
        """Return whether a player's games are cached."""
        return player in self._players

    def update(self, game: Game) -> None:
        """Update the players of a game whose side to move or result has changed, once that is durable."""
        if not self._players:
            return
        if game.begun:
            mover, rested = game.players[game.turn], game.players[not game.turn]
            # First the side not to move: if one player has both seats, the game becomes due to it again.
            self._note(rested, game.id, due=game.over)
            self._note(mover, game.id, due=True)
        else:
            note = note_of(game)
            for player in game.named:
                self._note(player, game.id, due=note.waits_unbegun(player))

    def knows(self, player: int, live: LiveGame) -> None:
        """Note that a player is known to have received the result of a game in the cache of games."""
        seats = [seat for seat in live.game.seats(player) if seat not in live.results_delivered]
        live.results_delivered = (*live.results_delivered, *seats)
        self.know(player, live.game.id, seats)

    def know(self, player: int, game_id: int, seats: Sequence[chess.Color]) -> None:
        """Note that a player is known to have received the result of a game, for these of its seats."""
        if seats:
            self._note(player, game_id, due=False)
            for seat in seats:
                self._log.result_delivered(game_id, seat)

    def forget(self, game_id: int, players: Iterable[int | None]) -> None:
        """Forget a game that was pruned from the log.

        :param players: the players of its seats.
        """
        for player in players:
            self._note(player, game_id, due=False)

    async def all_due(self, player: int) -> list[int]:
        """Return the games that are due to a player, invitations among them, the longest due first."""
        known = await self._known(player, "")
        return list(known.due)

    async def next_due(
        self,
        player: int,
        without: Container[int],
        invitations: Collection[int] = (),
        *,
        invitation_first: bool = False,
        peer: str = "",
    ) -> int | None:
        """Return the game to show to a player next: the one that is due the longest, or an invitation; None for none.

        :param without: games to leave out.
        :param invitations: the games whose invitations wait for its answer, in the order in which to show them.
        :param invitation_first: whether an invitation comes before another game if both are due.
        :param peer: the client, as host:port, for the log.
        """
        due = (await self._known(player, peer)).due
        game = next((game_id for game_id in due if game_id not in without and game_id not in invitations), None)
        if game is not None and not invitation_first:
            return game
        invitation = next((game_id for game_id in invitations if game_id in due and game_id not in without), None)
        return game if invitation is None else invitation

    async def _known(self, player: int, peer: str) -> _Known:
        """Return a player's games from the cache, or from the log."""
        known = self._players.get(player)
        if known is None or known.touched is not None:
            known = await self._ask(player, peer)
        self._players.move_to_end(player)
        return known

    async def _ask(self, player: int, peer: str) -> _Known:
        """Query the log for the games due to a player."""
        async with self._asking.hold(player):
            cached = self._players.get(player)
            if cached is not None and cached.touched is None:
                return cached
            known = self._players[player] = _Known()
            known.learn(await self._log.due(player, peer))
            self._players[player] = known  # it may have been evicted meanwhile
        if len(self._players) > MAX_PLAYERS:
            self._players.popitem(last=False)
        return known

    def _note(self, player: int | None, game_id: int, *, due: bool) -> None:
        if player is not None and (known := self._players.get(player)) is not None:
            known.note(game_id, due=due)
            if len(known.due) > MAX_GAMES:
                del self._players[player]


class UnacknowledgedResults:
    """The results of games that one session has sent to players and that its client has not acknowledged yet.

    A reply may be lost with its connection. So a result counts as received only when the client has shown that it has
    the reply. Until then this session does not show the result again, but another session does.
    """

    def __init__(self, turns: Turns, batch: Callable[[], int], hold: Callable[[int], None]) -> None:
        """:param batch: returns the number of the batch of replies that the present reply goes with, sent in order.
        :param hold: called with the bytes of memory that the results take in addition, or no longer.
        """
        self._turns = turns
        self._batch = batch
        self._hold = hold
        self._counted = 0
        #: Whether the session's last ``wait`` with ``any`` returned a game: an invitation comes before the next game.
        self.last_was_game = False
        #: By player and game: the game (a weak reference), the player's seats, and the batch.
        self._shown: dict[tuple[int, int], tuple[ReferenceType[LiveGame], Sequence[chess.Color], int]] = {}

    def __bool__(self) -> bool:
        return bool(self._shown)

    def show(self, player: int, live: LiveGame) -> None:
        """Note that the present reply shows a player the result of a game; forget it if the commit fails."""
        shown = player, live.game.id
        seats = [seat for seat in live.game.seats(player) if seat not in live.results_delivered]
        if shown in self._shown or not seats:
            return
        if len(self._shown) >= MAX_RESULTS:
            del self._shown[next(iter(self._shown))]
        self._shown[shown] = ref(live), seats, self._batch()
        self._count()
        if live.commit is not None:
            live.commit.then(lambda error: None if error is None else self._take_back(shown))

    def to(self, player: int) -> set[int]:
        """Return the games whose results it has shown to a player, and which are not acknowledged."""
        return {game_id for shown_to, game_id in self._shown if shown_to == player}

    def received(self, batches: float = inf) -> None:
        """Note that the client has the first ``batches`` batches of replies."""
        for (player, game_id), (game, seats, batch) in list(self._shown.items()):
            if batch < batches:
                del self._shown[player, game_id]
                if (live := game()) is not None:
                    self._turns.knows(player, live)
                else:
                    self._turns.know(player, game_id, seats)
        self._count()

    def _count(self) -> None:
        """Count the memory of the results, some at a time."""
        counted = len(self._shown) // RESULTS_COUNTED * RESULTS_COUNTED * RESULT_BYTES
        if counted != self._counted:
            change, self._counted = counted - self._counted, counted
            self._hold(change)

    def _take_back(self, shown: tuple[int, int]) -> None:
        """Forget a result whose commit failed: the reply has become an error."""
        self._shown.pop(shown, None)
        self._count()
