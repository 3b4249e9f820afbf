"""FEN and JSON of positions, made from fragments that positions share: boards, lists of squares, castling rights."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import lru_cache

import chess
from chess import Bitboard
from msgspec import Struct

from gm_protocol.state import BLACK_KINGSIDE, BLACK_QUEENSIDE, WHITE_KINGSIDE, WHITE_QUEENSIDE

from .position import Change

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
