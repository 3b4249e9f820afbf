"""Scores, in hundredths of a pawn, including those of mates.

A nearer mate has a greater score: so the winner goes for it and the loser delays it.
"""

from __future__ import annotations

#: More than any score.
INFINITY = 1_000_000

#: The score of mate on the board. Material is far below it: nine queens are worth less than 10,000.
MATE = 100_000

#: The most half-moves from the root: the greatest depth, as much again for checks, and then captures.
MAX_DEPTH = 60
MAX_PLY = 2 * MAX_DEPTH + 34

#: A score of at least this, or at most the negative of it, is a mate.
MATE_IN_SIGHT = MATE - 1_000


def mated(ply: int) -> int:
    """Return the score of being mated at a distance from the root."""
    return ply - MATE


def plies_to_mate(score: int) -> int | None:
    """Return how many half-moves a mate is away; None if the score is not a mate."""
    return MATE - abs(score) if abs(score) >= MATE_IN_SIGHT else None


def moves_to_mate(score: int) -> int | None:
    """Return the moves to mate as UCI counts: negative if the side to move is mated; 0 is mate on the board."""
    plies = plies_to_mate(score)
    if plies is None:
        return None
    return (plies + 1) // 2 if score > 0 else -(plies // 2)


def to_table(score: int, ply: int) -> int:
    """Return a score relative to the position instead of the root: mates count from the position."""
    if score >= MATE_IN_SIGHT:
        return score + ply
    return score - ply if score <= -MATE_IN_SIGHT else score


def from_table(score: int, ply: int) -> int:
    """Return a score relative to the root, from one relative to the position."""
    if score >= MATE_IN_SIGHT:
        return score - ply
    return score + ply if score <= -MATE_IN_SIGHT else score
