"""Words for what pages show: results, variants, clocks. They are pure, and templates call them as filters."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import chess

from gm_protocol.endings import read_ending
from gm_protocol.ranked import INTERVAL
from gmd.games.variants import VARIANTS, victory_in
from gmd.play.beliefs import CAP

#: The most squares that are named for pieces of a kind.
MOST_PLACES = 8


def variant_name(variant: str) -> str:
    """Return the name of a variant; of an unknown one its name on the wire."""
    return VARIANTS[variant].heading if variant in VARIANTS else variant


def variant_short(variant: str) -> str:
    """Return the short name of a variant; of an unknown one its name on the wire."""
    return VARIANTS[variant].abbreviation if variant in VARIANTS else variant


def result_words(termination: str, variant: str) -> str:
    """Return how a game ended, as in "White won on time"; empty for a game that has not ended."""
    ending = read_ending(termination, victory_in(variant))
    return "" if ending is None else ending.sentence


def rating_text(rating: float, deviation: float, is_anchor: bool = False) -> str:
    """Return a rating with its 95 % interval, as in "1656 ± 439"; without one where it is fixed."""
    return f"{rating:.0f} (fixed)" if is_anchor else f"{rating:.0f} ± {INTERVAL * deviation:.0f}"


def side_name(side: bool) -> str:
    """Return the name of a side, which is python-chess's bool."""
    return "White" if side else "Black"


def clock_text(seconds: float | None) -> str:
    """Return a clock's time as people read it: 1:02:03, 4:05, or 9.7 in the last ten seconds; "–" where hidden."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{floor(max(seconds, 0.0) * 10) / 10:.1f}"
    minutes, rest = divmod(floor(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def believed(count: int, *, exact: bool) -> str:
    """Return how many positions are possible.

    :param count: how many are kept: all of them, or if it is not exact those drawn from more.
    """
    if exact:
        return "1 position is possible." if count == 1 else f"{count:,} positions are possible."
    if not count:
        return f"There were more than {CAP:,} positions, too many to follow: where enemies stand is not known any more."
    return f"More than {CAP:,} positions were possible: the shares are those of {count:,} of them, drawn at random."


def hinted(square: str, left: float, count: int, *, exact: bool) -> str:
    """Return which sense would tell most.

    :param left: the share of the positions that it leaves on average.
    """
    rest = f"{max(1, round(left * count)):,} of {count:,}" if exact else f"{share_words(left)} of the"
    return f"A sense of {square} would tell most: on average it leaves {rest} positions."


def share_words(share: float) -> str:
    """Return a share of positions as people read it."""
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{round(100 * share)} %"


def places_words(shares: Sequence[float]) -> str:
    """Return the squares where something is most likely, by the probabilities for all squares from a1 to h8."""
    order = sorted((square for square in chess.SQUARES if shares[square]), key=lambda square: -shares[square])
    named = [f"{chess.SQUARE_NAMES[square]} {share_words(shares[square])}" for square in order[:MOST_PLACES]]
    more = len(order) - len(named)
    return ", ".join([*named, *([f"{more} squares more" if more > 1 else "1 square more"] if more else [])]) or "none"


def number_words(number: int | None) -> str:
    """Return a number of positions as people read it; None for too many."""
    return f"more than {CAP:,}" if number is None else f"{number:,}"
