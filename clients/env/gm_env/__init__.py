"""Reconnaissance blind chess for research: many games at once, exact, and honest about who knows what.

It needs the extra ``env`` (in the clone of gmd: ``.venv/bin/pip install -e '.[env]'``), and no server.
:class:`BatchedRbc` plays games by the rules of ``reconchess`` 1.6.9, and :class:`Beliefs` follows what each player may
believe. :func:`run` plays a batch's games between players that are written for one game (:class:`gm_recon.Player`).

Of its constants, PASS (4672) and SENSE_PASS (64) are the actions of a pass, and SKIP (-1) leaves a game as it is. There
are MOVES (4673) moves by PLANES (73) planes, and SENSES (65) senses. The phases are TO_SENSE (0), TO_MOVE (1), OVER (2)
and RESTING (3). OBSERVATION, PRIVILEGED, INFORMATION and INFORMATION_HEADER name planes, columns and numbers; an
information state has HEADER_ROWS (8) rows before the first turn's.

A kernel is compiled when it is first used, which standard error shows: the first game waits some ten seconds for it.
``python -m gm_env.compile`` does it ahead. The code is kept for each version of gm_env and numba: in the folder that
``NUMBA_CACHE_DIR`` names, else in the user's cache folder. A filled folder may be read-only. Where none can be written,
each process compiles.
"""

try:
    import numba  # noqa: F401
except ModuleNotFoundError as error:
    how = "run .venv/bin/pip install -e '.[env]' in the clone of gmd"
    raise ModuleNotFoundError(f"gm_env needs the extra env: {how}", name=error.name) from None

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
from .running import run

__all__ = [
    "BatchedRbc",
    "Belief",
    "Beliefs",
    "CompiledPositions",
    "IllegalAction",
    "run",
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
