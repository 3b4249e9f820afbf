"""The usual text of a time control, in seconds: ``300``, ``180+2``, or ``1/0.05`` (first move/each later one)."""

from __future__ import annotations

import re

_NUMBER = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_TEXT = re.compile(rf"(?P<first>{_NUMBER})(?:(?P<sign>[+/])(?P<second>{_NUMBER}))?")

#: What such a text is, for people.
CLOCK_TEXTS = "300, 180+2, 1/0.05 (the seconds for the first and each later move)"


def read_clock_text(text: str) -> dict[str, float]:
    """Return the fields of a clock that a text gives.

    :raises ValueError: it is none. Whether its times may be so long or short is not looked at.
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
