"""The game state that clients are shown, field for field as ``PROTOCOL`` describes it."""

from __future__ import annotations

from typing import Annotated, Literal, overload

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import PlayerId
from .endings import Result, Termination

#: A side of the board, by name. Code that does not handle messages uses python-chess's bool.
Color = Literal["white", "black"]

#: The names of the sides by that bool: ``COLOR_NAMES[chess.WHITE]`` is "white".
COLOR_NAMES: tuple[Color, Color] = ("black", "white")


@overload
def side_of(name: Color) -> bool: ...
@overload
def side_of(name: Color | None) -> bool | None: ...
def side_of(name: Color | None) -> bool | None:
    """Return the side of a name; None for None."""
    return None if name is None else name == "white"


#: A seat's phase: "open" while a seat is not taken; in chess always "move" while the game is live; in rbc and
#: dark_chess hidden from the side that is not to move.
Phase = Literal["open", "sense", "move", "over"]

#: Bits of ``available_castles``.
WHITE_KINGSIDE, WHITE_QUEENSIDE, BLACK_KINGSIDE, BLACK_QUEENSIDE = 0x01, 0x02, 0x04, 0x08

#: Bits of ``draws``.
FIFTY_MOVES, THREEFOLD = 0x01, 0x02

#: A piece on the board: the side, and the letter of SAN; a pawn is "p".
Piece = Annotated[str, Meta(extra_json_schema={"enum": [side + kind for side in "wb" for kind in "pNBRQK"]})]

#: ``board[rank][file]``: rank 1 first, file a first; None for an empty square, else "wp", "wR", "bK" and so on.
BoardRows = Annotated[
    list[list[Piece | None]], Meta(description="Rank 1 is first, in it file a; null: an empty square.")
]

#: ``access_map[rank][file]``: the (rank, file) of every piece of either colour that could move there, ascending.
AccessMap = Annotated[
    list[list[list[tuple[int, int]]]],
    Meta(description="For each square, the pieces that could move there."),
]


#: The result of a sense: squares by name with their pieces, from the top left of the window.
SenseResult = list[tuple[str, Piece | None]]


class ClockState(Struct, frozen=True):
    """The seconds that each side has left; null where hidden. The clock of the side to move runs on from this value."""

    white: float | None  #: Seconds left; null: hidden.
    black: float | None  #: Seconds left; null: hidden.


class Pockets(Struct, frozen=True):
    """The pieces that each side has in hand in crazyhouse, most valuable first (White's in capitals)."""

    white: str  #: As "QNP".
    black: str  #: As "qnp".


class LastSense(Struct, frozen=True, gc=False):
    """A seat's latest sense: its ply, its square (null: none), and its result."""

    ply: int  #: The ply_index it was made at.
    square: str | None  #: Its centre; null: nothing.
    sense_result: SenseResult  #: The squares sensed, and what stands there.


class LastResult(Struct, frozen=True, gc=False):
    """A seat's latest move: its ply, the requested move, the one taken (null: none), and where it captured."""

    ply: int  #: The ply_index it was made at.
    requested_move: str | None  #: The move as sent; null: a pass.
    taken_move: str | None  #: The move made; null: nothing moved.
    capture_square: str | None  #: Where it captured.


class GameState(Struct, kw_only=True, frozen=True, gc=False):
    """A game as one viewer may see it. The first ten fields are those of version 1.

    ``board``, ``access_map`` and ``pgn`` are left out of the replies to brief requests. Only crazyhouse has
    ``pockets``, only rbc the three fields after it, and only dark_chess ``visible``.
    """

    board: BoardRows | UnsetType = UNSET
    available_castles: int  #: Bits: 1, 2 White's king's, queen's side; 4, 8 Black's.
    passant_file: int  #: File, 0 to 7, of legal en passant; else -1.
    access_map: AccessMap | UnsetType = UNSET
    ply_index: int  #: Plies played; rbc: turns played.
    pgn: str | UnsetType | None = UNSET  #: The moves in PGN, without headers; null: hidden.
    fen: str  #: The position in FEN.
    draws: int  #: Bits of draws that can be taken: 1 fifty moves, 2 threefold.
    termination: Termination  #: How the game stands.
    in_check: bool  #: Whether the side to move is in check.

    game_id: int  #: The game.
    variant: str  #: Its variant.
    player_white: PlayerId | None  #: The player; null: an open seat.
    player_black: PlayerId | None  #: The player; null: an open seat.
    start_fen: str  #: The first position, complete.
    turn: Color  #: The side to move.
    phase: Phase | None  #: What is to be done; null: hidden.
    result: Result  #: "*" until the game has one.
    clock: ClockState | None  #: null: no clock.
    draw_offered: bool  #: Whether an offer stands.
    last_move: str | None  #: In UCI.
    pockets: Pockets | UnsetType = UNSET  #: crazyhouse: the pieces in hand.
    opponent_capture: str | UnsetType | None = UNSET  #: rbc: where the opponent captured.
    last_sense: LastSense | UnsetType | None = UNSET  #: rbc: the seat's latest sense.
    last_result: LastResult | UnsetType | None = UNSET  #: rbc: the seat's latest move.
    visible: list[str] | UnsetType | None = UNSET  #: dark_chess: the squares seen.
