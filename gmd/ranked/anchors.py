"""Anchors: players with fixed ratings, which give the scale of all other ratings a meaning."""

from __future__ import annotations

#: The largest distance of an anchor's rating from 0: beyond every real player, and small enough to compute with.
FURTHEST = 10_000


class BadAnchors(ValueError):
    """Raised for a setting that cannot be read as anchors; the message says why."""


def read_anchors(text: str | None) -> dict[str, float]:
    """Parse the ratings of anchors, by their names in lower case.

    :param text: as in ``random-bot=1000,trout=1600``.
    :raises BadAnchors: it cannot be parsed.
    """
    anchors: dict[str, float] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, _, number = part.strip().rpartition("=")
        try:
            rating = float(number)
        except ValueError:
            rating = float("nan")
        if not name or not abs(rating) <= FURTHEST:
            raise BadAnchors(f"anchors: {part.strip()!r} is not NAME=RATING, such as random-bot=1000")
        if name.lower() in anchors:
            raise BadAnchors(f"anchors: {name!r} is given twice")
        anchors[name.lower()] = rating
    return anchors
