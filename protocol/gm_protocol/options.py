"""The options of a game: in requests, and as the server resolved them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from .base import Request

Seconds = Annotated[float, Meta(ge=0)]
#: A number of moves or turns after which a game is drawn.
MoveLimit = Annotated[int, Meta(ge=1, le=1_000_000)]
#: A time control as text (:mod:`gm_protocol.clock_text`); real ones are much shorter than this limit.
ClockText = Annotated[str, Meta(max_length=64)]

Variant = Literal["standard", "chess960", "crazyhouse", "rbc", "dark_chess"]
DrawRule = Literal["claimed", "automatic"]
IllegalMoveRule = Literal["refuse", "lose"]


class ClockOption(Struct, frozen=True, forbid_unknown_fields=True):
    """A time control, in seconds: ``initial`` with ``increment``, or ``first_move`` with ``per_move``.

    ``margin`` is by how much a player may exceed its time without losing. ``lag`` is how much of the
    time until a request arrives the client may claim as not the player's, for each request.
    """

    initial: Seconds | UnsetType = UNSET  #: Time for the game, above 0.
    increment: Seconds | UnsetType = UNSET  #: Added after each own move.
    first_move: Seconds | UnsetType = UNSET  #: Time for the first move, above 0.
    per_move: Seconds | UnsetType = UNSET  #: Time for each later move, above 0.
    margin: Seconds | UnsetType = UNSET  #: Overstepping that does not lose.
    lag: Seconds | UnsetType = UNSET  #: Most delay not charged, per request.


class GameOptions(Struct, frozen=True, kw_only=True):
    """The options of a game as the server resolved them, without those that its variant does not have."""

    variant: Variant  #: The variant.
    fen: str  #: The start position.
    position: int | UnsetType | None = UNSET  #: Its number.
    draws: DrawRule | UnsetType = UNSET  #: As in the request.
    max_moves: int | UnsetType | None = UNSET  #: As in the request.
    clock: ClockOption | None  #: As in the request.
    illegal_move: IllegalMoveRule | UnsetType = UNSET  #: As in the request.
    reversible_moves: int | UnsetType | None = UNSET  #: As in the request.
    max_turns: int | UnsetType | None = UNSET  #: As in the request.


class GameRequest(Request, kw_only=True):
    """The fields that every request for a new game may have. A repeated request with the same ``token`` gets its game.

    ``clock`` may be a text, such as ``180+2``.
    """

    retry = "token"
    token: str | None = None  #: Names the request for a retry.
    variant: Variant | None = None  #: Default: standard.
    fen: str | None = None  #: The start position.
    position: Annotated[int, Meta(ge=0, le=959)] | None = None  #: Number of the start position.
    seed: int | None = None  #: Instead of position; taken modulo 960.
    draws: DrawRule | None = None  #: How draws come about.
    max_moves: MoveLimit | None = None  #: Moves a side, then a draw.
    clock: ClockOption | ClockText | UnsetType | None = UNSET  #: The time control.
    illegal_move: IllegalMoveRule | None = None  #: Default: refuse.
    reversible_moves: MoveLimit | UnsetType | None = UNSET  #: rbc; default: 100; null: no limit.
    max_turns: MoveLimit | None = None  #: rbc: turns a side, then a draw.


class VariantTraits(Struct, frozen=True, kw_only=True):
    """What differs between variants for a program that starts games.

    :ivar draws: whether a request may choose the draw rule.
    :ivar length: the field of ``new_game`` that limits the length of a game.
    :ivar clock: the time control of a game whose request names none; None for a game without clocks.
    :ivar rated: whether its games can be ranked.
    :ivar in_reconchess: whether reconchess plays it: then its API serves the games, and its files hold them.
    """

    draws: bool = True
    length: Literal["max_moves", "max_turns"] = "max_moves"
    clock: ClockOption | None = None
    rated: bool = False
    in_reconchess: bool = False

    @property
    def clock_fields(self) -> dict[str, float] | None:
        """The fields of :attr:`clock`."""
        if self.clock is None:
            return None
        return {name: value for name, value in structs.asdict(self.clock).items() if value is not UNSET}


#: The traits of each variant. The default clock of blind chess is reconchess's: 15 minutes, and 5 seconds a move.
VARIANT_TRAITS: Mapping[str, VariantTraits] = {
    "standard": VariantTraits(),
    "chess960": VariantTraits(),
    "crazyhouse": VariantTraits(),
    "rbc": VariantTraits(
        draws=False,
        length="max_turns",
        clock=ClockOption(initial=900.0, increment=5.0),
        rated=True,
        in_reconchess=True,
    ),
    "dark_chess": VariantTraits(),
}
