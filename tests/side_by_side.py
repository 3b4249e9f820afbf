"""Games of reconnaissance blind chess played by reconchess's LocalGame and by gmd at once, compared after every action.

reconchess is the oracle. gmd's side is anything with the methods of :class:`Side`: its rules in this process
(:class:`RulesSide`), or a daemon behind a socket.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import chess
from chess import Color, Move, Piece, Square
from reconchess import GameHistory, LocalGame, Player
from reconchess.history import GameHistoryDecoder

from gm_recon import ReconGame

MoveResult = tuple[Move | None, Move | None, Square | None]

#: Start positions in which rare events are near.
POSITIONS = {
    "the start": chess.STARTING_FEN,
    "en passant for White": "rnbqkbnr/pp2p1pp/8/2pPPp2/8/8/PPP2PPP/RNBQKBNR w KQkq f6 0 5",
    "en passant for Black": "rnbqkbnr/ppp2p1p/8/8/2PpPPp1/5N2/PP1P2PP/RNBQKB1R b KQkq e3 0 5",
    "en passant for either pawn": "4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1",
    "en passant that uncovers a king": "4k3/8/8/K1Pp3r/8/8/8/8 w - d6 0 1",
    "pawns about to pass each other": "4k3/pppppppp/8/PPPPPPPP/pppppppp/8/PPPPPPPP/4K3 w - - 0 1",
    "an en passant square that nothing can use": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
    "castling": "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 8",
    "castling, a knight hidden at b8 and b1": "rN2k2r/pppp1ppp/8/8/8/8/PPPP1PPP/Rn2K2R w KQkq - 4 10",
    "castling, knights hidden beside the rooks": "r3k1Nr/8/8/8/8/8/8/RN2K1nR b KQkq - 4 10",
    "castling through and into attack": "r3k2r/8/2B2B2/8/8/2b2b2/8/R3K2R w KQkq - 0 10",
    "castling with half the rights": "r3k2r/p6p/8/8/8/8/P6P/R3K2R b Kq - 0 10",
    "rooks that can take each other's rights": "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 10",
    "promotions": "1n1r1b1k/P1P1P1P1/8/8/8/8/p1p1p1p1/1N1R1B1K w - - 0 30",
    "promotions, Black first": "r1n1k3/1P1P2P1/8/8/8/8/1p1p2p1/R1N1K3 b - - 7 30",
    "promotion beside the castling rook": "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 20",
    "kings side by side": "8/8/8/3kK3/8/8/8/8 w - - 0 1",
    "kings side by side, with pawns": "8/8/2p5/3kK3/4P3/8/8/8 b - - 0 1",
    "pins": "4k3/4r3/8/b7/8/2N5/4B3/4K2R w K - 0 1",
    "check by the side to move": "4k3/8/8/8/8/8/8/r3K2R b K - 0 1",
    "two checks on either": "4k3/8/3N1N2/1b5B/1B5b/3n1n2/8/4K3 w - - 0 1",
    "sliders behind sliders": "qrbk1bRQ/8/8/q6Q/Q6q/8/8/QRBK1Brq w - - 0 1",
    "queens all over": "qqqqkqqq/8/8/8/8/8/8/QQQQKQQQ b - - 0 1",
    "pawns that block each other": "4k3/1p1p1p1p/p1p1p1p1/P1P1P1P1/1P1P1P1P/8/8/4K3 b - - 0 1",
    "double steps cut short": "rnbqkbnr/pppppppp/P1P1P1P1/1P1P1P1P/1p1p1p1p/p1p1p1p1/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "more pieces than chess has": "qqqqkqqq/pppppppp/pppppppp/8/8/PPPPPPPP/PPPPPPPP/QQQQKQQQ w - - 0 1",
    "near the limit of half-moves": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 93 60",
    "at the limit of half-moves": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 100 60",
}


class Side(Protocol):
    """gmd's side of a game: reconchess's calls, for both players."""

    async def begin(self, fen: str, reversible_moves: int | None, max_turns: int | None) -> None:
        """Begin a new game without clocks."""

    async def opponent_capture(self) -> Square | None:
        """Return what the side to move learns at the start of its turn."""

    async def actions(self) -> tuple[list[Square], list[Move]]:
        """Return the squares that the side to move may sense, and the moves that it may request."""

    async def sense(self, square: Square | None) -> Sequence[tuple[Square, Piece | None]]:
        """Sense."""

    async def move(self, requested: Move | None) -> MoveResult:
        """Move.

        :raises ValueError: the move is not among the move actions.
        """

    async def resign(self) -> None:
        """Resign for the side to move."""

    async def result(self) -> tuple[Color | None, str] | None:
        """Return the winner and reconchess's name of the reason; None while the game is in progress."""

    async def history(self) -> str:
        """Return the finished game's GameHistory as JSON."""


