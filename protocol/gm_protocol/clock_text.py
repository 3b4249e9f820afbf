"""Time controls as text, in seconds: ``300``, ``180+2``, or ``1/0.05`` (first move/each later one)."""

from __future__ import annotations

import re

_NUMBER = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_TEXT = re.compile(rf"(?P<first>{_NUMBER})(?:(?P<sign>[+/])(?P<second>{_NUMBER}))?")

#: Examples of such texts, for errors.
CLOCK_TEXTS = "300, 180+2, 1/0.05 (the seconds for the first and each later move)"


def read_clock_text(text: str) -> dict[str, float]:
    """Parse a clock's text; return the fields of the clock.

    :raises ValueError: it is malformed. The limits of its times are not checked.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"is no clock: write seconds, such as {CLOCK_TEXTS}")
    first = float(match["first"])
    match match["sign"]:
        case None:
            return {"initial": first}
        case "+":
            return {"initial": first, "increment": float(match["second"])}
        case _:
            return {"first_move": first, "per_move": float(match["second"])}
