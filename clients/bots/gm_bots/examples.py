"""Six small bots of blind chess, to copy from and to play against. Each is a few lines.

Run one by ``gmd connect reconchess:gm_bots.examples:Grabber``; a copy, by ``reconchess:FILE.py:Grabber``.
"""

from __future__ import annotations

import random

import chess
from chess import Board, Color, Move, Piece, Square

from gm_recon import Player

#: What a piece is worth. The game is over once a king is taken.
VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 1000}
#: Squares from which a sense sees nine squares, and none is wasted beyond the edge.
INNER = [square for square in chess.SQUARES if 0 < square % 8 < 7 and 0 < square // 8 < 7]


class Wanderer(Player):
    """Senses and moves at random."""

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square | None:
        return random.choice(INNER)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return random.choice(move_actions)


class Grabber(Wanderer):
    """Remembers what it has seen, and takes the best piece that it believes it can.

    :ivar board: its own pieces, and the opponent's where they were when it last saw them.
    """

    def handle_game_start(self, color: Color, board: Board, opponent_name: str) -> None:
        self.color, self.board = color, board.copy()

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        if capture_square is not None:  # something of the opponent's is there now, worth taking back
            self.board.set_piece_at(capture_square, Piece(chess.QUEEN, not self.color))

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]]) -> None:
        for square, piece in sense_result:
            self.board.set_piece_at(square, piece)

    def handle_move_result(
        self,
        requested_move: Move | None,
        taken_move: Move | None,
        captured_opponent_piece: bool,
        capture_square: Square | None,
    ) -> None:
        if taken_move is not None:
            self.board.turn = self.color
            self.board.push(taken_move)
        elif requested_move is not None:  # a pawn's capture that was none, or its way that was blocked
            self.board.remove_piece_at(requested_move.to_square)

    def worth(self, move: Move) -> float:
        """Return how good a move looks; moves are compared by this, and equals drawn by lot."""
        taken = self.board.piece_at(move.to_square)
        return 0 if taken is None or taken.color == self.color else VALUES[taken.piece_type]

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return max(random.sample(move_actions, len(move_actions)), key=self.worth)


class Rusher(Grabber):
    """Runs for the king by one of three plans, and grabs where the plan has failed."""

    PLANS = ("b1c3 c3b5 b5d6 d6e8", "g1h3 h3f4 f4h5 h5f6 f6e8", "e2e4 f1c4 d1h5 c4f7 f7e8 h5e8")

    def handle_game_start(self, color: Color, board: Board, opponent_name: str) -> None:
        super().handle_game_start(color, board, opponent_name)
        plan = [Move.from_uci(text) for text in random.choice(self.PLANS).split()]
        mirror = 0 if color == chess.WHITE else 56  # flips the ranks of a square
        self.plan = [Move(move.from_square ^ mirror, move.to_square ^ mirror) for move in plan]

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        if self.plan and (move := self.plan.pop(0)) in move_actions:
            return move
        self.plan = []
        return super().choose_move(move_actions, seconds_left)


class Watcher(Grabber):
    """Senses where it has seen the least lately, first where it was just captured."""

    def handle_game_start(self, color: Color, board: Board, opponent_name: str) -> None:
        super().handle_game_start(color, board, opponent_name)
        self.age = dict.fromkeys(chess.SQUARES, 0)  # turns since each square was seen

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        super().handle_opponent_move_result(captured_my_piece, capture_square)
        for square in chess.SQUARES:
            self.age[square] += 1
        if capture_square is not None:
            self.age[capture_square] += 100

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square | None:
        def unseen(centre: Square) -> int:
            around = chess.SquareSet(chess.BB_KING_ATTACKS[centre]) | chess.SquareSet([centre])
            return sum(self.age[square] for square in around if self.board.color_at(square) != self.color)

        return max(random.sample(INNER, len(INNER)), key=unseen)

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]]) -> None:
        super().handle_sense_result(sense_result)
        for square, _ in sense_result:
            self.age[square] = 0


class Trader(Watcher):
    """Weighs what a move takes against what it puts at risk, by what it has seen."""

    def worth(self, move: Move) -> float:
        gain, mover = super().worth(move), self.board.piece_at(move.from_square)
        if mover is None or gain == VALUES[chess.KING]:
            return gain
        after = self.board.copy(stack=False)
        after.turn = self.color
        after.push(move)
        risk = VALUES[mover.piece_type] if after.is_attacked_by(not self.color, move.to_square) else 0
        king = after.king(self.color)
        if king is not None and after.is_attacked_by(not self.color, king):
            risk += VALUES[chess.KING]
        return gain - risk


class Hunter(Trader):
    """Trades, and moves its pieces to where they attack the squares around the opponent's king."""

    def worth(self, move: Move) -> float:
        after, king = self.board.copy(stack=False), self.board.king(not self.color)
        if king is None:
            return super().worth(move)
        after.turn = self.color
        after.push(move)
        around = chess.SquareSet(chess.BB_KING_ATTACKS[king]) | chess.SquareSet([king])
        aimed = sum(len(after.attackers(self.color, square)) for square in around)
        return super().worth(move) + 0.1 * aimed