class RulesSide:
    """The rules in this process."""

    async def begin(self, fen: str, reversible_moves: int | None, max_turns: int | None) -> None:
        self.game = ReconGame(fen, reversible_moves=reversible_moves, max_turns=max_turns)

    async def opponent_capture(self) -> Square | None:
        return self.game.opponent_capture

    async def actions(self) -> tuple[list[Square], list[Move]]:
        return self.game.sense_actions(), self.game.move_actions()

    async def sense(self, square: Square | None) -> Sequence[tuple[Square, Piece | None]]:
        return self.game.sense(square)

    async def move(self, requested: Move | None) -> MoveResult:
        return self.game.move(requested)

    async def resign(self) -> None:
        self.game.resign()

    async def result(self) -> tuple[Color | None, str] | None:
        reason = self.game.win_reason
        return None if reason is None else (self.game.winner, reason.name)

    async def history(self) -> str:
        return self.game.history().to_json()


@dataclass
class Start:
    """The conditions that a game begins with."""

    fen: str = chess.STARTING_FEN
    reversible_moves: int | None = 100
    max_turns: int | None = None

    def local_game(self) -> LocalGame:
        """Return reconchess's game, without clocks."""
        game = LocalGame(None, None, self.reversible_moves, self.max_turns)
        game.board = chess.Board(self.fen)
        game.turn = game.board.turn
        return game


def drawn_start(rng: random.Random) -> Start:
    """Draw any of the positions, the usual one in a quarter of the games; most games have the usual limits."""
    fen = chess.STARTING_FEN if rng.random() < 0.25 else rng.choice(list(POSITIONS.values()))
    return Start(fen, rng.choice([100, 100, 100, 20, None]), rng.choice([None, None, 120, 35, 12]))


def short_start(rng: random.Random, turns: int) -> Start:
    """Draw any of the positions, for a game of at most so many turns of a side."""
    start = drawn_start(rng)
    start.max_turns = chess.Board(start.fen).fullmove_number + turns
    return start


class Chooser(Protocol):
    """Both players."""

    def choose_sense(self, game: LocalGame, squares: list[Square], moves: list[Move]) -> Square | None:
        """Return the square to sense."""

    def choose_move(self, game: LocalGame, moves: list[Move]) -> Move | None:
        """Return the move to request."""

    def resigns(self) -> bool:
        """Return whether to resign instead of moving."""


class RandomPlayers:
    """Random players that prefer rare moves; their games end even without limits."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.turns = 0
        #: Probabilities: of looking at the true board for a move of a rare kind, of sparing a king that could be taken,
        #: and of requesting a move that is not allowed.
        self.keen, self.mild, self.lawless = rng.choice([0.0, 0.5, 0.9]), rng.choice([0.0, 0.9]), rng.choice([0.0, 0.1])

    def choose_sense(self, game: LocalGame, squares: list[Square], moves: list[Move]) -> Square | None:
        return self.rng.choice([*squares, None])

    def choose_move(self, game: LocalGame, moves: list[Move]) -> Move | None:
        rng, board = self.rng, game.board
        self.turns += 1
        if rng.random() < self.lawless:
            return Move(rng.randrange(64), rng.randrange(64), rng.choice([None, None, *chess.PIECE_TYPES]))
        if rng.random() < self.mild:
            moves = [move for move in moves if board.piece_type_at(move.to_square) != chess.KING]
        move = rng.choice([*moves, None])
        if rng.random() < self.keen:
            wished = [[move for move in moves if wish(board, move)] for wish in _WISHES]
            move = rng.choice(next((some for some in wished if some and rng.random() < 0.5), [move]))
        if move is not None and move.promotion and rng.random() < 0.4:
            return Move(move.from_square, move.to_square)
        return move

    def resigns(self) -> bool:
        return self.turns > 400 or self.rng.random() < 0.001


def _passes(board: chess.Board, move: Move) -> bool:
    return board.is_en_passant(move)


def _castles(board: chess.Board, move: Move) -> bool:
    return board.is_castling(move)


def _promotes(board: chess.Board, move: Move) -> bool:
    return move.promotion is not None


def _is_cut_short(board: chess.Board, move: Move) -> bool:
    """Return whether the true board cuts the move short or forbids it."""
    steps_twice = board.piece_type_at(move.from_square) == chess.PAWN and abs(move.to_square - move.from_square) == 16
    slides = board.piece_type_at(move.from_square) in (chess.BISHOP, chess.ROOK, chess.QUEEN)
    return (slides or steps_twice) and not board.is_pseudo_legal(move)


_WISHES = (_passes, _castles, _promotes, _is_cut_short, chess.Board.is_capture)


class Bots:
    """Two of reconchess's own bots. They draw from the module ``random``, which is seeded here."""

    def __init__(self, seed: int, white: type[Player], black: type[Player], start: Start) -> None:
        random.seed(seed)
        self.players = [black(), white()]
        for color in (chess.WHITE, chess.BLACK):
            self.players[color].handle_game_start(color, chess.Board(start.fen), "other")

    def choose_sense(self, game: LocalGame, squares: list[Square], moves: list[Move]) -> Square | None:
        square: Square | None = self.players[game.turn].choose_sense(squares, moves, 900)
        return square

    def choose_move(self, game: LocalGame, moves: list[Move]) -> Move | None:
        move: Move | None = self.players[game.turn].choose_move(moves, 900)
        return move

    def resigns(self) -> bool:
        return False


