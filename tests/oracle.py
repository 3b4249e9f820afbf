"""The game state that the daemon must show, computed from python-chess alone.

Nothing here reads gmd's code, and the code is deliberately simple: where a rule can be checked by trying every move,
every move is tried. The rules are those of ``PROTOCOL``, chapter 8.
"""

from __future__ import annotations

from typing import Any

import chess
from chess import BLACK, WHITE, Board, Color, Move
from chess.variant import CrazyhouseBoard

Json = dict[str, Any]

MAX_PLIES = 2_000

RESULTS = {
    "available_move": "*",
    "victory_white": "1-0",
    "victory_black": "0-1",
    "resignation_white": "0-1",
    "resignation_black": "1-0",
    "forfeit_white": "0-1",
    "forfeit_black": "1-0",
    "timeout_white": "0-1",
    "timeout_black": "1-0",
}
DRAWN = "1/2-1/2"


def start_board(variant: str, *, fen: str | None = None, position: int | None = None) -> Board:
    """Return the board that a game starts from; without FEN or Chess960 start number, the classical one."""
    chess960 = variant == "chess960" or (variant == "crazyhouse" and position not in (None, 518))
    kind = CrazyhouseBoard if variant == "crazyhouse" else Board
    board = kind(chess960=chess960) if fen is None else kind(fen, chess960=chess960)
    if position is not None:
        board.set_chess960_pos(position)
        board.chess960 = chess960  # the line above sets it
    return board


class Oracle:
    """One game as it must be shown, move by move."""

    def __init__(
        self, board: Board, variant: str = "standard", draws: str = "claimed", max_moves: int | None = None
    ) -> None:
        """Begin with no move made.

        :param board: the start position; the game is played on it.
        """
        self.board = board
        self.variant = variant
        self.draws = draws
        self.max_moves = max_moves
        self.start_fen = fen(board)
        self.sans: list[str] = []
        self.ucis: list[str] = []
        self.draw_offered = False
        self.ended: str | None = None
        self._numbers = (board.fullmove_number, board.turn)

    def push(self, move: Move, *, offer_draw: bool = False) -> None:
        """Make a legal move for the side to move."""
        self.sans.append(self.board.san(move))
        self.ucis.append(self.board.uci(move))
        self.board.push(move)
        self.draw_offered = offer_draw and self.termination == "available_move"

    def end(self, termination: str) -> None:
        """End the game otherwise than by a move."""
        self.ended = termination
        self.draw_offered = False

    @property
    def termination(self) -> str:
        """The game's termination, checked in the order that ``PROTOCOL`` gives."""
        board = self.board
        if self.ended is not None:
            return self.ended
        if not any(board.legal_moves):
            if not board.is_check():
                return "stalemate"
            return "victory_black" if board.turn == WHITE else "victory_white"
        if self.draws == "automatic":
            if board.is_repetition(3):
                return "draw_repetition"
            if board.halfmove_clock >= 100:
                return "draw_fifty_moves"
            if insufficient_material(board):
                return "draw_material"
        if len(self.sans) >= MAX_PLIES or (self.max_moves is not None and len(self.sans) >= 2 * self.max_moves):
            return "draw_move_limit"
        return "available_move"

    @property
    def available_draws(self) -> int:
        """The bits of ``draws``."""
        if self.termination != "available_move":
            return 0
        return (self.board.halfmove_clock >= 100) + 2 * self.board.is_repetition(3)

    @property
    def movetext(self) -> str:
        """Version 1's ``pgn``."""
        number, turn = self._numbers
        words = []
        for ply, san in enumerate(self.sans):
            if turn == WHITE:
                words.append(f"{number}.{san}")
            else:
                words.append(san if ply else f"{number}...{san}")
                number += 1
            turn = not turn
        return " ".join(words)

    def state(self, game_id: int, white: int = 1, black: int = 2) -> Json:
        """Return the whole game state of a game without a clock."""
        board, termination = self.board, self.termination
        state = {
            "board": board_rows(board),
            "available_castles": castles(board),
            "passant_file": passant_file(board),
            "access_map": access_map(board),
            "ply_index": len(self.sans),
            "pgn": self.movetext,
            "fen": fen(board),
            "draws": self.available_draws,
            "termination": termination,
            "in_check": board.is_check(),
            "game_id": game_id,
            "variant": self.variant,
            "player_white": white,
            "player_black": black,
            "start_fen": self.start_fen,
            "turn": "white" if board.turn == WHITE else "black",
            "phase": "move" if termination == "available_move" else "over",
            "result": RESULTS.get(termination, DRAWN),
            "clock": None,
            "draw_offered": self.draw_offered,
            "last_move": self.ucis[-1] if self.ucis else None,
        }
        if isinstance(board, CrazyhouseBoard):
            state["pockets"] = {"white": in_hand(board, WHITE), "black": in_hand(board, BLACK)}
        return state


