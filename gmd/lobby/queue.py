"""The queue of players who seek any opponent: one place for each, in order of arrival."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import chess
import msgspec

from gm_protocol.messages import NewGame
from gmd.games.setup import resolve


class Seek(NamedTuple):
    """A player who seeks any opponent on these terms.

    :ivar color: the colour it wants; None for either.
    :ivar what: the resolved options, encoded: equal for seeks that fit each other.
    :ivar is_here: returns whether the player is still present.
    """

    player: int
    color: chess.Color | None
    terms: NewGame
    what: bytes
    is_here: Callable[[], bool]

    def fits(self, other: Seek) -> bool:
        """Return whether the two could play each other."""
        same_color = self.color is not None and self.color == other.color
        return self.what == other.what and self.player != other.player and not same_color


def what_is_played(terms: NewGame) -> bytes:
    """Return the options of a game, resolved with defaults and encoded: equal for terms of the same game.

    :raises gm_protocol.errors.GmError: the terms contradict each other, or cannot be played.
    """
    return msgspec.json.encode((resolve(terms, {}, 0, strict=True), terms.position, terms.seed, terms.fen))


class Queue:
    """The queue of seeks. A player who is not present any more is removed when its turn comes."""

    def __init__(self) -> None:
        self._seeks: dict[int, Seek] = {}
        self._alike: dict[bytes, dict[int, Seek]] = {}

    def __len__(self) -> int:
        return len(self._seeks)

    def add(self, seek: Seek) -> None:
        """Put a player at the end of the queue; an earlier seek of it is removed."""
        self.drop(seek.player)
        self._seeks[seek.player] = seek
        self._alike.setdefault(seek.what, {})[seek.player] = seek

    def drop(self, player: int) -> None:
        """Remove a player, if it is in the queue."""
        seek = self._seeks.pop(player, None)
        if seek is not None:
            del self._alike[seek.what][player]
            if not self._alike[seek.what]:
                del self._alike[seek.what]

    def find(self, player: int) -> Seek | None:
        """Return a player's seek; None if it is not in the queue, or not present any more."""
        seek = self._seeks.get(player)
        if seek is not None and not seek.is_here():
            self.drop(player)
            return None
        return seek

    def first_for(self, seek: Seek, has_room: Callable[[int], bool]) -> Seek | None:
        """Return the first seek that fits another one and whose player has room for a game; None for none."""
        for player in list(self._alike.get(seek.what, ())):
            other = self.find(player)
            if other is not None and other.fits(seek) and has_room(player):
                return other
        return None
