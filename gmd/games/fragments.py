"""FEN and JSON of positions, made of what positions share: most of a board, lists of squares, castling rights."""

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

#: Entries a table keeps until it forgets all it has (what is in use comes back at once): some 10 MB.
MAX_FRAGMENTS = 65_536


class Placement(Struct, frozen=True, gc=False):
    """The pieces on a board, as two texts where each square has a place of its own: a move changes a few bytes."""

    #: FEN's first field with a "1" for every empty square, and one byte above 127 for a promoted piece's two.
    fen: bytes
    #: The wire's ``board``: its ``null`` is as long as its ``"wp"``.
    json: bytes


_NO_PIECES = Placement(b"/".join([b"1" * 8] * 8), b"[%b]" % b",".join([b"[%b]" % b",".join([b"null"] * 8)] * 8))

#: Where a square's bytes begin, in either text.
_IN_FEN = [9 * (7 - (square >> 3)) + (square & 7) for square in chess.SQUARES]
_IN_JSON = [2 + 42 * (square >> 3) + 5 * (square & 7) for square in chess.SQUARES]

#: What stands on a square, in either text, by :func:`gmd.games.position.content`; a promoted piece's FEN letter has
#: its highest bit set until the end.
_JSON_NAMES = [b"null", *(b'"b%c"' % piece for piece in b"pNBRQK"), b""]
_JSON_NAMES += [name.replace(b'"b', b'"w') for name in _JSON_NAMES]
_JSON_NAMES *= 2
_FEN_LETTERS = list(b"1pnbrqk 1PNBRQK ")
_FEN_LETTERS += [letter | 128 for letter in _FEN_LETTERS]
_PROMOTED = {ord(letter) | 128: f"{letter}~" for letter in "nbrqNBRQ"}


def placement(changes: Iterable[Change], before: Placement = _NO_PIECES) -> Placement:
    """The pieces on a board after some changes to one, or to an empty one."""
    fen, json = bytearray(before.fen), bytearray(before.json)
    for square, content in changes:
        fen[_IN_FEN[square]] = _FEN_LETTERS[content]
        begin = _IN_JSON[square]
        json[begin : begin + 4] = _JSON_NAMES[content]
    return Placement(bytes(fen), bytes(json))


def fen_of(placed: Placement) -> str:
    """FEN's first field, without pockets."""
    fen = placed.fen.decode("latin-1").replace("11111111", "8").replace("1111111", "7").replace("111111", "6")
    fen = fen.replace("11111", "5").replace("1111", "4").replace("111", "3").replace("11", "2")
    return fen if fen.isascii() else fen.translate(_PROMOTED)


#: A square as the wire's ``access_map`` has it.
PAIRS = [f"[{square >> 3},{square & 7}]" for square in chess.SQUARES]


class SquareLists(dict[Bitboard, str]):
    """A set of squares as JSON: its [rank, file] pairs, ascending, without the brackets around them."""

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


#: The lists of what everybody may see: those of a position that hides something are made apart from them.
OPEN_LISTS = SquareLists()
#: An access map's JSON in parts: every other one, a "*" here, is a square's list.
_ACCESS_MAP = re.split(r"(\*)", f"[[{'],['.join([','.join(['[*]'] * 8)] * 8)}]]")
_UNPACK_LANES = struct.Struct("<64Q").unpack


def access_json(sources: bytes, lists: SquareLists = OPEN_LISTS) -> str:
    """The wire's ``access_map`` as JSON, out of :attr:`gmd.games.access.Access.sources`.

    :param lists: where the lists of squares come from, and are kept.

    Joined, for that asks for the memory once; ``%`` asks again and again while three kilobytes grow. As text: to
    join bytes takes half as long again.
    """
    return access_json_of(map(lists.__getitem__, _UNPACK_LANES(sources)))


def access_json_of(lists: Iterable[str]) -> str:
    """The wire's ``access_map`` as JSON, out of each square's list, a1's first."""
    services = _ACCESS_MAP.copy()
    services[1::2] = lists
    return "".join(services)


def castling(rooks: Bitboard, white_king: Bitboard, black_king: Bitboard, shredder: bool) -> tuple[str, int]:
    """Castling rights as FEN's third field and as the bits of ``available_castles``.

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


#: :func:`castling` of what everybody may see.
kept_castling = lru_cache(MAX_FRAGMENTS)(castling)
