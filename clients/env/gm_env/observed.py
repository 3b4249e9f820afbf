"""What environments let a player observe, this turn or all turns, and what an illegal action does."""

from __future__ import annotations

from typing import Literal, get_args

from .games import check

Shown = Literal["turn", "history"]
Illegal = Literal["lose", "raise"]


def check_shown(shown: str) -> None:
    """Raise a ValueError for an unknown kind of observation."""
    check(shown in get_args(Shown), f"observation: {shown!r} is not one of {', '.join(get_args(Shown))}")


def check_illegal(illegal: str) -> None:
    """Raise a ValueError for an unknown effect of an illegal action."""
    check(illegal in get_args(Illegal), f"illegal: {illegal!r} is not one of {', '.join(get_args(Illegal))}")
