"""The facts that follow from a position alone, computed once and shared by every game that reaches it.

:func:`facts_of` is a pure function with a bounded cache, as the original server kept one tree of positions for all its
games. The fields that go on the wire are stored as encoded JSON, made of fragments that positions share.

The cache is for games of open information. A cached position is answered sooner, so a position that is hidden from
somebody must never enter the cache: :func:`hidden_facts` is for those.
"""

from __future__ import annotations

import re
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import cast

import chess
from chess import BB_SQUARES, Bitboard, Board
from chess.variant import CrazyhouseBoard
from msgspec import Raw, Struct

from gm_protocol.state import (
    BLACK_KINGSIDE,
    BLACK_QUEENSIDE,
    WHITE_KINGSIDE,
    WHITE_QUEENSIDE,
    AccessMap,
    BoardRows,
    Pockets,
)
from gmd.games.access import access
from gmd.games.moves import Found, find_move, movers_in, san_stem
from gmd.games.position import Change, Position, advance, contents, pack, unpack

#: Entries of a cache before it is cleared (entries in use come back at once): some 10 MB.
MAX_FRAGMENTS = 65_536


class Placement(Struct, frozen=True, gc=False):
    """The pieces on a board as two texts, in which each square has fixed bytes: a move changes only a few."""

    #: FEN's first field with a "1" for every empty square; a promoted piece's two characters are one byte above 127.
    fen: bytes
    #: The wire's ``board``: its ``null`` is as long as its ``"wp"``.
    json: bytes


_NO_PIECES = Placement(b"/".join([b"1" * 8] * 8), b"[%b]" % b",".join([b"[%b]" % b",".join([b"null"] * 8)] * 8))

#: The offset of a square's bytes in each text.
_IN_FEN = [9 * (7 - (square >> 3)) + (square & 7) for square in chess.SQUARES]
_IN_JSON = [2 + 42 * (square >> 3) + 5 * (square & 7) for square in chess.SQUARES]

#: The text of a square's content in each text, indexed by :func:`gmd.games.position.content`; a promoted piece's FEN
#: letter has its highest bit set until :func:`fen_of`.
_JSON_NAMES = [b"null", *(b'"b%c"' % piece for piece in b"pNBRQK"), b""]
_JSON_NAMES += [name.replace(b'"b', b'"w') for name in _JSON_NAMES]
_JSON_NAMES *= 2
_FEN_LETTERS = list(b"1pnbrqk 1PNBRQK ")
_FEN_LETTERS += [letter | 128 for letter in _FEN_LETTERS]
_PROMOTED = {ord(letter) | 128: f"{letter}~" for letter in "nbrqNBRQ"}


def placement(changes: Iterable[Change], before: Placement = _NO_PIECES) -> Placement:
    """Return the pieces on a board after some changes; without ``before``, on an empty board."""
    fen, json = bytearray(before.fen), bytearray(before.json)
    for square, content in changes:
        fen[_IN_FEN[square]] = _FEN_LETTERS[content]
        begin = _IN_JSON[square]
        json[begin : begin + 4] = _JSON_NAMES[content]
    return Placement(bytes(fen), bytes(json))


def fen_of(placed: Placement) -> str:
    """Return FEN's first field, without pockets."""
    fen = placed.fen.decode("latin-1").replace("11111111", "8").replace("1111111", "7").replace("111111", "6")
    fen = fen.replace("11111", "5").replace("1111", "4").replace("111", "3").replace("11", "2")
    return fen if fen.isascii() else fen.translate(_PROMOTED)


#: A square as the wire's ``access_map`` has it.
PAIRS = [f"[{square >> 3},{square & 7}]" for square in chess.SQUARES]


class SquareLists(dict[Bitboard, str]):
    """A cache of square sets as JSON: [rank, file] pairs, ascending, without the enclosing brackets."""

    def __missing__(self, squares: Bitboard) -> str:
        pairs = ""
        if squares:
            last = squares.bit_length() - 1
            others = self[squares ^ 1 << last]
            pairs = f"{others},{PAIRS[last]}" if others else PAIRS[last]
        if len(self) >= MAX_FRAGMENTS:
            self.clear()
        self[squares] = pairs
        return pairs


