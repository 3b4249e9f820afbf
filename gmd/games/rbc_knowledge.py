"""What each side has been told of its latest turns in a game of reconnaissance blind chess."""

from __future__ import annotations

from typing import TypeVar

import chess
from chess import Color, Move, Square
from msgspec import Struct

from gm_protocol.state import LastResult, LastSense, Phase
from gm_recon import Cell

from .game import Snapshot
from .knowledge import SeatKnowledge

T = TypeVar("T")
#: One of something for each side, or None: indexed by colour, so Black's comes first.
Pair = tuple[T | None, T | None]


class SenseMade(Struct, frozen=True, gc=False):
    """What a side saw in its latest sense."""

    ply: int
    square: Square | None
    #: From the top left; shared, not to be changed.
    result: tuple[Cell, ...]


class MoveMade(Struct, frozen=True, gc=False):
    """What a side was told of its latest move."""

    ply: int
    requested: Move | None
    taken: Move | None
    capture_square: Square | None


class ReconSnapshot(Snapshot, frozen=True, gc=False):
    """A game at one moment: the true position, and what each side has been told.

    The position is packed by :func:`~gmd.games.position.pack_unchecked`.
    """

    phase: Phase
    senses: Pair[SenseMade]
    results: Pair[MoveMade]

    def opponent_capture(self, seat: Color) -> Square | None:
        """Where a seat's opponent captured in its latest completed turn."""
        result = self.results[not seat]
        return None if result is None else result.capture_square


#: Pieces, and nothing, as the wire's ``board`` names them.
_PIECE_CODES: dict[chess.Piece | None, str | None] = {None: None}
for _symbol in "PNBRQK":
    _PIECE_CODES[chess.Piece.from_symbol(_symbol)] = f"w{_symbol.replace('P', 'p')}"
    _PIECE_CODES[chess.Piece.from_symbol(_symbol.lower())] = f"b{_symbol.replace('P', 'p')}"


def knowledge_of_seat(shown: ReconSnapshot, seat: Color | None) -> SeatKnowledge:
    """Return what a seat has been told; somebody without one has been told nothing."""
    if seat is None:
        return SeatKnowledge(None, None, None)
    sense, result = shown.senses[seat], shown.results[seat]
    return SeatKnowledge(
        _name(shown.opponent_capture(seat)),
        None if sense is None else _last_sense(sense),
        None if result is None else _last_result(result),
    )


def _last_sense(sense: SenseMade) -> LastSense:
    seen = [(chess.SQUARE_NAMES[square], _PIECE_CODES[piece]) for square, piece in sense.result]
    return LastSense(sense.ply, _name(sense.square), seen)


def _last_result(result: MoveMade) -> LastResult:
    return LastResult(result.ply, _uci(result.requested), _uci(result.taken), _name(result.capture_square))


def _name(square: Square | None) -> str | None:
    return None if square is None else chess.SQUARE_NAMES[square]


def _uci(move: Move | None) -> str | None:
    return None if move is None else move.uci()
