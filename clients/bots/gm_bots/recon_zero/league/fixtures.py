"""A league's games, before and after they are played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chess import Color

from ..lockstep.judging import Judge
from ..replay import Sample
from .programs import Program

#: A member as it plays: the same bot with another network or none, or another program.
Rival: TypeAlias = Judge | Program


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    :ivar color: the learner's.
    :ivar member: the name of its opponent.
    """

    seed: str
    color: Color
    member: str


@dataclass(frozen=True)
class Met:
    """A game that was played.

    :ivar outcome: how it ended for the learner: 1, 0 or -1.
    :ivar ending: why it ended, in words.
    :ivar last: the position at its end and the number of half-moves, which tell different games apart.
    :ivar samples: the learner's decisions.
    """

    member: str
    outcome: float
    ending: str
    last: bytes
    samples: list[Sample]
