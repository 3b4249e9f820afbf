"""The state of a game of reconnaissance blind chess as each viewer may see it, computed from reconchess's LocalGame
alone.
"""

from __future__ import annotations

from typing import Any

import chess
from chess import BLACK, WHITE, Color, Move, Square
from reconchess import LocalGame
from reconchess.utilities import moves_without_opponent_pieces, pawn_capture_moves_on, without_opponent_pieces

from tests.helpers import Json

#: The codes of pieces, and of an empty square, in ``board``.
CODES: dict[chess.Piece | None, str | None] = {
    **{chess.Piece.from_symbol(symbol): f"w{symbol}" for symbol in "NBRQK"},
    **{chess.Piece.from_symbol(symbol.lower()): f"b{symbol}" for symbol in "NBRQK"},
    chess.Piece.from_symbol("P"): "wp",
    chess.Piece.from_symbol("p"): "bp",
    None: None,
}
BITS = {chess.H1: 0x01, chess.A1: 0x02, chess.H8: 0x04, chess.A8: 0x08}


class BlindOracle:
    """A game and what each side has learned in it."""

    def __init__(self, local: LocalGame, game_id: int, players: tuple[int, int]) -> None:
        """Begin with the first ply to play.

        :param players: White's and Black's ids.
        """
        self.local = local
        self.game_id = game_id
        self.players = players
        self.start_fen = local.board.fen(en_passant="fen")
        self.start = local.board.copy()
        self.ply = 0
        self.sensed = False
        self.last_move: str | None = None
        self.senses: dict[Color, Json | None] = {WHITE: None, BLACK: None}
        self.results: dict[Color, Json | None] = {WHITE: None, BLACK: None}

    def sense(self, square: Square | None) -> list[list[str | None]]:
        """Sense for the side to move, and return the reply's ``sense_result``."""
        seen = [[chess.SQUARE_NAMES[at], CODES[piece]] for at, piece in self.local.sense(square)]
        self.senses[self.local.turn] = {"ply": self.ply, "square": name(square), "sense_result": seen}
        self.sensed = True
        return seen

    def move(self, requested: Move | None) -> Json:
        """Move for the side to move, and return the results as the reply has them."""
        asked, taken, capture = self.local.move(requested)
        result = {"requested_move": uci(asked), "taken_move": uci(taken), "capture_square": name(capture)}
        self.results[self.local.turn] = {"ply": self.ply, **result}
        self.last_move = uci(taken)
        self.local.end_turn()
        self.ply += 1
        self.sensed = False
        return result

    def blind_state(self, seat: Color | None) -> Json:
        """Return the state of the game in progress as a seat sees it, or as a spectator does."""
        turn = self.local.turn
        own = self._own(seat)
        fullmove = self.start.fullmove_number + (self.ply + (self.start.turn == BLACK)) // 2
        lost = None if seat is None else self.results[not seat]
        return {
            "board": [[CODES[own.piece_at(chess.square(file, rank))] for file in range(8)] for rank in range(8)],
            "available_castles": sum(BITS[rook] for rook in chess.SquareSet(own.castling_rights)),
            "passant_file": -1,
            "access_map": self._access_map(seat),
            "ply_index": self.ply,
            "pgn": None,
            "fen": f"{own.board_fen()} {'w' if turn else 'b'} {own.castling_xfen()} - 0 {fullmove}",
            "draws": 0,
            "termination": "available_move",
            "in_check": False,
            "game_id": self.game_id,
            "variant": "rbc",
            "player_white": self.players[0],
            "player_black": self.players[1],
            "start_fen": self.start_fen,
            "turn": "white" if turn else "black",
            "phase": None if seat != turn else "move" if self.sensed else "sense",
            "result": "*",
            "clock": None,
            "draw_offered": False,
            "last_move": None,
            "opponent_capture": lost and lost["capture_square"],
            "last_sense": None if seat is None else self.senses[seat],
            "last_result": None if seat is None else self.results[seat],
        }

    def _own(self, seat: Color | None) -> chess.Board:
        """Return a board with the seat's pieces and rights and no others."""
        if seat is None:
            return chess.Board(None)
        board = self.local.board.copy(stack=False)
        board.turn = seat
        own: chess.Board = without_opponent_pieces(board)
        own.castling_rights &= chess.BB_RANK_1 if seat else chess.BB_RANK_8
        return own

    def _access_map(self, seat: Color | None) -> Any:
        targets: list[set[Square]] = [set() for _ in chess.SQUARES]
        if seat is not None:
            board = self.local.board.copy(stack=False)
            board.turn = seat
            for move in [*moves_without_opponent_pieces(board), *pawn_capture_moves_on(board)]:
                if not board.is_castling(move):
                    targets[move.to_square].add(move.from_square)
        pairs = [[[source >> 3, source & 7] for source in sorted(sources)] for sources in targets]
        return [pairs[first : first + 8] for first in range(0, 64, 8)]


def name(square: Square | None) -> str | None:
    """Return a square's name."""
    return None if square is None else chess.SQUARE_NAMES[square]


def uci(move: Move | None) -> str | None:
    """Return a move's UCI."""
    return None if move is None else move.uci()
