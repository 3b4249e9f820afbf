"""Games that repeat others: bots without much chance in them play the same game again, and that proves nothing more.

An interval counts games as independent, so where many repeat others it is too narrow.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def remark_on_repeats(against: str, games: Sequence[Hashable]) -> str | None:
    """Return a sentence about the games of a match that repeat others; None where there are none.

    :param games: of each game, what is equal exactly if two are the same.
    """
    repeated = len(games) - len(set(games))
    if not repeated:
        return None
    return f"against {against}: repeated games: {repeated} of {len(games)}; with these the intervals are too narrow"
