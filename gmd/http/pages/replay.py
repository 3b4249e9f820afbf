"""Replays of games: the position after any ply, the moves in SAN, the pieces captured; and what players observed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import chess
import msgspec
from msgspec import Struct, field

from gm_protocol.endings import Cause
from gm_recon.history import COLUMNS
from gm_recon.possible import WINDOWS
from gmd.games.pgn_text import read_pgn
from gmd.games.rbc_knowledge import Observed
from gmd.games.variants import VARIANTS
from gmd.http.pages import observations
from gmd.http.pages.memory import MOST_AGE, Memory, Sight

#: Plies replayed between two yields: some hundred microseconds.
PLIES_A_STEP = 16
#: Pieces by value, the most valuable first.
_BY_VALUE = "qrbnp"


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a game.

    :ivar last_move: the move that led to it, in UCI; None at the start and after a pass.
    :ivar check: the square of a king in check, if checks count in the variant.
    """

    fen: str
    last_move: str | None = None
    check: chess.Square | None = None


def position_steps(variant: str, start_fen: str, moves: list[str], ply: int) -> Generator[None, None, Position]:
    """Return the position of a game of open information after a number of plies, in steps.

    :param moves: the moves of the game, in UCI, at least as many as the plies.
    """
    board = VARIANTS[variant].board(start_fen)
    for number, uci in enumerate(moves[:ply], 1):
        board.push(chess.Move.from_uci(uci))
        if number % PLIES_A_STEP == 0:
            board.clear_stack()
            yield
    check = board.king(board.turn) if VARIANTS[variant].victory is Cause.CHECKMATE and board.is_check() else None
    return Position(board.fen(shredder=board.chess960), moves[ply - 1] if ply else None, check)


def san_steps(pgn: str, plies: int) -> Generator[None, None, list[str]]:
    """Return the moves of a game in SAN as its PGN has them, in steps."""
    return (yield from read_pgn(pgn, plies)).moves


def placement_of(fen: str) -> str:
    """Return the first field of a FEN, without crazyhouse's pockets."""
    return fen.partition(" ")[0].partition("[")[0]


def begins(start_fen: str) -> chess.Color:
    """Return the side that moves first."""
    return start_fen.split(" ")[1] != "b"


def first_number(start_fen: str) -> int:
    """Return the number of the first move."""
    fields = start_fen.split(" ")
    return int(fields[-1]) if fields[-1].isdecimal() else 1


def captured(start_fen: str, fen: str, side: chess.Color) -> str:
    """Return the pieces that a side has lost since the start, most valuable first, as in ``qnpp``.

    A promoted piece that was captured counts as the pawn that it was.
    """
    start, now = (placement_of(each) for each in (start_fen, fen))
    lost, promoted = {}, 0
    for piece in _BY_VALUE[:-1]:
        gone = start.count(_letter(piece, side)) - now.count(_letter(piece, side))
        lost[piece] = max(0, gone)
        promoted += max(0, -gone)
    pawn = _letter("p", side)
    lost["p"] = max(0, start.count(pawn) - now.count(pawn) - promoted)
    return "".join(piece * lost[piece] for piece in _BY_VALUE)


def _letter(piece: str, side: chess.Color) -> str:
    return piece.upper() if side else piece


_T = TypeVar("_T")


class Sides(Struct, Generic[_T], frozen=True):
    """The values of each side's turns, in the order of the turns, as reconchess saves them."""

    white: list[_T] = field(name="true", default_factory=list)
    black: list[_T] = field(name="false", default_factory=list)

    def of(self, side: chess.Color) -> list[_T]:
        """Return those of a side."""
        return self.white if side else self.black


class TypedValue(Struct, frozen=True, gc=False):
    """A move in UCI, as reconchess saves it."""

    value: str


class ReconRecord(Struct, frozen=True):
    """The parts of reconchess's record of a game from which a replay is made."""

    senses: Sides[int | None]
    requested_moves: Sides[TypedValue | None]
    taken_moves: Sides[TypedValue | None]
    capture_squares: Sides[int | None]
    fens_after_move: Sides[str]


def record_steps(encoded: bytes, begin: int) -> Generator[None, None, ReconRecord]:
    """Return the record in an encoded ``history`` reply, a part in each step.

    The parts are found by their names, in the order in which the server writes them. A name with its quotes cannot
    stand in a text, where quotes are escaped. To parse the whole reply would take too long for one step.

    :param begin: where the record begins.
    """
    starts = {name: encoded.index(b'"%b":{' % name.encode(), begin) for name in COLUMNS}
    ends = dict(zip(COLUMNS, [*list(starts.values())[1:], encoded.index(b'"winner_color":', begin)], strict=True))
    parts: dict[str, Any] = {}
    for each in msgspec.structs.fields(ReconRecord):
        yield
        column = encoded[starts[each.name] + len(each.name) + 3 : ends[each.name]].rstrip(b",")
        parts[each.name] = msgspec.json.decode(column, type=each.type)
    return ReconRecord(**parts)


