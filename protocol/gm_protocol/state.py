"""The game state every client is shown, field for field as ``PROTOCOL`` describes it."""

from __future__ import annotations

from typing import Annotated, Literal, overload

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import PlayerId

#: A side of the board, by name. Code that is not about messages has python-chess's bool.
Color = Literal["white", "black"]

#: The names by that bool: ``COLOR_NAMES[chess.WHITE]`` is "white".
COLOR_NAMES: tuple[Color, Color] = ("black", "white")


@overload
def side_of(name: Color) -> bool: ...
@overload
def side_of(name: Color | None) -> bool | None: ...
def side_of(name: Color | None) -> bool | None:
    """Return the side of this name; None where there is none."""
    return None if name is None else name == "white"


#: A seat's phase: in chess always "move" while the game is on; in rbc hidden from whoever is not to act; "open" while a
#: seat is not taken.
Phase = Literal["open", "sense", "move", "over"]

Result = Literal["1-0", "0-1", "1/2-1/2", "*"]

#: How a game ended, or that it is on: :mod:`gm_protocol.endings` says what each word means.
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

#: A piece on the board: the side, and the kind as in SAN, but for a pawn's small letter.
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


#: What a sense shows: squares by name with what stands on them, from the top left of the window.
SenseResult = list[tuple[str, Piece | None]]


class ClockState(Struct, frozen=True):
    """Seconds each side has left, null where hidden; the side to move's count down in this very moment."""

    white: float | None
    black: float | None


class Pockets(Struct, frozen=True):
    """Crazyhouse: the pieces each side holds in hand, most valuable first (White's in capitals)."""

    white: str
    black: str


class LastSense(Struct, frozen=True, gc=False):
    """A seat's latest sense: at which ply, around which square (null: none), and what it showed."""

    ply: int
    square: str | None
    sense_result: SenseResult


class LastResult(Struct, frozen=True, gc=False):
    """A seat's latest move: at which ply, what it asked for, what came of it (null: nothing), and where it captured."""

    ply: int
    requested_move: str | None
    taken_move: str | None
    capture_square: str | None


class GameState(Struct, kw_only=True, frozen=True, gc=False):
    """A game as one viewer may see it. The first ten fields are version 1's.

    ``board``, ``access_map`` and ``pgn`` are left out of the replies to brief requests; ``pockets`` is there in
    crazyhouse alone, the three fields behind it in rbc alone, and ``visible`` in dark_chess alone.
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
