"""The JSON forms that reconchess uses for squares, moves, pieces and endings, and conversions from the protocol's."""

from __future__ import annotations

from typing import Annotated, Literal, cast, get_args

import chess
from msgspec import Meta, Struct

from gm_protocol.endings import Ending
from gm_protocol.state import SenseResult
from gmd.games.rbc_record import reason_of

#: The version of reconchess that this server reports; ``rc-connect`` refuses to play if its own differs.
COMPATIBLE = "1.6.9"

#: a1 is 0, b1 is 1, h8 is 63. (litestar leaves a minimum of 0 out of the OpenAPI document.)
Square = Annotated[int, Meta(gt=-1, le=63, description="A square: a1 is 0, b1 is 1, h8 is 63.")]

PieceSymbol = Literal["P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"]
WinReasonName = Literal["KING_CAPTURE", "TIMEOUT", "RESIGN", "TURN_LIMIT", "MOVE_LIMIT"]


class Piece(Struct, frozen=True):
    """``value`` is the piece's letter, White's in capitals."""

    value: PieceSymbol
    type: Literal["Piece"] = "Piece"


class Move(Struct, frozen=True):
    """``value`` is UCI: e2e4, or e7e8q."""

    value: str
    type: Literal["Move"] = "Move"


class Board(Struct, frozen=True):
    """``value`` is a FEN."""

    value: str
    type: Literal["Board"] = "Board"


class WinReason(Struct, frozen=True):
    """Why a game ended; draws have a reason, too."""

    value: WinReasonName
    type: Literal["WinReason"] = "WinReason"


#: A square, and the piece on it.
Sensed = tuple[int, Piece | None]


def sensed(result: SenseResult) -> list[Sensed]:
    """Return a sense result in reconchess's form."""
    return [(chess.parse_square(name), _PIECES[code]) for name, code in result]


def move(uci: str | None) -> Move | None:
    """Return a move in reconchess's form, or None."""
    return None if uci is None else Move(uci)


def square(name: str | None) -> int | None:
    """Return a square's number, or None."""
    return None if name is None else chess.parse_square(name)


#: Pieces by the protocol's codes for them.
_PIECES: dict[str | None, Piece | None] = {None: None}
for _symbol in cast(tuple[PieceSymbol, ...], get_args(PieceSymbol)):
    _PIECES[f"{'w' if _symbol.isupper() else 'b'}{_symbol.upper().replace('P', 'p')}"] = Piece(_symbol)


def win_reason(ending: Ending | None) -> WinReason | None:
    """Return why a game of RBC ended; None where it was called off before it began.

    :raises ValueError: no game of RBC ends so.
    """
    if ending is None or ending.called_off:
        return None
    return WinReason(cast(WinReasonName, reason_of(ending.cause).name))
