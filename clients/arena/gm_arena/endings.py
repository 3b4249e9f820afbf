"""The words for how a game ended, the same in everything that ``gmd`` prints."""

from __future__ import annotations

from gm_protocol.endings import Cause, Ending, read_ending
from gm_recon import WinReason
from gmd.games.variants import victory_in

#: The cause of an ending that a record of blind chess has as a reason.
CAUSES = {
    WinReason.KING_CAPTURE: Cause.KING_CAPTURE,
    WinReason.TIMEOUT: Cause.TIMEOUT,
    WinReason.RESIGN: Cause.RESIGNATION,
    WinReason.TURN_LIMIT: Cause.TURN_LIMIT,
    WinReason.MOVE_LIMIT: Cause.FIFTY_MOVES,
}


def reason_words(reason: WinReason) -> str:
    """Return why a game of blind chess ended, by the reason in its record: ``king capture``."""
    return CAUSES[reason].value.words


def ending_of(termination: str, variant: str) -> Ending | None:
    """Return the ending that a termination of ``PROTOCOL`` stands for in a variant; None while the game is in progress.

    :raises ValueError: the termination is not one of PROTOCOL's.
    """
    return read_ending(termination, victory_in(variant))


def ending_words(termination: str, variant: str = "standard") -> str:
    """Return how a game ended: ``checkmate`` for ``victory_white``.

    :param termination: as in ``PROTOCOL``; anything else, such as another program's Termination tag, stays as it is.
    :param variant: as in ``PROTOCOL``.
    """
    try:
        ending = ending_of(termination, variant)
    except ValueError:
        return termination
    return termination if ending is None else ending.words


def result_words(result: str, termination: str, variant: str = "standard") -> str:
    """Return a game's result and how it came about: ``1-0 checkmate``."""
    return f"{result} {ending_words(termination, variant)}"
