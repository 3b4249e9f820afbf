"""Scores, in hundredths of a pawn, and how a mate is one of them.

A mate is worth more the nearer it is: so the winner goes for it and the loser puts it off.
"""

from __future__ import annotations

#: More than any score.
INFINITY = 1_000_000

#: Mate on the board. Far from what material can come to: nine queens are worth less than 10,000.
MATE = 100_000

#: Half-moves from the root that a search may reach: the depth at most, as much again for checks, and then captures.
MAX_DEPTH = 60
MAX_PLY = 2 * MAX_DEPTH + 34

#: What is at least this, or at most the negative of it, is a mate.
MATE_IN_SIGHT = MATE - 1_000


def mated(ply: int) -> int:
    """To be mated at a distance from the root."""
    return ply - MATE


def plies_to_mate(score: int) -> int | None:
    """How many half-moves a mate is away; None if the score is none."""
    return MATE - abs(score) if abs(score) >= MATE_IN_SIGHT else None


def moves_to_mate(score: int) -> int | None:
    """As UCI counts: moves of the side that mates, negative if the side to move is mated; 0 is mate on the board."""
    plies = plies_to_mate(score)
    if plies is None:
        return None
    return (plies + 1) // 2 if score > 0 else -(plies // 2)


def to_table(score: int, ply: int) -> int:
    """A score as the position itself has it, wherever in a search it is met: mates count from there."""
    if score >= MATE_IN_SIGHT:
        return score + ply
    return score - ply if score <= -MATE_IN_SIGHT else score


def from_table(score: int, ply: int) -> int:
    """The other way round."""
    if score >= MATE_IN_SIGHT:
        return score - ply
    return score + ply if score <= -MATE_IN_SIGHT else score