#: The shared cache, for positions that everybody may see; a hidden position gets a fresh one.
OPEN_LISTS = SquareLists()
#: An access map's JSON in parts: every second part, a "*" here, is a square's list.
_ACCESS_MAP = re.split(r"(\*)", f"[[{'],['.join([','.join(['[*]'] * 8)] * 8)}]]")
_UNPACK_LANES = struct.Struct("<64Q").unpack


def access_json(sources: bytes, lists: SquareLists = OPEN_LISTS) -> str:
    """Return the wire's ``access_map`` as JSON, from :attr:`gmd.games.access.Access.sources`.

    :param lists: the cache of square lists.

    The parts are joined, because a join allocates once and ``%`` again and again while three kilobytes grow. They are
    text, because joining bytes takes half as long again.
    """
    return access_json_of(map(lists.__getitem__, _UNPACK_LANES(sources)))


def access_json_of(lists: Iterable[str]) -> str:
    """Return the wire's ``access_map`` as JSON, from each square's list, a1's first."""
    parts = _ACCESS_MAP.copy()
    parts[1::2] = lists
    return "".join(parts)


def castling(rooks: Bitboard, white_king: Bitboard, black_king: Bitboard, shredder: bool) -> tuple[str, int]:
    """Return castling rights as FEN's third field and as the bits of ``available_castles``.

    :param rooks: the rooks that may still castle.
    :param shredder: name the rooks' files (Chess960) rather than the sides.
    """
    fen, bits = "", 0
    sides = (
        (chess.BB_RANK_1, white_king, (WHITE_KINGSIDE, WHITE_QUEENSIDE), "KQ"),
        (chess.BB_RANK_8, black_king, (BLACK_KINGSIDE, BLACK_QUEENSIDE), "kq"),
    )
    for rank, king, side_bits, letters in sides:
        for rook in chess.scan_reversed(rooks & rank):
            queenside = 1 << rook < king
            bits |= side_bits[queenside]
            file = chess.FILE_NAMES[rook & 7]
            fen += (file.upper() if letters == "KQ" else file) if shredder else letters[queenside]
    return fen or "-", bits


#: :func:`castling` with a shared cache, for positions that everybody may see.
kept_castling = lru_cache(MAX_FRAGMENTS)(castling)

#: Positions kept after their second sighting: some 50 MB, or 100 where clients ask for all their legal moves.
KEPT_POSITIONS = 16_384
#: Positions kept after one sighting: enough for a few hundred games to find theirs again for the other player. A game
#: in progress keeps two of them, so that a few games use the same little memory again and again, which is quicker.
RECENT_POSITIONS = 256
#: Hashes of positions seen once that are kept, so that a second sighting is recognized.
REMEMBERED_POSITIONS = 65_536


# These give encoded JSON the type of the reply's field; msgspec copies it into the reply.
_as_rows = cast(Callable[[bytes], BoardRows], Raw)
_as_map = cast(Callable[[str], AccessMap], Raw)


class Played(Struct, frozen=True, gc=False):
    """A legal move and its effects."""

    uci: str
    san: str
    #: The move, by :func:`~gmd.games.moves.encode_move`.
    code: int
    position: Position
    #: Whether the side to move has a legal move after it.
    goes_on: bool
    #: Whether it resets the half-move clock: a capture or pawn move does, a drop does not.
    zeroing: bool


#: A move as a game has resolved it: a blind game knows no more of it than the move itself.
Resolved = Played | chess.Move


