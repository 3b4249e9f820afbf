"""The game state that clients are shown, field for field as ``PROTOCOL`` describes it."""

from __future__ import annotations

from typing import Annotated, Literal, overload

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import PlayerId

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


#: A seat's phase: "open" while a seat is not taken; in chess always "move" while the game is live; in rbc hidden from
#: the side that is not to move.
Phase = Literal["open", "sense", "move", "over"]

Result = Literal["1-0", "0-1", "1/2-1/2", "*"]

#: The way in which a game ended, or that it is live: :mod:`gm_protocol.endings` explains each word.
Termination = Literal[
    "available_move",
    "victory_white",
    "victory_black",
    "stalemate",
    "taken_draw_white",
    "taken_draw_black",
    "resignation_white",
    "resignation_black",
    "timeout_white",
    "timeout_black",
    "forfeit_white",
    "forfeit_black",
    "draw_agreed",
    "draw_repetition",
    "draw_fifty_moves",
    "draw_material",
    "draw_move_limit",
    "draw_turn_limit",
    "declined",
    "withdrawn",
    "expired",
]

#: Bits of ``available_castles``.
WHITE_KINGSIDE, WHITE_QUEENSIDE, BLACK_KINGSIDE, BLACK_QUEENSIDE = 0x01, 0x02, 0x04, 0x08

#: Bits of ``draws``.
FIFTY_MOVES, THREEFOLD = 0x01, 0x02

#: A piece on the board: the side, and the letter of SAN; a pawn is "p".
Piece = Annotated[str, Meta(extra_json_schema={"enum": [side + kind for side in "wb" for kind in "pNBRQK"]})]

#: ``board[rank][file]``: rank 1 first, file a first; None for an empty square, else "wp", "wR", "bK" and so on.
BoardRows = Annotated[
    list[list[Piece | None]], Meta(description="Rank 1 is the first list, file a its first element; null: no piece.")
]

#: ``access_map[rank][file]``: the (rank, file) of every piece of either colour that could move there, ascending.
AccessMap = Annotated[
    list[list[list[tuple[int, int]]]],
    Meta(description="For each square, the rank and file of every piece that could move there."),
]


#: The result of a sense: squares by name with their pieces, from the top left of the window.
SenseResult = list[tuple[str, Piece | None]]


class ClockState(Struct, frozen=True):
    """The seconds that each side has left; null where hidden. The clock of the side to move runs on from this value."""

    white: float | None
    black: float | None


class Pockets(Struct, frozen=True):
    """The pieces that each side has in hand in crazyhouse, most valuable first (White's in capitals)."""

    white: str
    black: str


class LastSense(Struct, frozen=True, gc=False):
    """A seat's latest sense: its ply, its square (null: none), and its result."""

    ply: int
    square: str | None
    sense_result: SenseResult


class LastResult(Struct, frozen=True, gc=False):
    """A seat's latest move: its ply, the requested move, the one taken (null: none), and where it captured."""

    ply: int
    requested_move: str | None
    taken_move: str | None
    capture_square: str | None


class GameState(Struct, kw_only=True, frozen=True, gc=False):
    """A game as one viewer may see it. The first ten fields are those of version 1.

    ``board``, ``access_map`` and ``pgn`` are left out of the replies to brief requests. Only crazyhouse has
    ``pockets``, only rbc the three fields after it, and only dark_chess ``visible``.
    """

    board: BoardRows | UnsetType = UNSET
    available_castles: int
    passant_file: int
    access_map: AccessMap | UnsetType = UNSET
    ply_index: int
    pgn: str | UnsetType | None = UNSET
    fen: str
    draws: int
    termination: Termination
    in_check: bool

    game_id: int
    variant: str
    player_white: PlayerId | None
    player_black: PlayerId | None
    start_fen: str
    turn: Color
    phase: Phase | None
    result: Result
    clock: ClockState | None
    draw_offered: bool
    last_move: str | None
    pockets: Pockets | UnsetType = UNSET
    opponent_capture: str | UnsetType | None = UNSET
    last_sense: LastSense | UnsetType | None = UNSET
    last_result: LastResult | UnsetType | None = UNSET
    visible: list[str] | UnsetType | None = UNSET
