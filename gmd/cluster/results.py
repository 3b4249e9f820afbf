"""Results that clients have acknowledged: the game's owner stores that, and the lobby's owner stops showing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import chess

from gmd.arbiter import Arbiter

from .directory import Directory
from .forwarding import Delivered
from .links import Links
from .shards import LOBBY, shard_of


class Results:
    """One daemon's part in it."""

    def __init__(
        self, arbiter: Arbiter, directory: Directory, links: Links, has_result: Callable[[int, int], None] | None = None
    ) -> None:
        """:param has_result: called, at the lobby's owner, with a game and a player who has its result, of which the
        game's owner may not have reported yet; None where the owners of games report nothing.
        """
        self._arbiter = arbiter
        self._has_result = has_result
        self._directory = directory
        self._links = links
        links.on_note(Delivered, self._take)

    def delivered(self, player: int, game_id: int, seats: Sequence[chess.Color]) -> None:
        """Note that one of this daemon's clients has acknowledged a game's result.

        :param seats: the player's seats; none if the game's owner knew it before, and only the lobby's did not.
        """
        note = Delivered(player, game_id, tuple(map(int, seats)))
        for owner in {self._directory.owner_of(shard) for shard in (shard_of(game_id), LOBBY)}:
            if owner is not None:
                self._links.tell(owner, note)

    def forget(self, player: int, game_id: int) -> None:
        """Have the lobby's owner show a game no more: it was pruned."""
        owner = self._directory.owner_of(LOBBY)
        if owner is not None:
            self._links.tell(owner, Delivered(player, game_id, ()))

    def _take(self, note: Delivered, daemon: int) -> None:
        turns, me = self._arbiter.turns, self._directory.me
        if self._directory.owner_of(shard_of(note.game_id)) == me:
            seats = [chess.WHITE if seat else chess.BLACK for seat in note.seats]
            live = self._arbiter.at_hand(note.game_id)
            if live is None:
                turns.know(note.player, note.game_id, seats)
            else:
                turns.knows(note.player, live)
        if self._directory.owner_of(LOBBY) == me:
            turns.forget(note.game_id, [note.player])
            if self._has_result is not None:
                self._has_result(note.game_id, note.player)