class Facts:
    """The facts of one position."""

    __slots__ = (
        "_actions",
        "_before",
        "_board",
        "_played",
        "access_map",
        "board",
        "can_move",
        "castles",
        "check",
        "fen_stem",
        "passant_file",
        "placement",
        "pockets",
        "position",
        "sources",
        "turn",
        "used",
    )

    def __init__(
        self, position: Position, board: Board, placed: Placement | None = None, *, hidden: bool = False
    ) -> None:
        """:param board: the position; this object keeps the board, and the first move changes it.
        :param placed: its pieces, if they are known already.
        :param hidden: whether it is hidden from somebody: then no part of it enters a shared cache.
        """
        self.position = position
        self.turn = board.turn
        found = access(board)
        #: See :class:`gmd.games.access.Access`.
        self.sources, self.check = found.sources, found.check
        # In Chess960 castling can be the only move: Kf1 and Rg1 change places and have no other move.
        self.can_move = found.can_move or any(board.generate_castling_moves())
        self.placement = placed or placement(contents(board, board.occupied))
        fen = fen_of(self.placement)
        rights, self.castles = "-", 0
        if board.castling_rights:
            white, kings = board.occupied_co[chess.WHITE], board.kings
            rights_of = castling if hidden else kept_castling
            rights, self.castles = rights_of(board.castling_rights, kings & white, kings & ~white, board.chess960)
        passant, self.passant_file = "-", -1
        if board.ep_square is not None:
            passant, self.passant_file = chess.SQUARE_NAMES[board.ep_square], board.ep_square & 7
        self.pockets: Pockets | None = None
        if isinstance(board, CrazyhouseBoard):
            self.can_move = self.can_move or any(board.generate_legal_drops())
            hands = board.pockets
            self.pockets = Pockets(white=str(hands[chess.WHITE]).upper(), black=str(hands[chess.BLACK]))
            fen += f"[{self.pockets.white}{self.pockets.black}]"
        #: The first four FEN fields.
        self.fen_stem = f"{fen} {'w' if board.turn else 'b'} {rights} {passant}"
        #: The wire's ``board`` and ``access_map``.
        self.board = _as_rows(self.placement.json)
        self.access_map = _as_map(access_json(self.sources, SquareLists() if hidden else OPEN_LISTS))
        #: Whether it was used since the cache last considered evicting it.
        self.used = False
        #: The position as a board, on which the first move is made.
        self._board: Board | None = board
        self._actions: list[str] | None = None
        #: The position from which it was first reached: unlikely to be used again once the game has moved on.
        self._before: Position | None = None
        self._played: dict[str, Played] = {}

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
            board = self._board or unpack(self.position)
            found = find_move(board, movers_in(board, self.sources), text)
            uci = found.known.uci
            played = self._played.get(uci)
            if played is None:
                self._board = None
                played = self._played[uci] = self._push(board, found)
            if text == played.san:  # other spellings are not cached: there is no limit to their number
                self._played[text] = played
        return played

    def _push(self, board: Board, found: Found) -> Played:
        known, piece_type = found.known, found.piece_type
        move = known.move
        captures = board.occupied_co[not self.turn] & BB_SQUARES[move.to_square] != 0
        stem = san_stem(board, found)
        changes = advance(board, move, piece_type)
        position = pack(board)
        if position in _kept or position in _recent:
            after = facts_of(position)
        else:
            after = _store(Facts(position, board, placement(changes, self.placement)))
            after._before = self.position
            if self._before is not None:
                _recent.pop(self._before, None)
        sign = ("+" if after.can_move else "#") if after.check else ""
        zeroing = captures or piece_type == chess.PAWN
        return Played(known.uci, stem + sign, known.code, position, after.can_move, zeroing)


# Facts by position. A position seen once stays for a short time; one seen again stays for as long as it is used.
# Keeping every position longer would fill memory with positions that are reached only once, and cost each of them more.
_kept: OrderedDict[Position, Facts] = OrderedDict()
_recent: dict[Position, Facts] = {}
_seen: set[int] = set()


def facts_of(position: Position) -> Facts:
    """Return the facts of a position, from the cache or computed."""
    facts = _kept.get(position)
    if facts is not None:
        facts.used = True
        return facts
    return _recent.get(position) or _store(Facts(position, unpack(position)))


def hidden_facts(position: Position) -> Facts:
    """Return the facts of a position that is hidden from somebody, without reading or filling the cache."""
    return Facts(position, unpack(position), hidden=True)


def _store(facts: Facts) -> Facts:
    position = facts.position
    mark = hash(position)
    if mark in _seen:
        _kept[position] = facts
        if len(_kept) > KEPT_POSITIONS:
            _drop_unused()
        return facts
    if len(_seen) >= REMEMBERED_POSITIONS:
        _seen.clear()
    _seen.add(mark)
    _recent[position] = facts
    if len(_recent) > RECENT_POSITIONS:
        del _recent[next(iter(_recent))]
    return facts


def _drop_unused() -> None:
    """Evict the oldest position that was not used since the last eviction looked at it; used ones stay a round more."""
    while True:
        position, facts = _kept.popitem(last=False)
        if not facts.used:
            return
        facts.used = False
        _kept[position] = facts
