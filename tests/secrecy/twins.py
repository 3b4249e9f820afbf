"""Two games that look the same to one player but differ: of blind chess (rbc), and of Dark chess.

reconchess's utilities and python-chess alone decide here what a player observes. In blind chess these are what its
senses show, the results of its moves, where its pieces are captured, and that the game is not over; in Dark chess the
squares that its pieces may move to. The player's own actions are the same in both games; its opponent's differ.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import chess
from chess import Board, Color, Move, Square
from reconchess.utilities import (
    add_pawn_queen_promotion,
    capture_square_of_move,
    move_actions,
    revise_move,
)

from tests.side_by_side import POSITIONS

#: How many moves are tried in search of one that looks the same in both games.
TRIES = 40

#: The squares that a sense shows.
WINDOWS = [
    chess.SquareSet(other for other in chess.SQUARES if chess.square_distance(square, other) <= 1)
    for square in chess.SQUARES
]

#: Every double step may be answered en passant.
PASSING_PAWNS = "r3k2r/1p1p1p1p/8/P1P1P1P1/p1p1p1p1/8/1P1P1P1P/R3K2R w KQkq - 0 1"
#: Knights soon give check unseen.
KNIGHTS = "r3k2r/8/3n4/8/8/4N3/8/R3K2R w KQkq - 0 1"

#: The start positions, by variant.
STARTS: dict[str, list[str]] = {
    "rbc": [chess.STARTING_FEN, PASSING_PAWNS, *POSITIONS.values()],
    "dark_chess": [chess.STARTING_FEN, PASSING_PAWNS, KNIGHTS, "4k3/1pp2pp1/8/8/8/8/1PP2PP1/4K3 b - - 30 40"],
}

#: Clocks with more time than a pair of games takes; and the default, which is one.
CLOCKS: list[dict[str, Any]] = [
    {},
    {"clock": None},
    {"clock": {"initial": 5_000}},
    {"clock": {"initial": 5_000.25, "increment": 1.5}},
    {"clock": {"first_move": 5_000, "per_move": 4_000.5}},
]


@dataclass(frozen=True)
class Action:
    """A side's sense, in blind chess, and its move in its turn."""

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
    """The opponent's turn in either game. The observer may see that the turn was taken, and what it shows to it."""

    actions: tuple[Action, Action]


@dataclass
class Twins:
    """A pair of games, given by the actions in them."""

    variant: str
    fen: str
    observer: Color
    #: The fields of ``new_game``: limits, and a clock that no player loses by.
    options: dict[str, Any] = field(default_factory=dict)
    turns: list[OwnTurn | OthersTurn] = field(default_factory=list)
    #: The true positions after the last turn.
    boards: tuple[Board, Board] = field(default_factory=lambda: (Board(), Board()))

    @property
    def differ(self) -> bool:
        """Whether the true positions are different in the end."""
        one, other = self.boards
        return one.board_fen() != other.board_fen()


class Made(NamedTuple):
    """A move made, or none; the square it captured on, or none; and whether en passant."""

    move: Move | None
    square: Square | None
    passing: bool


class Variant(ABC):
    """The rules of one pair of games.

    :cvar is_blind: whether players sense, and may pass.
    """

    is_blind: ClassVar[bool]

    @abstractmethod
    def board(self, fen: str) -> Board:
        """Return the board of a position."""

    @abstractmethod
    def moves(self, board: Board) -> list[Move]:
        """Return the moves that the side to move may request."""

    @abstractmethod
    def made(self, board: Board, move: Move | None) -> Made:
        """Return what becomes of a move that is requested."""

    @abstractmethod
    def shown(self, board: Board, move: Move | None, observer: Color) -> object | None:
        """Return what the observer learns from a move, its own or its opponent's; None where the game is over then."""

    @abstractmethod
    def may_ask(self, board: Board, allowed: list[Move], move: Move) -> bool:
        """Return whether a move may be requested, given those that are offered."""

    def push(self, board: Board, move: Move | None) -> None:
        """Make a move."""
        board.push(self.made(board, move).move or Move.null())


