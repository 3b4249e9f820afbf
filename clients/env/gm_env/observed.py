"""What an environment lets a player observe: this turn, or all turns."""

from __future__ import annotations

from typing import Literal, get_args

from .games import check

Shown = Literal["turn", "history"]
_SHOWN = get_args(Shown)


def check_shown(shown: str) -> None:
    """Raise a ValueError for an unknown kind of observation."""
    check(shown in _SHOWN, f"observation: {shown!r} is not one of {', '.join(_SHOWN)}")
