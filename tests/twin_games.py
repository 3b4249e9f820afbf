"""Two games of reconnaissance blind chess that look the same to one player but differ.

reconchess's utilities and python-chess alone decide here what a player observes: what its senses show, the results of
its moves, where its pieces are captured, and that the game is not over. The player's own actions are the same in both
games; its opponent's differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import chess
from chess import Board, Color, Move, Square
from reconchess.utilities import (
    add_pawn_queen_promotion,
    capture_square_of_move,
    move_actions,
    revise_move,
)

from tests.side_by_side import POSITIONS

#: How many squares or moves are tried in search of one that looks the same in both games.
TRIES = 40

#: The squares that a sense shows.
WINDOWS = [
    chess.SquareSet(other for other in chess.SQUARES if chess.square_distance(square, other) <= 1)
    for square in chess.SQUARES
]


@dataclass(frozen=True)
class Action:
    """A side's sense and move in its turn."""

    sense: Square | None
    move: Move | None


@dataclass(frozen=True)
class OwnTurn:
    """The observer's turn: the same in both games, before and after it."""

    action: Action
    #: Moves that it may request, and one that it may not, whatever the true board.
    allowed: list[Move]
    forbidden: Move


@dataclass(frozen=True)
class OthersTurn:
    """The opponent's turn in either game. The observer may see that the turn was taken, and where it captured."""

    actions: tuple[Action, Action]


@dataclass(frozen=True)
class Limits:
    """Limits that end a game, by the counters of its FEN; None for no limit."""

    reversible_moves: int | None
    max_turns: int | None

    def end(self, board: Board, taken: Move | None) -> bool:
        """Return whether a move, or a turn without one, ends the game."""
        halfmoves = 0 if taken is not None and board.is_zeroing(taken) else board.halfmove_clock + 1
        turns = board.fullmove_number + (board.turn == chess.BLACK)
        if self.reversible_moves is not None and halfmoves >= self.reversible_moves:
            return True
        return self.max_turns is not None and turns > self.max_turns


@dataclass
class Twins:
    """A pair of games, given by the actions in them."""

    fen: str
    observer: Color
    limits: Limits
    #: The fields of ``new_game`` for these limits, and for a clock that no player loses by.
    options: dict[str, Any] = field(default_factory=dict)
    turns: list[OwnTurn | OthersTurn] = field(default_factory=list)
    #: The true positions after the last turn.
    boards: tuple[Board, Board] = field(default_factory=lambda: (Board(), Board()))

    @property
    def differ(self) -> bool:
        """Whether the true positions are different in the end."""
        one, other = self.boards
        return one.board_fen() != other.board_fen()


#: Every double step may be answered en passant.
PASSING_PAWNS = "r3k2r/1p1p1p1p/8/P1P1P1P1/p1p1p1p1/8/1P1P1P1P/R3K2R w KQkq - 0 1"

STARTS = [chess.STARTING_FEN, PASSING_PAWNS, *POSITIONS.values()]


#: Clocks with more time than a pair of games takes; and the default, which is one.
CLOCKS: list[dict[str, Any]] = [
    {},
    {"clock": None},
    {"clock": {"initial": 5_000}},
    {"clock": {"initial": 5_000.25, "increment": 1.5}},
    {"clock": {"first_move": 5_000, "per_move": 4_000.5}},
]


def draw_twins(rng: random.Random, starts: Sequence[str] = STARTS, *, limited: bool = True) -> Twins:
    """Draw a pair of games, a few turns long, both still in progress at the end.

    :param limited: whether they may have limits, which make them shorter.
    """
    fen = rng.choice(starts)
    boards = (Board(fen), Board(fen))
    options = _draw_limits(boards[0], rng) if limited else {"reversible_moves": None}
    limits = Limits(options.get("reversible_moves", 100), options.get("max_turns"))
    twins = Twins(fen, rng.choice(chess.COLORS), limits, {**options, **rng.choice(CLOCKS)}, boards=boards)
    for _ in range(rng.randint(2, 14)):
        turn = _own_turn(twins, rng) if twins.boards[0].turn == twins.observer else _others_turn(twins, rng)
        if turn is None:
            break
        twins.turns.append(turn)
    return twins


def _draw_limits(start: Board, rng: random.Random) -> dict[str, Any]:
    """Draw limits that a game has not reached at its start and may come near; it may have only one of them."""
    options: dict[str, Any] = {}
    if start.halfmove_clock >= 100 or rng.random() < 0.6:
        options["reversible_moves"] = rng.choice([None, start.halfmove_clock + rng.randint(2, 8)])
    if rng.random() < 0.5:
        options["max_turns"] = rng.choice([None, start.fullmove_number + rng.randint(0, 8)])
    return options