@dataclass(frozen=True)
class BlindChess(Variant):
    """Blind chess, with the limits that end a game, by the counters of its FEN; None for no limit."""

    is_blind = True
    reversible_moves: int | None = None
    max_turns: int | None = None

    def board(self, fen: str) -> Board:
        return Board(fen)

    def moves(self, board: Board) -> list[Move]:
        return list(move_actions(board))

    def made(self, board: Board, move: Move | None) -> Made:
        taken = None if move is None else revise_move(board, add_pawn_queen_promotion(board, move))
        return Made(taken, capture_square_of_move(board, taken), taken is not None and board.is_en_passant(taken))

    def shown(self, board: Board, move: Move | None, observer: Color) -> object | None:
        taken, capture_square, _ = self.made(board, move)
        takes_king = capture_square is not None and board.piece_type_at(capture_square) == chess.KING
        if takes_king or self._reaches_limit(board, taken):
            return None
        return (taken, capture_square) if board.turn == observer else (capture_square,)

    def may_ask(self, board: Board, allowed: list[Move], move: Move) -> bool:
        return move in allowed or add_pawn_queen_promotion(board, move) in allowed

    def _reaches_limit(self, board: Board, taken: Move | None) -> bool:
        halfmoves = 0 if taken is not None and board.is_zeroing(taken) else board.halfmove_clock + 1
        turns = board.fullmove_number + (board.turn == chess.BLACK)
        if self.reversible_moves is not None and halfmoves >= self.reversible_moves:
            return True
        return self.max_turns is not None and turns > self.max_turns


class NoCheck(Board):
    """A board on which castling ignores check. Its pseudo-legal moves are those of Dark chess."""

    def _attacked_for_king(self, path: chess.Bitboard, occupied: chess.Bitboard) -> bool:
        return False


class DarkChess(Variant):
    """Dark chess, without repeated positions, which might end a game."""

    is_blind = False

    def __init__(self) -> None:
        self._stood: set[str] = set()

    def board(self, fen: str) -> Board:
        return NoCheck(fen)

    def moves(self, board: Board) -> list[Move]:
        return sorted(board.pseudo_legal_moves, key=Move.uci)

    def made(self, board: Board, move: Move | None) -> Made:
        assert move is not None
        passing = board.is_en_passant(move)
        square = move.to_square + (-8 if board.turn else 8) if passing else move.to_square
        return Made(move, square if board.is_capture(move) else None, passing)

    def shown(self, board: Board, move: Move | None, observer: Color) -> object | None:
        assert move is not None
        after = board.copy(stack=False)
        after.push(move)
        over = after.king(True) is None or after.king(False) is None or not any(after.pseudo_legal_moves)
        return None if over or after.epd() in self._stood else seen_in_the_dark(after, observer)

    def may_ask(self, board: Board, allowed: list[Move], move: Move) -> bool:
        return move in allowed

    def push(self, board: Board, move: Move | None) -> None:
        super().push(board, move)
        self._stood.add(board.epd())


def seen_in_the_dark(board: Board, color: Color) -> tuple[object, ...]:
    """Return all that a player of Dark chess may know of a position."""
    own = board.copy(stack=False)
    own.turn = color
    if board.turn != color:
        own.ep_square = None
    moves = list(own.pseudo_legal_moves)
    seen = chess.SquareSet(own.occupied_co[color])
    for move in moves:
        seen.add(move.to_square)
        if own.is_en_passant(move):
            seen.add(move.to_square + (-8 if color else 8))
    rights = own.castling_rights & (chess.BB_RANK_1 if color else chess.BB_RANK_8)
    return {square: own.piece_at(square) for square in seen}, rights, set(moves) if board.turn == color else None


