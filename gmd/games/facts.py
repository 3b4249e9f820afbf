"""Everything a position alone decides, computed once and shared by every game that reaches it.

:func:`facts_of` is a pure function with a memory: a bounded cache, as the original server kept one tree of positions
for all its games. What goes on the wire is kept as encoded JSON.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from typing import NamedTuple

import chess
from chess import Board, Move
from chess.variant import CrazyhouseBoard
from msgspec import Raw

from gm_protocol.state import BLACK_KINGSIDE, BLACK_QUEENSIDE, WHITE_KINGSIDE, WHITE_QUEENSIDE, Pockets

from .access import access
from .moves import find_move, san_stem
from .position import Position, pack, unpack

#: Positions kept after their second sighting: about 100 MB at some 6 KB each.
KEPT_POSITIONS = 16_384
#: Positions seen once that stay at hand: enough for a few hundred games to find theirs again for the other player.
RECENT_POSITIONS = 512
#: How many once-seen positions are remembered (by their key alone) so that a second sighting is known as one.
REMEMBERED_POSITIONS = 65_536
#: Bound of each table of JSON fragments.
MAX_FRAGMENTS = 65_536


class Played(NamedTuple):
    """A legal move and what comes of it."""

    uci: str
    san: str
    position: Position
    #: Whether it resets the half-move clock: a capture or a pawn's move.
    zeroing: bool


class Facts:
    """What a position says about itself."""

    __slots__ = (
        "_actions",
        "_played",
        "access_json",
        "board_json",
        "can_move",
        "castles",
        "check",
        "fen_stem",
        "passant_file",
        "pockets",
        "position",
        "sources",
        "turn",
    )

    def __init__(self, position: Position, board: Board) -> None:
        self.position = position
        self.turn = board.turn
        #: See :class:`gmd.games.access.Access`.
        self.sources, self.check, self.can_move = access(board)
        if not self.can_move and isinstance(board, CrazyhouseBoard):
            self.can_move = any(board.generate_legal_drops())
        ranks = [_RANKS[position[rank:64:8]] for rank in range(8)]
        #: The wire's ``board`` and ``access_map``.
        self.board_json = Raw(b"[%b]" % b",".join([json for _, json in ranks]))
        self.access_json = Raw(_access_json(self.sources))
        #: The first four FEN fields.
        self.fen_stem = _fen_stem(board, "/".join([fen for fen, _ in reversed(ranks)]))
        self.castles = _castles(board)
        self.passant_file = -1 if board.ep_square is None else board.ep_square & 7
        self.pockets = _pockets(board)
        self._actions: list[str] | None = None
        self._played: dict[str, Played] = {}

    @property
    def checkmate(self) -> bool:
        """The side to move is in check and has no legal move."""
        return self.check and not self.can_move

    @property
    def stalemate(self) -> bool:
        """The side to move is not in check and has no legal move."""
        return not self.check and not self.can_move

    @property
    def actions(self) -> list[str]:
        """All legal moves in UCI."""
        if self._actions is None:
            board = unpack(self.position)
            self._actions = [board.uci(move) for move in board.legal_moves]
        return self._actions

    def play(self, text: str) -> Played:
        """Play a move given in SAN or UCI.

        :raises IllegalMove: the text means no legal move.
        :raises AmbiguousMove: it means several.
        """
        played = self._played.get(text)
        if played is None:
            move = find_move(self.position, self.sources, text)
            played = self._played.get(move.uci()) or self._push(move)
            # A move has ever more spellings that a client might send: keep two.
            self._played[played.uci] = played
            if text == played.san:
                self._played[text] = played
        return played

    def _push(self, move: Move) -> Played:
        board = unpack(self.position)
        zeroing = board.is_zeroing(move)
        stem = san_stem(self.position, self.sources, move)
        board.push(move)
        board.clear_stack()
        position = pack(board)
        after = facts_of(position, board)
        sign = ("+" if after.can_move else "#") if after.check else ""
        return Played(move.uci(), stem + sign, position, zeroing)


class _Cache:
    """Facts by position. One seen for the first time is kept for a while only; one seen again, for long.

    Storing every position for long would fill memory with positions nobody reaches twice, and cost each of them more.
    """

    def __init__(self) -> None:
        self.kept: OrderedDict[Position, Facts] = OrderedDict()
        self.recent: OrderedDict[Position, Facts] = OrderedDict()
        self.seen: set[int] = set()

    def get(self, position: Position) -> Facts | None:
        facts = self.kept.get(position)
        if facts is not None:
            self.kept.move_to_end(position)
            return facts
        return self.recent.get(position)

    def put(self, facts: Facts) -> None:
        position = facts.position
        mark = hash(position)
        if mark in self.seen:
            _bound(self.kept, KEPT_POSITIONS)
            self.kept[position] = facts
            return
        if len(self.seen) >= REMEMBERED_POSITIONS:
            self.seen.clear()
        self.seen.add(mark)
        _bound(self.recent, RECENT_POSITIONS)
        self.recent[position] = facts


def _bound(entries: OrderedDict[Position, Facts], size: int) -> None:
    if len(entries) >= size:
        entries.popitem(last=False)


_cache = _Cache()


def facts_of(position: Position, board: Board | None = None) -> Facts:
    """The facts of a position, from the cache or computed.

    :param board: the position as a board, where the caller has one already.
    """
    facts = _cache.get(position)
    if facts is None:
        facts = Facts(position, board if board is not None else unpack(position))
        _cache.put(facts)
    return facts


class _RankFragments(dict[bytes, tuple[str, bytes]]):
    """One rank's FEN and JSON by its eight bitboard bytes (see :mod:`gmd.games.position`)."""

    def __missing__(self, rank: bytes) -> tuple[str, bytes]:
        board = Board(None)
        pieces, white, promoted = rank[:6], rank[6], rank[7]
        cells = []
        for file in range(8):
            kind = next((kind for kind, squares in enumerate(pieces, 1) if squares >> file & 1), None)
            if kind is None:
                cells.append(b"null")
                continue
            color = bool(white >> file & 1)
            board.set_piece_at(file, chess.Piece(kind, color), promoted=bool(promoted >> file & 1))
            symbol = "p" if kind == chess.PAWN else chess.piece_symbol(kind).upper()
            cells.append(b'"%b%b"' % (b"w" if color else b"b", symbol.encode()))
        fen = board.board_fen(promoted=True).rsplit("/", 1)[1]
        if len(self) >= MAX_FRAGMENTS:
            self.clear()
        entry = self[rank] = (fen, b"[%b]" % b",".join(cells))
        return entry


