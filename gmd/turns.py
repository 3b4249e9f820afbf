"""Whose turn it is, over all games: what ``wait`` with ``any`` asks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container

from gmd.games.game import Game

#: How many ended games are remembered for a player that has not been shown their ends; the latest ones are.
MAX_UNSEEN_ENDS = 1_000
#: For how many players they are remembered: one game tells at most two.
MAX_UNSEEING_PLAYERS = 100_000


class Turns:
    """For every player, the live games where it is to act and the ended ones it does not know of, oldest first."""

    def __init__(self) -> None:
        self._due: dict[int, dict[int, None]] = {}
        self._unseen: OrderedDict[int, dict[int, None]] = OrderedDict()

    def update(self, game: Game) -> None:
        """A game has changed: it is another side's turn, or over."""
        if game.over:
            for player in set(game.players) - {None}:
                assert player is not None
                self._tell_end(player, game.id)
            return
        mover, rested = game.players[game.turn], game.players[not game.turn]
        # Also where one player holds both seats: the other seat's turn is a new one.
        if rested is not None and rested in self._due:
            self._drop(rested, game.id)
        if mover is not None:
            due = self._due.get(mover)
            if due is None:
                self._due[mover] = {game.id: None}
            else:
                due[game.id] = None

    def shown(self, player: int | None, game: Game) -> None:
        """A reply shows the player the game as it is now."""
        if player is not None and game.over and game.id in self._unseen.get(player, ()):
            self._forget(player, game.id)

    def longest_due(self, player: int, without: Container[int]) -> int | None:
        """The game that has waited longest for the player, but those in ``without``."""
        return next((game_id for game_id in self._due.get(player, ()) if game_id not in without), None)

    def _tell_end(self, player: int, game_id: int) -> None:
        self._due.setdefault(player, {})[game_id] = None
        unseen = self._unseen.setdefault(player, {})
        unseen[game_id] = None
        if len(unseen) > MAX_UNSEEN_ENDS:
            self._forget(player, next(iter(unseen)))
        if len(self._unseen) > MAX_UNSEEING_PLAYERS:
            oldest = next(iter(self._unseen))
            for ended_id in list(self._unseen[oldest]):
                self._forget(oldest, ended_id)

    def _forget(self, player: int, ended_id: int) -> None:
        del self._unseen[player][ended_id]
        if not self._unseen[player]:
            del self._unseen[player]
        self._drop(player, ended_id)

    def _drop(self, player: int, game_id: int) -> None:
        due = self._due.get(player)
        if due is not None and game_id in due:
            del due[game_id]
            if not due:
                del self._due[player]