@dataclass(frozen=True, slots=True)
class RecordedSense:
    """A sense: the square chosen, and what each square of the window held. A player may choose none."""

    square: int | None
    cells: Sequence[tuple[int, str | None]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn: who had it, and what came of it."""

    side: chess.Color
    sense: RecordedSense
    requested: str | None
    taken: str | None
    capture: int | None


class ReconReplay:
    """A finished game, turn by turn. Every method looks at some dozens of turns at most."""

    def __init__(self, record: ReconRecord, start_fen: str) -> None:
        self._record = record
        self._start = start_fen
        self._first = begins(start_fen)
        #: The number of turns.
        self.plies = len(record.taken_moves.white) + len(record.taken_moves.black)

    def side_at(self, ply: int) -> chess.Color:
        """Return whose turn led to a ply."""
        return self._first if ply % 2 else not self._first

    def position(self, ply: int) -> Position:
        """Return the true position after a number of turns."""
        if ply == 0:
            return Position(self._start)
        side, index = self.side_at(ply), (ply - 1) // 2
        return Position(self._record.fens_after_move.of(side)[index], _value(self._record.taken_moves.of(side)[index]))

    @property
    def has_both_kings(self) -> bool:
        """Whether both kings are there at the end."""
        return {"k", "K"} <= set(placement_of(self.position(self.plies).fen))

    def turn(self, ply: int) -> Turn:
        """Return the turn that led to a ply, which is not 0."""
        side, index, record = self.side_at(ply), (ply - 1) // 2, self._record
        return Turn(
            side,
            self._sense(side, ply),
            _value(record.requested_moves.of(side)[index]),
            _value(record.taken_moves.of(side)[index]),
            record.capture_squares.of(side)[index],
        )

    def unfinished(self, ply: int) -> tuple[chess.Color, RecordedSense] | None:
        """Return the sense of the turn that the end of the game cut short; None before the last ply, or for none."""
        side = self.side_at(ply + 1)
        index = ply // 2
        is_there = ply == self.plies and index < len(self._record.senses.of(side))
        return (side, self._sense(side, ply + 1)) if is_there else None

    def asked(self, ply: int) -> str | None:
        """Return the move asked for in the turn that led to a ply; None for a pass."""
        return _value(self._record.requested_moves.of(self.side_at(ply))[(ply - 1) // 2])

    def asked_otherwise(self, ply: int) -> bool:
        """Return whether the move that was made in a turn is not the one that was asked for."""
        side, index = self.side_at(ply), (ply - 1) // 2
        return self._record.requested_moves.of(side)[index] != self._record.taken_moves.of(side)[index]

    def seen(self, ply: int, side: chess.Color | None) -> Sight:
        """Return the board after a number of turns as a side saw it; None for the truth with the latest sense."""
        truth = self.position(ply)
        if side is None:
            latest = self.unfinished(ply)
            sense = latest[1] if latest else self.turn(ply).sense if ply else None
            return Sight(placement_of(truth.fen), truth.last_move, window_of(sense))
        first = max(0, ply - 2 * (MOST_AGE + 1))
        memory = Memory(placement_of(self.position(first).fen), side, knows_all=first == 0)
        for number in range(first + 1, ply + 1):
            memory.learn(_steps(self.turn(number), side))
        if (latest := self.unfinished(ply)) is not None and latest[0] == side:
            memory.learn([_sense_step(latest[1])])
        return memory.sight()

    def observed(self, ply: int, side: chess.Color) -> list[str]:
        """Return what a side observed in the turn that led to a ply, in sentences."""
        sentences = []
        if ply:
            turn = self.turn(ply)
            if turn.side == side:
                sentences = [observations.sensed(turn.sense.square, _enemies(turn.sense, side))]
                sentences.append(observations.moved(turn.requested, turn.taken, turn.capture))
            else:
                sentences = [observations.lost(turn.capture)]
        if (latest := self.unfinished(ply)) is not None and latest[0] == side:
            sentences.append(observations.sensed(latest[1].square, _enemies(latest[1], side)))
        return sentences

    def _sense(self, side: chess.Color, ply: int) -> RecordedSense:
        """Return the sense of the turn that led, or would have led, to a ply."""
        square = self._record.senses.of(side)[(ply - 1) // 2]
        if square is None:
            return RecordedSense(None, ())
        board = chess.BaseBoard(placement_of(self.position(ply - 1).fen))
        window = chess.SquareSet(WINDOWS[square])
        pieces = ((each, board.piece_at(each)) for each in window)
        return RecordedSense(square, [(each, None if piece is None else piece.symbol()) for each, piece in pieces])


def _steps(turn: Turn, side: chess.Color) -> list[Observed]:
    """Return what a side observed of a turn."""
    if turn.side != side:
        return [Observed("opponent", opponent_capture=turn.capture)]
    requested, taken = (None if each is None else chess.Move.from_uci(each) for each in (turn.requested, turn.taken))
    return [_sense_step(turn.sense), Observed("move", move=(requested, taken, turn.capture))]


def _sense_step(sense: RecordedSense) -> Observed:
    return Observed(
        "sense", [(at, None if symbol is None else chess.Piece.from_symbol(symbol)) for at, symbol in sense.cells]
    )


def window_of(sense: RecordedSense | None) -> frozenset[int]:
    """Return the squares of a sense."""
    return frozenset() if sense is None else frozenset(square for square, _ in sense.cells)


def _enemies(sense: RecordedSense, side: chess.Color) -> list[tuple[int, str]]:
    return [(square, symbol) for square, symbol in sense.cells if symbol is not None and symbol.isupper() != side]


def _value(typed: TypedValue | None) -> str | None:
    return None if typed is None else typed.value
