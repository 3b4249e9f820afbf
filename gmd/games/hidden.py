"""A game that hides something from its players while it is on, and what a seat sees of it.

:mod:`gmd.games.views` decides who is shown what; a game here says what its own seats may be shown.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import chess
from msgspec import Struct

from gm_protocol.state import AccessMap, BoardRows, Phase

from .facts import Facts
from .game import Game, Snapshot
from .position import Position


class Seen(Struct, frozen=True, gc=False):
    """What a seat sees of a position, made of nothing that it does not see."""

    #: FEN's first, third and fourth field.
    placement: str
    castling: str
    passant: str
    #: ``castling`` as the wire's bits.
    castles: int
    #: The wire's ``board`` and ``access_map``, as the JSON they become.
    board: BoardRows
    access_map: AccessMap


class SeatViews:
    """What each seat of one game was last shown of the board: it asks more often than that changes.

    It belongs to the game. In a cache that games share, a request would be answered sooner where another game has shown
    the same, and a player who asks for the right positions would find out which.
    """

    __slots__ = ("_kept", "_redact", "_show")

    def __init__(self, redact: Callable[[Position, chess.Color], Position], show: Callable[[Position], Seen]) -> None:
        """:param redact: what a seat sees of a true position, as a position in which there is nothing else.
        :param show: what is shown of such a position.
        """
        self._redact, self._show = redact, show
        self._kept: list[tuple[Position, Seen] | None] = [None, None]

    def of(self, position: Position, seat: chess.Color) -> Seen:
        """Return what a seat sees of a true position."""
        redacted, kept = self._redact(position, seat), self._kept[seat]
        if kept is None or kept[0] != redacted:
            kept = self._kept[seat] = redacted, self._show(redacted)
        return kept[1]

    def forget(self) -> None:
        """Keep nothing of either seat's."""
        self._kept = [None, None]


class HiddenGame(Game):
    """A game in which a player does not see everything."""

    open = False

    @abstractmethod
    def seen_by(self, shown: Snapshot, seat: chess.Color | None) -> Seen:
        """Return what a seat sees of the board at a moment; without a seat, nothing."""

    @abstractmethod
    def facts_at(self, shown: Snapshot) -> Facts:
        """Return the facts of the true position at a moment. They are never shared with other games."""

    @abstractmethod
    def own_fields(self, shown: Snapshot, seat: chess.Color | None, seen: Seen | None) -> tuple[object, ...]:
        """Return the fields of a state that not every variant has, for a seat.

        They are the last fields of :class:`~gm_protocol.state.GameState` in their order, from ``opponent_capture`` on;
        the fields behind those that are returned are left out.

        :param seen: what :meth:`seen_by` returned; None where everything is shown.
        """

    def phase_at(self, shown: Snapshot) -> Phase:
        """Return the phase of the side to move at a moment."""
        return "move" if shown.termination == "available_move" else "over"
