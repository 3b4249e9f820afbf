"""The options of a game: in requests, and as the server resolved them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import Request

Seconds = Annotated[float, Meta(ge=0)]
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

    initial: Seconds | UnsetType = UNSET
    increment: Seconds | UnsetType = UNSET
    first_move: Seconds | UnsetType = UNSET
    per_move: Seconds | UnsetType = UNSET
    margin: Seconds | UnsetType = UNSET
    lag: Seconds | UnsetType = UNSET


class GameOptions(Struct, frozen=True, kw_only=True):
    """The options of a game as the server resolved them, without those that its variant does not have."""

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
    """The fields that every request for a new game may have. A repeated request with the same ``token`` gets its game.

    ``clock`` may be a text, such as ``180+2``.
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
