"""A seat's actions, and its knowledge of the latest turns."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from gm_protocol.state import LastResult, LastSense


class Actions(NamedTuple):
    """The actions of a seat: squares that it may sense, by name, and moves that it may make or request, in UCI."""

    sense: list[str] | None = None
    move: list[str] | None = None


class SeatKnowledge(NamedTuple):
    """The knowledge of the latest turns that only one seat has; unset in variants without it."""

    capture: str | UnsetType | None = UNSET
    sense: LastSense | UnsetType | None = UNSET
    result: LastResult | UnsetType | None = UNSET
