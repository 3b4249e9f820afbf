"""What each seat of reconnaissance blind chess has learnt, step by step, and in its latest turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar, overload

import chess
from chess import Color, Move, Square
from msgspec import Struct

from gm_protocol.state import LastResult, LastSense, Phase
from gm_recon import Cell, Turn
from gmd.games.game import SeatKnowledge, Snapshot

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


#: The steps of a seat's own turn: the opponent's turn before it, the seat's sense, and its move.
_STEPS = 3


class Observations(Sequence[Observed]):
    """What a seat had learnt at one moment. Each item is made on demand: no operation but iteration depends on how
    long the game is.

    It refers to the game's own lists, which only grow, and leaves out what is appended later. Of the senses it reads
    the seat's own alone.
    """

    __slots__ = ("_count", "_first_ply", "_senses", "_turns")

    def __init__(self, turns: Sequence[Turn], senses: Sequence[bytes], *, first_ply: int) -> None:
        """:param turns: the game's completed turns.
        :param senses: what each turn's sense has shown, packed; one more than turns once the present turn's is made.
        :param first_ply: the ply of the seat's first turn, 0 or 1.
        """
        self._turns, self._senses, self._first_ply = turns, senses, first_ply
        plies = len(turns)
        own, is_own_turn = (plies + 1 - first_ply) // 2, (plies - first_ply) % 2 == 0
        has_sensed = is_own_turn and len(senses) > plies
        # Nothing precedes the first turn of the game, which is the seat's own if its first ply is 0.
        self._count = _STEPS * own + is_own_turn + has_sensed - (1 - first_ply)

    def __len__(self) -> int:
        """Return the number of observations."""
        return self._count

    @overload
    def __getitem__(self, index: int) -> Observed: ...

    @overload
    def __getitem__(self, index: slice) -> list[Observed]: ...

    def __getitem__(self, index: int | slice) -> Observed | list[Observed]:
        """Return an observation, or some."""
        numbers = range(self._count)[index]
        return self._made(numbers) if isinstance(numbers, int) else [self._made(number) for number in numbers]

    def without_last(self) -> Observations:
        """Return the same without the last observation."""
        shorter = Observations(self._turns, self._senses, first_ply=self._first_ply)
        shorter._count = self._count - 1
        return shorter

    def _made(self, number: int) -> Observed:
        own_turn, step = divmod(number + 1 - self._first_ply, _STEPS)
        ply = 2 * own_turn + self._first_ply
        if step == 0:
            return Observed("opponent", opponent_capture=self._turns[ply - 1].capture_square)
        if step == 1:
            return Observed("sense", unpack_cells(self._senses[ply]))
        turn = self._turns[ply]
        return Observed("move", move=(turn.requested, turn.taken, turn.capture_square))