def draw_twins(rng: random.Random, starts: Sequence[str] = (), *, variant: str = "rbc", limited: bool = True) -> Twins:
    """Draw a pair of games, a few turns long, both still in progress at the end.

    :param starts: the positions that they may begin with; :data:`STARTS` where none is given.
    :param limited: whether they may have limits, which make them shorter.
    """
    fen = rng.choice(starts or STARTS[variant])
    rules: Variant = DarkChess()
    options: dict[str, Any] = {}
    if variant == "rbc":
        options = _draw_limits(Board(fen), rng) if limited else {"reversible_moves": None}
        rules = BlindChess(options.get("reversible_moves", 100), options.get("max_turns"))
    boards = rules.board(fen), rules.board(fen)
    twins = Twins(variant, fen, rng.choice(chess.COLORS), {**options, **rng.choice(CLOCKS)}, boards=boards)
    for _ in range(rng.randint(2, 14)):
        draw = _own_turn if boards[0].turn == twins.observer else _others_turn
        turn = draw(rules, twins, rng)
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


def _own_turn(rules: Variant, twins: Twins, rng: random.Random) -> OwnTurn | None:
    boards = twins.boards
    allowed = rules.moves(boards[0])
    assert allowed == rules.moves(boards[1])
    sense = _sense_of_the_same(boards, rng) if rules.is_blind else None
    for move in _drawn(_choices(rules, boards[0]), rng, _wish(rules, boards[0], rng)):
        shown = [rules.shown(board, move, twins.observer) for board in boards]
        if shown[0] is not None and shown[0] == shown[1]:
            break
    else:
        return None
    forbidden = next(move for move in _all_moves(rng) if not rules.may_ask(boards[0], allowed, move))
    for board in boards:
        rules.push(board, move)
    return OwnTurn(Action(sense, move), allowed, forbidden)


def _others_turn(rules: Variant, twins: Twins, rng: random.Random) -> OthersTurn | None:
    one, other = twins.boards
    others = {move: rules.shown(other, move, twins.observer) for move in _choices(rules, other)}
    for move in _drawn(_choices(rules, one), rng, _wish(rules, one, rng)):
        shown = rules.shown(one, move, twins.observer)
        if shown is None:
            continue
        for another in _drawn(list(others), rng, _unlike(rules, other, rules.made(one, move))):
            if others[another] == shown:
                for board, chosen in ((one, move), (other, another)):
                    rules.push(board, chosen)
                senses = [rng.choice([*chess.SQUARES, None]) if rules.is_blind else None for _ in range(2)]
                return OthersTurn((Action(senses[0], move), Action(senses[1], another)))
    return None


def _choices(rules: Variant, board: Board) -> list[Move | None]:
    """Return the moves that may be drawn, and the pass where there is such a thing."""
    return [*rules.moves(board), *([None] if rules.is_blind else [])]


def _sense_of_the_same(boards: tuple[Board, Board], rng: random.Random) -> Square | None:
    """Draw a sense that shows the same on both boards."""
    one, other = boards
    different = chess.SquareSet(square for square in chess.SQUARES if one.piece_at(square) != other.piece_at(square))
    return rng.choice([*(square for square in chess.SQUARES if not WINDOWS[square] & different), None])


#: The key that sorts moves: those with the lowest values come first.
Wish = Callable[[Move | None], int]


def _drawn(choices: list[Move | None], rng: random.Random, wish: Wish) -> list[Move | None]:
    """Return some of the moves in random order, but with those first that are wished for."""
    return sorted(rng.sample(choices, len(choices)), key=wish)[:TRIES]


def _wish(rules: Variant, board: Board, rng: random.Random) -> Wish:
    """Draw a preference: none, for long steps, or for captures, en passant first: few moves hide so much as these."""

    def captures_first(move: Move | None) -> int:
        made = rules.made(board, move)
        return 2 if made.square is None else int(not made.passing)

    def long_first(move: Move | None) -> int:
        return int(move is None or abs(move.from_square - move.to_square) != 16)

    return rng.choice([lambda move: 0, long_first, captures_first])


def _unlike(rules: Variant, board: Board, like: Made) -> Wish:
    """Prefer another capture that looks the same; en passant differs most from all others."""

    def wish(move: Move | None) -> int:
        made = rules.made(board, move)
        if like.square is None or made.square != like.square:
            return 2
        return 0 if made.passing != like.passing else int(made.move == like.move)

    return wish


def _all_moves(rng: random.Random) -> Iterator[Move]:
    while True:
        yield Move(rng.randrange(64), rng.randrange(64), rng.choice([None, None, chess.QUEEN, chess.KING]))
