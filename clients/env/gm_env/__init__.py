"""Reconnaissance blind chess for research: many games at once, exact, and honest about who knows what.

It needs numpy and numba (``pip install 'grandmasterd[env]'``). :class:`BatchedRbc` plays games by the rules of
``reconchess`` 1.6.9; :mod:`gm_env.actions` explains how moves and senses are numbered, and converts them.
"""

from .actions import (
    FROM_TO_BY_PLANES,
    FROM_TO_PROMOTIONS,
    INNER_BY_SQUARE,
    INNER_SQUARES,
    PLANES_BY_FROM_TO,
    action_of,
    move_of,
    sense_of,
    square_of,
)
from .batch import BatchedRbc, IllegalAction
from .belief import Belief, Beliefs
from .compiled_positions import CompiledPositions
from .kernels.layout import MOVES, OVER, PASS, PLANES, RESTING, SENSE_PASS, SENSES, SKIP, TO_MOVE, TO_SENSE
from .kernels.observing import OBSERVATION, PRIVILEGED
from .kernels.recalling import HEADER_ROWS, INFORMATION, INFORMATION_HEADER

__all__ = [
    "BatchedRbc",
    "Belief",
    "Beliefs",
    "CompiledPositions",
    "IllegalAction",
    "MOVES",
    "PLANES",
    "PASS",
    "SKIP",
    "SENSES",
    "SENSE_PASS",
    "TO_SENSE",
    "TO_MOVE",
    "OVER",
    "RESTING",
    "OBSERVATION",
    "INFORMATION",
    "INFORMATION_HEADER",
    "HEADER_ROWS",
    "PRIVILEGED",
    "action_of",
    "move_of",
    "sense_of",
    "square_of",
    "FROM_TO_PROMOTIONS",
    "FROM_TO_BY_PLANES",
    "PLANES_BY_FROM_TO",
    "INNER_SQUARES",
    "INNER_BY_SQUARE",
]
