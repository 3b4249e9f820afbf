"""What a seat may do now, and what it has been told."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from gm_protocol.state import LastResult, LastSense


class Actions(NamedTuple):
    """What a seat may do now: the squares it may sense, by name, and the moves it may make, or ask for, in UCI."""

    sense: list[str] | None = None
    move: list[str] | None = None


class SeatKnowledge(NamedTuple):
    """What a seat, and nobody else, has been told of the latest turns; unset where its variant tells nothing."""

    capture: str | UnsetType | None = UNSET
    sense: LastSense | UnsetType | None = UNSET
    result: LastResult | UnsetType | None = UNSET
