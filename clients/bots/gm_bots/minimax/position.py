"""A position that makes and takes back moves, and maintains its score, its key and the facts for draws.

python-chess's board does the same and much more, but ten times as slowly as a search needs. A move is a number here:
source + 64 * target + 4096 * the piece type promoted to. A piece is its python-chess type, plus 6 if it is Black's.

The work of every move is written inline in :meth:`Position.make`, since a call costs as much as its work. Rare work is
in functions.
"""

from __future__ import annotations

import chess
from chess import (
    BB_DIAG_ATTACKS,
    BB_DIAG_MASKS,
    BB_FILE_ATTACKS,
    BB_FILE_MASKS,
    BB_KING_ATTACKS,
    BB_KNIGHT_ATTACKS,
    BB_PAWN_ATTACKS,
    BB_RANK_ATTACKS,
    BB_RANK_MASKS,
    BB_SQUARES,
    Move,
)

from . import hashing
from .evaluation import KING_WORTH, WORTH, is_end_game

#: The number to add to a piece's type, by colour.
OFFSET = (6, 0)
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = chess.PIECE_TYPES
WHITE_KING, BLACK_KING, WHITE_PAWN, BLACK_PAWN = KING, KING + 6, PAWN, PAWN + 6

#: By piece and square; the first entry is for no piece.
_NOTHING = (0,) * 64
_CODES = [(piece_type, color) for color in (chess.WHITE, chess.BLACK) for piece_type in chess.PIECE_TYPES]
_WORTH = (_NOTHING, *(WORTH.get(code, _NOTHING) for code in _CODES))
_KEYS = (_NOTHING, *(hashing.PIECES[code] for code in _CODES))

#: The squares that a rook, a bishop or a queen attacks from a square of an empty board.
ROOK_LINES = tuple(BB_RANK_ATTACKS[square][0] | BB_FILE_ATTACKS[square][0] for square in chess.SQUARES)
BISHOP_LINES = tuple(BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES)

#: A king's square and its lines: a move from any other square exposes that king only by en passant.
_GUARDED = tuple(BB_SQUARES[square] | ROOK_LINES[square] | BISHOP_LINES[square] for square in chess.SQUARES)

#: The castling rights that remain after a move from a square, or to it.
_RIGHTS_KEPT = [15] * 64
for _square, _lost in {chess.H1: 1, chess.A1: 2, chess.E1: 3, chess.H8: 4, chess.A8: 8, chess.E8: 12}.items():
    _RIGHTS_KEPT[_square] = 15 & ~_lost

#: By the square to which a king castles: its rook's squares, before and after.
_ROOK_HOPS = {
    chess.G1: (chess.H1, chess.F1),
    chess.C1: (chess.A1, chess.D1),
    chess.G8: (chess.H8, chess.F8),
    chess.C8: (chess.A8, chess.D8),
}

#: The state before a move: the move, the captured piece, the key, score, rights, en passant, clock, end game, dead.
_Undo = tuple[int, int, int, int, int, int, int, bool, bool]


def encode(move: Move) -> int:
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


def decode(move: int) -> Move:
    return Move(move & 63, move >> 6 & 63, move >> 12 or None)


