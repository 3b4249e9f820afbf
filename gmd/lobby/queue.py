"""The queue of those who would play anybody: one place a player, in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import chess
import msgspec

from gm_protocol.messages import NewGame
from gmd.games.setup import resolve


class Seek(NamedTuple):
    """A player who would play anybody on these terms.

    :ivar color: what it wants to play; None for either.
    :ivar what: what is the same for all who can play each other.
    :ivar is_here: whether it is still there to be told.
    """

    player: int
    color: chess.Color | None
    terms: NewGame
    what: bytes
    is_here: Callable[[], bool]

    def fits(self, other: Seek) -> bool:
        """Whether the two could play each other."""
        same_color = self.color is not None and self.color == other.color
        return self.what == other.what and self.player != other.player and not same_color


def what_is_played(terms: NewGame) -> bytes:
    """What is the same for terms that come to the same game: as resolved, with defaults filled in.

    :raises gm_protocol.errors.GmError: they contradict each other, or cannot be played.
    """
    return msgspec.json.encode((resolve(terms, {}, 0, strict=True), terms.position, terms.seed, terms.fen))


class Queue:
    """Who seeks an opponent. Whoever is not there any more is let go of when its turn comes."""

    def __init__(self) -> None:
        self._seeks: dict[int, Seek] = {}
        self._alike: dict[bytes, dict[int, Seek]] = {}

    def __len__(self) -> int:
        return len(self._seeks)

    def add(self, seek: Seek) -> None:
        """Let a player stand at the end, and nowhere else."""
        self.drop(seek.player)
        self._seeks[seek.player] = seek
        self._alike.setdefault(seek.what, {})[seek.player] = seek

    def drop(self, player: int) -> None:
        """Let a player go, if it is there."""
        seek = self._seeks.pop(player, None)
        if seek is not None:
            del self._alike[seek.what][player]
            if not self._alike[seek.what]:
                del self._alike[seek.what]

    def find(self, player: int) -> Seek | None:
        """What a player seeks."""
        seek = self._seeks.get(player)
        if seek is not None and not seek.is_here():
            self.drop(player)
            return None
        return seek

    def first_for(self, seek: Seek, has_room: Callable[[int], bool]) -> Seek | None:
        """The first of those who could play a seeker and have room for a game."""
        for player in list(self._alike.get(seek.what, ())):
            other = self.find(player)
            if other is not None and other.fits(seek) and has_room(player):
                return other
        return None