def fen(board: Board) -> str:
    """Return all six fields, with Shredder's castling rights where castling is Chess960's."""
    return board.fen(shredder=board.chess960, en_passant="legal")


def board_rows(board: Board) -> list[list[str | None]]:
    """Return rows of codes, rank 1 first, file a first."""
    return [[_code(board.piece_at(chess.square(file, rank))) for file in range(8)] for rank in range(8)]


def _code(piece: chess.Piece | None) -> str | None:
    if piece is None:
        return None
    letter = "p" if piece.piece_type == chess.PAWN else piece.symbol().upper()
    return ("w" if piece.color == WHITE else "b") + letter


def castles(board: Board) -> int:
    """Return the bits of ``available_castles``."""
    return (
        0x01 * board.has_kingside_castling_rights(WHITE)
        + 0x02 * board.has_queenside_castling_rights(WHITE)
        + 0x04 * board.has_kingside_castling_rights(BLACK)
        + 0x08 * board.has_queenside_castling_rights(BLACK)
    )


def passant_file(board: Board) -> int:
    """Return the file where a legal move captures en passant, or -1."""
    for move in board.legal_moves:
        if board.is_en_passant(move):
            return chess.square_file(move.to_square)
    return -1


def access_map(board: Board) -> list[list[list[list[int]]]]:
    """Return, for each square, the (rank, file) of every piece that may move there, by trying every move of either
    colour.
    """
    sources: list[set[int]] = [set() for _ in chess.SQUARES]
    for color in chess.COLORS:
        for move in moves_as_if_to_move(board, color):
            sources[move.to_square].add(move.from_square)
    pairs = [[[source // 8, source % 8] for source in sorted(found)] for found in sources]
    return [pairs[first : first + 8] for first in range(0, 64, 8)]


def moves_as_if_to_move(board: Board, color: Color) -> list[Move]:
    """Return the moves of one colour that the access map counts: its king is safe afterwards, or they take a king."""
    probe = board.copy(stack=False)
    if color != board.turn:
        probe.turn = color
        probe.ep_square = None
    counted = []
    for move in list(probe.pseudo_legal_moves):
        if move.drop or probe.is_castling(move):
            continue
        takes_king = probe.piece_type_at(move.to_square) == chess.KING
        probe.push(move)
        king = probe.king(color)
        if takes_king or king is None or not probe.is_attacked_by(not color, king):
            counted.append(move)
        probe.pop()
    return counted


def insufficient_material(board: Board) -> bool:
    """Apply the list of ``docs/protocol/games.md``, case by case."""
    if isinstance(board, CrazyhouseBoard):
        return False
    pieces = {square: piece for square, piece in board.piece_map().items() if piece.piece_type != chess.KING}
    match sorted(piece.symbol() for piece in pieces.values()):
        case []:
            return True
        case [only]:
            return only in "BbNn"
        case ["B", "b"]:
            return len({(chess.square_file(square) + chess.square_rank(square)) % 2 for square in pieces}) == 1
    return False


def in_hand(board: CrazyhouseBoard, color: Color) -> str:
    """Return a side's pieces in hand, most valuable first, White's in capitals."""
    order = (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN)
    return "".join(chess.Piece(kind, color).symbol() * board.pockets[color].count(kind) for kind in order)


def actions(board: Board) -> list[str]:
    """Return all legal moves in UCI, sorted."""
    return sorted(board.uci(move) for move in board.legal_moves)
