"""What a game is played with: in a request for one, and as the server resolved it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import Request

Seconds = Annotated[float, Meta(ge=0)]
#: A time control as people write it (:mod:`gm_protocol.clock_text`); none is nearly as long.
ClockText = Annotated[str, Meta(max_length=64)]

Variant = Literal["standard", "chess960", "crazyhouse", "rbc", "dark_chess"]
DrawRule = Literal["claimed", "automatic"]
IllegalMoveRule = Literal["refuse", "lose"]


class ClockOption(Struct, frozen=True, forbid_unknown_fields=True):
    """A time control, in seconds: ``initial`` with ``increment``, or ``first_move`` with ``per_move``.

    ``margin`` is by how much a player may overstep its time and not lose; ``lag`` how much of the time until a request
    arrives a client may say was not the player's.
    """

    initial: Seconds | UnsetType = UNSET
    increment: Seconds | UnsetType = UNSET
    first_move: Seconds | UnsetType = UNSET
    per_move: Seconds | UnsetType = UNSET
    margin: Seconds | UnsetType = UNSET
    lag: Seconds | UnsetType = UNSET


class GameOptions(Struct, frozen=True, kw_only=True):
    """The options of a game as the server resolved them; those its variant does not have are left out."""

    variant: Variant
    fen: str
    position: int | UnsetType | None = UNSET
    draws: DrawRule | UnsetType = UNSET
    max_moves: int | UnsetType | None = UNSET
    clock: ClockOption | None
    illegal_move: IllegalMoveRule | UnsetType = UNSET
    reversible_moves: int | UnsetType | None = UNSET
    max_turns: int | UnsetType | None = UNSET


class GameRequest(Request, kw_only=True):
    """What every request that makes a game may carry. The same request with the same ``token`` is shown that game.

    ``clock`` may be its usual text, such as ``180+2``.
    """

    token: str | None = None
    variant: Variant | None = None
    fen: str | None = None
    position: Annotated[int, Meta(ge=0, le=959)] | None = None
    seed: int | None = None
    draws: DrawRule | None = None
    max_moves: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    clock: ClockOption | ClockText | UnsetType | None = UNSET
    illegal_move: IllegalMoveRule | None = None
    reversible_moves: Annotated[int, Meta(ge=1, le=1_000_000)] | UnsetType | None = UNSET
    max_turns: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
