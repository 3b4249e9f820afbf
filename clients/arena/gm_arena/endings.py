"""The words for how a game ended, the same in everything that ``gmd`` prints."""

from __future__ import annotations

from typing import assert_never

import chess

from gm_protocol.endings import Cause, Ending, read_ending
from gm_recon import WinReason
from gmd.games.variants import victory_in

#: The cause of an ending that a record of blind chess has as a reason.
CAUSES = {
    WinReason.KING_CAPTURE: Cause.KING_CAPTURE,
    WinReason.TIMEOUT: Cause.TIMEOUT,
    WinReason.RESIGN: Cause.RESIGNATION,
    WinReason.TURN_LIMIT: Cause.TURN_LIMIT,
    WinReason.MOVE_LIMIT: Cause.MOVE_LIMIT,
}


def cause_words(cause: Cause) -> str:
    """Return why a game ended: ``checkmate``."""
    match cause:
        case Cause.KING_CAPTURE:
            return "king captured"
        case Cause.DRAW_CLAIM:
            return "draw claimed"
        case Cause.AGREEMENT:
            return "draw agreed"
        case Cause.TIMEOUT:
            return "time"
        case Cause.FORFEIT:
            return "illegal move"
        case (
            Cause.CHECKMATE
            | Cause.RESIGNATION
            | Cause.STALEMATE
            | Cause.INSUFFICIENT_MATERIAL
            | Cause.FIFTY_MOVES
            | Cause.THREEFOLD_REPETITION
            | Cause.MOVE_LIMIT
            | Cause.TURN_LIMIT
            | Cause.DECLINED
            | Cause.WITHDRAWN
            | Cause.EXPIRED
        ):
            return cause.name.lower().replace("_", " ")
        case other:
            assert_never(other)


def reason_words(reason: WinReason) -> str:
    """Return why a game of blind chess ended, by the reason in its record: ``king captured``."""
    return cause_words(CAUSES[reason])


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
    return termination if ending is None else cause_words(ending.cause)


def result_words(result: str, termination: str, variant: str = "standard") -> str:
    """Return a game's result and how it came about: ``1-0 checkmate``."""
    return f"{result} {ending_words(termination, variant)}"


def loss(cause: Cause, color: chess.Color) -> Ending:
    """Return the ending by which the given side loses."""
    return Ending(cause, winner=not color)


def claim(color: chess.Color) -> Ending:
    """Return the draw that the given side claims."""
    return Ending(Cause.DRAW_CLAIM, claimant=color)
