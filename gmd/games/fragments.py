"""Pieces of FEN and JSON that positions share, each made once: ranks, lists of squares, castling rights.

Every table here forgets all it has when it is full: what is in use comes back at once.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TypeVar

import chess
from chess import Bitboard

from gm_protocol.state import BLACK_KINGSIDE, BLACK_QUEENSIDE, WHITE_KINGSIDE, WHITE_QUEENSIDE

from .position import Position

#: Entries a table keeps: some 10 MB each.
MAX_FRAGMENTS = 65_536

#: A set of files as eight bytes of 0 or 1, file a lowest; and what each of a rank's eight sets adds to a file's code:
#: the piece's number, 8 where it is White's, 16 where it is promoted.
_FILE_BYTES = [sum(1 << 8 * file for file in range(8) if files >> file & 1) for files in range(256)]
_WEIGHTS = (1, 2, 3, 4, 5, 6, 8, 16)
_FEN_SYMBOLS = ["", *"pnbrqk", "", "", *"PNBRQK", ""]
_FEN_SYMBOLS = [symbol or "1" for symbol in _FEN_SYMBOLS + [symbol + "~" for symbol in _FEN_SYMBOLS]]
_JSON_SYMBOLS = [b"null", *(b'"b%c"' % piece for piece in b"pNBRQK"), b"null"]
_JSON_SYMBOLS = 2 * (_JSON_SYMBOLS + [symbol.replace(b'"b', b'"w') for symbol in _JSON_SYMBOLS])
_EMPTY_RUNS = [("1" * count, str(count)) for count in range(8, 1, -1)]
_ACCESS_MAP = b"[%b]" % b",".join([b"[%b]" % b",".join([b"%b"] * 8)] * 8)
_UNPACK_LANES = struct.Struct("<64Q").unpack

_K = TypeVar("_K")
_V = TypeVar("_V")


def _keep(table: dict[_K, _V], key: _K, value: _V) -> _V:
    if len(table) >= MAX_FRAGMENTS:
        table.clear()
    table[key] = value
    return value


class _Ranks(dict[bytes, tuple[str, bytes]]):
    """One rank's FEN and JSON by its eight bitboard bytes (see :mod:`gmd.games.position`)."""

    def __missing__(self, rank: bytes) -> tuple[str, bytes]:
        codes = sum([_FILE_BYTES[squares] * weight for squares, weight in zip(rank, _WEIGHTS, strict=True) if squares])
        pieces = codes.to_bytes(8, "little")
        fen = "".join([_FEN_SYMBOLS[code] for code in pieces])
        if "11" in fen:
            for run, count in _EMPTY_RUNS:
                fen = fen.replace(run, count)
        return _keep(self, rank, (fen, b"[%b]" % b",".join([_JSON_SYMBOLS[code] for code in pieces])))


class _SquareLists(dict[Bitboard, bytes]):
    """A set of squares as a JSON list of [rank, file] pairs, ascending."""

    def __missing__(self, squares: Bitboard) -> bytes:
        pairs = [b"[%d,%d]" % (square >> 3, square & 7) for square in chess.scan_forward(squares)]
        return _keep(self, squares, b"[%b]" % b",".join(pairs))


_RANKS = _Ranks()
_SQUARE_LISTS = _SquareLists()


def placement(position: Position) -> tuple[str, bytes]:
    """A position's pieces: FEN's first field (without pockets), and the wire's ``board`` as JSON."""
    ranks = [_RANKS[position[rank:64:8]] for rank in range(8)]
    fen = "/".join([fen for fen, _ in reversed(ranks)])
    return fen, b"[%b]" % b",".join([json for _, json in ranks])


def access_json(sources: bytes) -> bytes:
    """The wire's ``access_map`` as JSON, out of :attr:`gmd.games.access.Access.sources`."""
    return _ACCESS_MAP % tuple(map(_SQUARE_LISTS.__getitem__, _UNPACK_LANES(sources)))


@lru_cache(MAX_FRAGMENTS)
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