class Position:
    """A position in a search.

    :ivar squares: the piece on each square, 0 for none.
    :ivar bitboards: the squares of each piece.
    :ivar colors: the squares of Black's pieces, and of White's.
    :ivar kings: the square of Black's king, and of White's.
    :ivar rights: castling rights, as indices of :data:`hashing.RIGHTS`.
    :ivar ep_square: the square of a legal en passant capture; -1 for none.
    :ivar score: the value of all pieces but the kings to White.
    :ivar keys: the keys of all known earlier positions, the last one last.
    :ivar dead: whether neither side can ever mate, for lack of material.
    """

    __slots__ = (
        "_undo", "bitboards", "colors", "dead", "end_game", "ep_square", "halfmove_clock", "key", "keys", "kings",
        "rights", "score", "squares", "turn",
    )  # fmt: skip

    def __init__(self, board: chess.Board) -> None:
        """Set up a board, with those of its earlier positions that can still be repeated.

        :raises ValueError: a side has not just one king, or one that could be captured, or Chess960 castling rights.
        """
        missed = _reversible(board)
        start = board.copy(stack=len(missed))
        for _ in missed:
            start.pop()
        self._set_up(start)
        for move in missed:
            self.make(encode(move))

    def _set_up(self, board: chess.Board) -> None:
        if any(chess.popcount(board.kings & board.occupied_co[color]) != 1 for color in chess.COLORS):
            raise ValueError(f"{board.fen()!r}: each side needs one king")
        if board.was_into_check():
            raise ValueError(f"{board.fen()!r}: the side to move could take the king")
        if board.has_chess960_castling_rights():
            raise ValueError(f"{board.fen()!r}: castling that only Chess960 allows is not supported")
        self.squares, self.bitboards = [0] * 64, [0] * 13
        self.colors, self.kings, self.score = [0, 0], [0, 0], 0
        for square, piece in board.piece_map().items():
            self._put(square, piece.piece_type + OFFSET[piece.color], piece.color)
        for color in chess.COLORS:
            self.kings[color] = self.bitboards[KING + OFFSET[color]].bit_length() - 1
        rights = board.clean_castling_rights()
        corners = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
        self.rights = sum(1 << bit for bit, corner in enumerate(corners) if rights & corner)
        self.turn, self.halfmove_clock = board.turn, board.halfmove_clock
        self.ep_square = board.ep_square if board.ep_square is not None and board.has_legal_en_passant() else -1
        self.key, self.keys, self._undo = hashing.key_of(board), list[int](), list[_Undo]()
        self.end_game, self.dead = is_end_game(board), board.is_insufficient_material()

    def _put(self, square: int, piece: int, color: chess.Color) -> None:
        self.squares[square] = piece
        self.bitboards[piece] |= BB_SQUARES[square]
        self.colors[color] |= BB_SQUARES[square]
        self.score += _WORTH[piece][square]

    def evaluate(self) -> int:
        """Return the position's value to the side to move."""
        black, white = KING_WORTH[self.end_game]
        score = self.score + black[self.kings[0]] + white[self.kings[1]]
        return score if self.turn else -score

    def in_check(self) -> bool:
        return self.attacked(self.kings[self.turn], not self.turn)

    def attacked(self, square: int, by: chess.Color) -> bool:
        """Return whether a side attacks a square."""
        bitboards, offset = self.bitboards, OFFSET[by]
        if (
            BB_KNIGHT_ATTACKS[square] & bitboards[offset + 2]
            or BB_PAWN_ATTACKS[not by][square] & bitboards[offset + 1]
            or BB_KING_ATTACKS[square] & bitboards[offset + 6]
        ):
            return True
        queens = bitboards[offset + 5]
        straight, diagonal = bitboards[offset + 4] | queens, bitboards[offset + 3] | queens
        if BISHOP_LINES[square] & diagonal:
            occupied = self.colors[0] | self.colors[1]
            if BB_DIAG_ATTACKS[square][BB_DIAG_MASKS[square] & occupied] & diagonal:
                return True
        if ROOK_LINES[square] & straight:
            occupied = self.colors[0] | self.colors[1]
            return bool(
                BB_RANK_ATTACKS[square][BB_RANK_MASKS[square] & occupied] & straight
                or BB_FILE_ATTACKS[square][BB_FILE_MASKS[square] & occupied] & straight
            )
        return False

    def make_legal(self, move: int, in_check: bool) -> bool:
        """Make a pseudo-legal move; take it back if it leaves its own king in check.

        :param in_check: whether the side to move is in check; True where that is not known.
        :returns: whether the move was legal.
        """
        turn = self.turn
        risky = in_check or _GUARDED[self.kings[turn]] >> (move & 63) & 1 or move >> 6 & 63 == self.ep_square
        self.make(move)
        if risky and self.attacked(self.kings[turn], not turn):
            self.unmake()
            return False
        return True

    def make(self, move: int) -> None:
        """Make a pseudo-legal move, which may leave its own king in check."""
        source, target, promotion = move & 63, move >> 6 & 63, move >> 12
        squares, bitboards, colors, turn = self.squares, self.bitboards, self.colors, self.turn
        piece, taken, key, score = squares[source], squares[target], self.key, self.score
        self._undo.append(
            (move, taken, key, score, self.rights, self.ep_square, self.halfmove_clock, self.end_game, self.dead)
        )
        self.keys.append(key)
        both = BB_SQUARES[source] | BB_SQUARES[target]
        squares[source], squares[target] = 0, piece
        bitboards[piece] ^= both
        colors[turn] ^= both
        key ^= _KEYS[piece][source] ^ _KEYS[piece][target] ^ hashing.TURN
        score += _WORTH[piece][target] - _WORTH[piece][source]
        if taken:
            bitboards[taken] ^= BB_SQUARES[target]
            colors[not turn] ^= BB_SQUARES[target]
            key ^= _KEYS[taken][target]
            score -= _WORTH[taken][target]
        ep_square, self.ep_square = self.ep_square, -1
        if ep_square >= 0:
            key ^= hashing.EN_PASSANT[ep_square & 7]
        if self.rights and (rights := self.rights & _RIGHTS_KEPT[source] & _RIGHTS_KEPT[target]) != self.rights:
            key ^= hashing.RIGHTS[self.rights] ^ hashing.RIGHTS[rights]
            self.rights = rights
        self.turn, self.key, self.score = not turn, key, score
        self.halfmove_clock = 0 if taken or piece in (WHITE_PAWN, BLACK_PAWN) else self.halfmove_clock + 1
        if piece in (WHITE_PAWN, BLACK_PAWN):
            self._finish_pawn(source, target, promotion, ep_square)
        elif piece in (WHITE_KING, BLACK_KING):
            self.kings[turn] = target
            if abs(source - target) == 2:
                self._hop(*_ROOK_HOPS[target], turn)
        if taken or promotion:
            self._judge_material()

    def _finish_pawn(self, source: int, target: int, promotion: int, ep_square: int) -> None:
        """Complete a pawn's special move, after the turn has changed."""
        if promotion:
            self._exchange(target, self.squares[target], promotion + OFFSET[not self.turn])
        elif target == ep_square:
            self._take_in_passing(target ^ 8)
        elif abs(source - target) == 16:
            self._offer_en_passant(source + target >> 1)

    def _exchange(self, square: int, old: int, new: int) -> None:
        """Replace one piece by another of its colour."""
        self.squares[square] = new
        self.bitboards[old] ^= BB_SQUARES[square]
        self.bitboards[new] ^= BB_SQUARES[square]
        self.key ^= _KEYS[old][square] ^ _KEYS[new][square]
        self.score += _WORTH[new][square] - _WORTH[old][square]

    def _take_in_passing(self, square: int) -> None:
        pawn = self.squares[square]
        self.squares[square] = 0
        self.bitboards[pawn] ^= BB_SQUARES[square]
        self.colors[self.turn] ^= BB_SQUARES[square]
        self.key ^= _KEYS[pawn][square]
        self.score -= _WORTH[pawn][square]
        self._judge_material()

    def _offer_en_passant(self, square: int) -> None:
        """Set the en passant square if the opponent has a legal capture there."""
        takers = BB_PAWN_ATTACKS[not self.turn][square] & self.bitboards[PAWN + OFFSET[self.turn]]
        color = self.turn
        while takers and self.ep_square < 0:
            source = takers.bit_length() - 1
            takers ^= BB_SQUARES[source]
            self.ep_square = square
            self.make(source | square << 6)
            legal = not self.attacked(self.kings[color], not color)
            self.unmake()
            if not legal:
                self.ep_square = -1
        if self.ep_square >= 0:
            self.key ^= hashing.EN_PASSANT[square & 7]

    def _hop(self, source: int, target: int, color: chess.Color) -> None:
        """Move the rook of a castling king."""
        rook, both = ROOK + OFFSET[color], BB_SQUARES[source] | BB_SQUARES[target]
        self.squares[source], self.squares[target] = 0, rook
        self.bitboards[rook] ^= both
        self.colors[color] ^= both
        self.key ^= _KEYS[rook][source] ^ _KEYS[rook][target]
        self.score += _WORTH[rook][target] - _WORTH[rook][source]

    def _judge_material(self) -> None:
        """Update whether this is an end game, and whether it is dead by python-chess's rule."""
        _, pawns, knights, bishops, rooks, queens, _, *black = self.bitboards
        black_pawns, black_knights, black_bishops, black_rooks, black_queens, _ = black
        self.end_game = not (
            (queens and (rooks or queens & queens - 1 or (knights | bishops).bit_count() > 1))
            or (
                black_queens
                and (black_rooks or black_queens & black_queens - 1 or (black_knights | black_bishops).bit_count() > 1)
            )
        )
        if pawns or black_pawns or rooks or black_rooks or queens or black_queens:
            self.dead = False
        elif knights or black_knights:
            self.dead = (self.colors[0] | self.colors[1]).bit_count() <= 3
        else:
            on = bishops | black_bishops
            self.dead = not on & chess.BB_LIGHT_SQUARES or not on & chess.BB_DARK_SQUARES

    def unmake(self) -> None:
        """Take back the last move."""
        (move, taken, self.key, self.score, self.rights, self.ep_square, self.halfmove_clock, self.end_game,
         self.dead) = self._undo.pop()  # fmt: skip
        self.keys.pop()
        source, target = move & 63, move >> 6 & 63
        squares, bitboards, colors = self.squares, self.bitboards, self.colors
        turn = self.turn = not self.turn
        piece = squares[target]
        if move >> 12:
            bitboards[piece] ^= BB_SQUARES[target]
            piece = PAWN + OFFSET[turn]
            bitboards[piece] ^= BB_SQUARES[target]
        both = BB_SQUARES[source] | BB_SQUARES[target]
        squares[source], squares[target] = piece, taken
        bitboards[piece] ^= both
        colors[turn] ^= both
        if taken:
            bitboards[taken] ^= BB_SQUARES[target]
            colors[not turn] ^= BB_SQUARES[target]
        elif target == self.ep_square and piece in (WHITE_PAWN, BLACK_PAWN):
            pawn, square = PAWN + OFFSET[not turn], target ^ 8
            squares[square] = pawn
            bitboards[pawn] ^= BB_SQUARES[square]
            colors[not turn] ^= BB_SQUARES[square]
        if piece in (WHITE_KING, BLACK_KING):
            self.kings[turn] = source
            if abs(source - target) == 2:
                self._hop_back(*_ROOK_HOPS[target], turn)

    def _hop_back(self, source: int, target: int, color: chess.Color) -> None:
        """Move the rook back; score and key are already restored."""
        rook, both = ROOK + OFFSET[color], BB_SQUARES[source] | BB_SQUARES[target]
        self.squares[source], self.squares[target] = rook, 0
        self.bitboards[rook] ^= both
        self.colors[color] ^= both

    @property
    def made(self) -> int:
        """The number of moves that can be taken back."""
        return len(self._undo)

    def repeats(self, ply: int) -> bool:
        """Return whether the position draws by repetition: it occurred since the root of a search, or twice before.

        A side that reaches a position of the search again could reach it a third time.

        :param ply: how many moves have been made since the root.
        """
        reach = self.halfmove_clock
        if reach < 4:
            return False
        earlier = self.keys[-reach:]
        if self.key not in earlier:
            return False
        return (ply > 0 and self.key in earlier[-ply:]) or earlier.count(self.key) >= 2


def _reversible(board: chess.Board) -> list[Move]:
    """Return the moves after the last irreversible one, and after the last null move."""
    moves = board.move_stack[max(0, len(board.move_stack) - board.halfmove_clock) :]
    passes = [number for number, move in enumerate(moves) if not move]
    return moves[passes[-1] + 1 :] if passes else moves