class _SquareLists(dict[int, bytes]):
    """A set of squares as a JSON list of [rank, file] pairs, ascending."""

    def __missing__(self, squares: int) -> bytes:
        pairs = [b"[%d,%d]" % (square >> 3, square & 7) for square in chess.scan_forward(squares)]
        if len(self) >= MAX_FRAGMENTS:
            self.clear()
        entry = self[squares] = b"[%b]" % b",".join(pairs)
        return entry


_LANES = struct.Struct("<64Q")
_RANKS = _RankFragments()
_SQUARE_LISTS = _SquareLists()


def _access_json(sources: bytes) -> bytes:
    lists = list(map(_SQUARE_LISTS.__getitem__, _LANES.unpack(sources)))
    return b"[[%b]]" % b"],[".join([b",".join(lists[first : first + 8]) for first in range(0, 64, 8)])


def _fen_stem(board: Board, placement: str) -> str:
    if isinstance(board, CrazyhouseBoard):
        placement += f"[{str(board.pockets[chess.WHITE]).upper()}{board.pockets[chess.BLACK]}]"
    castling = "-"
    if board.castling_rights:
        castling = board.castling_shredder_fen() if board.chess960 else board.castling_xfen()
    passant = "-" if board.ep_square is None else chess.SQUARE_NAMES[board.ep_square]
    return f"{placement} {'w' if board.turn else 'b'} {castling} {passant}"


def _castles(board: Board) -> int:
    if not board.castling_rights:
        return 0
    return (
        WHITE_KINGSIDE * board.has_kingside_castling_rights(chess.WHITE)
        | WHITE_QUEENSIDE * board.has_queenside_castling_rights(chess.WHITE)
        | BLACK_KINGSIDE * board.has_kingside_castling_rights(chess.BLACK)
        | BLACK_QUEENSIDE * board.has_queenside_castling_rights(chess.BLACK)
    )


def _pockets(board: Board) -> Pockets | None:
    if not isinstance(board, CrazyhouseBoard):
        return None
    white, black = board.pockets[chess.WHITE], board.pockets[chess.BLACK]
    return Pockets(white=str(white).upper(), black=str(black))