def _own_turn(twins: Twins, rng: random.Random) -> OwnTurn | None:
    boards = twins.boards
    allowed = move_actions(boards[0])
    assert allowed == move_actions(boards[1])
    different = chess.SquareSet(square for square in chess.SQUARES if len({b.piece_at(square) for b in boards}) == 2)
    blind = [square for square in chess.SQUARES if not WINDOWS[square] & different]
    sense = rng.choice([*blind, None])
    wishes = rng.choice([_no_wish, _long_first, _captures_first])
    for move in _drawn(allowed, rng, wishes(boards[0])):
        outcomes = [_outcome(board, move) for board in boards]
        if outcomes[0] == outcomes[1] and not any(_is_last(twins, board, outcomes[0]) for board in boards):
            break
    else:
        return None
    forbidden = next(move for move in _all_moves(rng) if not _may_ask(boards[0], allowed, move))
    for board in boards:
        board.push(outcomes[0][0] or Move.null())
    return OwnTurn(Action(sense, move), allowed, forbidden)


def _others_turn(twins: Twins, rng: random.Random) -> OthersTurn | None:
    one, other = twins.boards
    wishes = rng.choice([_no_wish, _long_first, _captures_first])
    for move in _drawn(move_actions(one), rng, wishes(one)):
        decision = _outcome(one, move)
        if _is_last(twins, one, decision):
            continue
        passing = decision[0] is not None and one.is_en_passant(decision[0])
        for another in _drawn(move_actions(other), rng, _unlike(other, Capture(*decision, passing))):
            other_outcome = _outcome(other, another)
            if decision[1] == other_outcome[1] and not _is_last(twins, other, other_outcome):
                one.push(decision[0] or Move.null())
                other.push(other_outcome[0] or Move.null())
                senses = [rng.choice([*chess.SQUARES, None]) for _ in range(2)]
                return OthersTurn((Action(senses[0], move), Action(senses[1], another)))
    return None


class Capture(NamedTuple):
    """A move made, or none; the square it captured on, or none; and whether en passant."""

    made: Move | None
    square: Square | None
    passing: bool


#: The key that sorts moves: those with the lowest values come first.
Wish = Callable[[Move | None], int]


def _drawn(moves: list[Move], rng: random.Random, wish: Wish) -> list[Move | None]:
    """Return some of the moves, and perhaps a pass, in random order, but with those first that are wished for."""
    choices: list[Move | None] = [*moves, None]
    return sorted(rng.sample(choices, len(choices)), key=wish)[:TRIES]


def _no_wish(board: Board) -> Wish:
    return lambda move: 0


def _long_first(board: Board) -> Wish:
    """Prefer long steps: some of them may be answered en passant."""
    return lambda move: move is None or abs(move.from_square - move.to_square) != 16


def _captures_first(board: Board) -> Wish:
    """Prefer captures, en passant first: few moves are captures, and few hide so much."""

    def wish(move: Move | None) -> int:
        taken, capture_square = _outcome(board, move)
        return 2 if taken is None or capture_square is None else int(not board.is_en_passant(taken))

    return wish


def _unlike(board: Board, capture: Capture) -> Wish:
    """Prefer another capture that looks the same; en passant differs most from all others."""
    made, square, passing = capture

    def wish(move: Move | None) -> int:
        taken, capture_square = _outcome(board, move)
        if square is None or taken is None or capture_square != square:
            return 2
        return 0 if board.is_en_passant(taken) != passing else int(taken == made)

    return wish


def _outcome(board: Board, move: Move | None) -> tuple[Move | None, Square | None]:
    """Return what a player learns of its move: the move made, and the square it captured on."""
    taken = None if move is None else revise_move(board, add_pawn_queen_promotion(board, move))
    return taken, capture_square_of_move(board, taken)


def _is_last(twins: Twins, board: Board, decision: tuple[Move | None, Square | None]) -> bool:
    """Return whether the game is over with a move: a king is taken, or a limit reached."""
    taken, capture_square = decision
    takes_king = capture_square is not None and board.piece_type_at(capture_square) == chess.KING
    return takes_king or twins.limits.end(board, taken)


def _all_moves(rng: random.Random) -> Iterator[Move]:
    while True:
        yield Move(rng.randrange(64), rng.randrange(64), rng.choice([None, None, chess.QUEEN, chess.KING]))


def _may_ask(board: Board, allowed: Iterable[Move], move: Move) -> bool:
    return move in allowed or add_pawn_queen_promotion(board, move) in allowed
