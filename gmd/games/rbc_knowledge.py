"""Each side's knowledge of its latest turns in a game of reconnaissance blind chess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

import chess
from chess import Color, Move, Square
from msgspec import Struct

from gm_protocol.state import LastResult, LastSense, Phase
from gm_recon import Cell

from .game import Snapshot
from .knowledge import SeatKnowledge

T = TypeVar("T")
#: A value or None for each side, indexed by colour, so Black's comes first.
Pair = tuple[T | None, T | None]


class SenseMade(Struct, frozen=True, gc=False):
    """A side's latest sense and its result."""

    ply: int
    square: Square | None
    #: From the top left; shared, so it must not be changed.
    result: tuple[Cell, ...]


class MoveMade(Struct, frozen=True, gc=False):
    """A side's latest move: as requested, as taken, and its capture."""

    ply: int
    requested: Move | None
    taken: Move | None
    capture_square: Square | None


class Observed(NamedTuple):
    """What a side has learnt in a step of the game: of the opponent's turn, of its own sense, or of its own move.

    :ivar cells: the squares sensed, after a sense.
    :ivar move: the move as requested and as made, and where it captured, after a move.
    :ivar opponent_capture: where the opponent captured, after the opponent's turn.
    """

    step: Literal["opponent", "sense", "move"]
    cells: Sequence[Cell] = ()
    move: tuple[Move | None, Move | None, Square | None] = (None, None, None)
    opponent_capture: Square | None = None


def pack_cells(cells: Iterable[Cell]) -> bytes:
    """Pack the squares of a sense, two bytes each."""
    return b"".join(
        bytes((square, 0 if piece is None else piece.piece_type + 8 * piece.color)) for square, piece in cells
    )


def unpack_cells(packed: bytes) -> list[Cell]:
    """Return what :func:`pack_cells` has packed."""
    codes = zip(packed[::2], packed[1::2], strict=True)
    return [(square, chess.Piece(code & 7, code > 8) if code else None) for square, code in codes]


class ReconSnapshot(Snapshot, frozen=True, gc=False):
    """A game at one moment: the true position, and each side's knowledge.

    The position is packed by :func:`~gmd.games.position.pack_unchecked`.
    """

    phase: Phase
    senses: Pair[SenseMade]
    results: Pair[MoveMade]

    def opponent_capture(self, seat: Color) -> Square | None:
        """Return the square on which a seat's opponent captured in its latest completed turn; None if nowhere."""
        result = self.results[not seat]
        return None if result is None else result.capture_square


#: The names of pieces, and of an empty square, in the wire's ``board``.
_PIECE_CODES: dict[chess.Piece | None, str | None] = {None: None}
for _symbol in "PNBRQK":
    _PIECE_CODES[chess.Piece.from_symbol(_symbol)] = f"w{_symbol.replace('P', 'p')}"
    _PIECE_CODES[chess.Piece.from_symbol(_symbol.lower())] = f"b{_symbol.replace('P', 'p')}"


def knowledge_of_seat(shown: ReconSnapshot, seat: Color | None) -> SeatKnowledge:
    """Return the knowledge of a seat; a viewer without a seat knows nothing."""
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