async def play_side_by_side(start: Start, players: Chooser, side: Side) -> GameHistory:
    """Play a game on both sides, and return LocalGame's history; any difference is an AssertionError."""
    local = start.local_game()
    local.start()
    await side.begin(start.fen, start.reversible_moves, start.max_turns)
    while not local.is_over():
        assert await side.result() is None
        await _play_turn(local, players, side)
    local.end()
    assert await side.result() == (local.get_winner_color(), local.get_win_reason().name)
    history = local.get_game_history()
    compare_histories(history, json.loads(await side.history(), cls=GameHistoryDecoder))
    return history


async def _play_turn(local: LocalGame, players: Chooser, side: Side) -> None:
    assert await side.opponent_capture() == local.opponent_move_results()
    squares, moves = await side.actions()
    assert squares == local.sense_actions()
    assert moves == local.move_actions()  # in the same order, which the rules do not require
    square = players.choose_sense(local, squares, moves)
    assert list(await side.sense(square)) == local.sense(square)
    if players.resigns():
        local.resign()
        await side.resign()
        return
    while not await _move(local, players.choose_move(local, moves.copy()), side):
        pass
    local.end_turn()


async def _move(local: LocalGame, requested: Move | None, side: Side) -> bool:
    """Request a move on both sides; return whether both accepted it. Both must accept or refuse it."""
    fen = local.board.fen()
    expected: MoveResult | None
    try:
        expected = local.move(requested)
    except ValueError:
        expected = None
    try:
        result = await side.move(requested)
    except ValueError:
        assert expected is None, f"{requested} was refused in {fen}"
        return False
    assert result == expected, f"{requested} in {fen}"
    return True


def compare_histories(local: GameHistory, gmds: GameHistory) -> None:
    """Assert that two histories are equal by every accessor of reconchess's that does not depend on names."""
    assert gmds == local
    assert (gmds.get_winner_color(), gmds.get_win_reason()) == (local.get_winner_color(), local.get_win_reason())
    assert gmds.is_empty() == local.is_empty()
    for color in (None, chess.WHITE, chess.BLACK):
        assert gmds.num_turns(color) == local.num_turns(color)
        assert list(gmds.turns(color)) == list(local.turns(color))
        if not local.is_empty():
            assert gmds.first_turn(color) == local.first_turn(color)
            assert gmds.last_turn(color) == local.last_turn(color)
    for turn in local.turns():
        assert gmds.has_sense(turn) == local.has_sense(turn)
        assert gmds.has_move(turn) == local.has_move(turn)
        for name in _SENSE_ACCESSORS if local.has_sense(turn) else ():
            _compare(local, gmds, name, turn)
        for name in _MOVE_ACCESSORS if local.has_move(turn) else ():
            _compare(local, gmds, name, turn)


def _compare(local: GameHistory, gmds: GameHistory, name: str, turn: Any) -> None:
    expected, found = getattr(local, name)(turn), getattr(gmds, name)(turn)
    assert found == expected
    assert type(found) is type(expected)


_SENSE_ACCESSORS = ("sense", "sense_result")
_MOVE_ACCESSORS = (
    "requested_move",
    "taken_move",
    "capture_square",
    "move_result",
    "truth_fen_before_move",
    "truth_board_before_move",
    "truth_fen_after_move",
    "truth_board_after_move",
)


def count_events(history: GameHistory, seen: Counter[str]) -> None:
    """Count how a game ended, and the moves of each rare kind in it."""
    seen[history.get_win_reason().name] += 1
    for turn in history.turns():
        if not history.has_move(turn):
            continue
        requested, taken, capture = history.move_result(turn)
        if requested is None:
            seen["passed"] += 1
            continue
        seen["captured"] += capture is not None
        board = history.truth_board_before_move(turn)
        castles = board.is_castling(requested)
        pawn = board.piece_type_at(requested.from_square) == chess.PAWN
        if taken is None:
            seen["castling refused" if castles else "refused"] += 1
        elif taken.to_square != requested.to_square:
            seen["double step cut short" if pawn else "cut short"] += 1
        elif castles:
            seen["castled"] += 1
        elif taken.promotion:
            seen["promoted as asked" if requested.promotion else "promoted by default"] += 1
        elif capture not in (None, taken.to_square):
            seen["en passant"] += 1
            seen[f"en passant by {'White' if turn.color else 'Black'}"] += 1
