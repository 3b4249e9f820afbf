"""Anchors: players whose ratings are given, so that others' have a place on a scale that means something."""

from __future__ import annotations

#: How far from 0 a rating may be given: beyond every player there is, and within what can be computed with.
FURTHEST = 10_000


class BadAnchors(ValueError):
    """A setting that names no anchors; the message says what is wrong."""


def read_anchors(text: str | None) -> dict[str, float]:
    """The ratings of players by their names in lower case.

    :param text: as in ``random-bot=1000,trout=1600``.
    :raises BadAnchors: it is none.
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
