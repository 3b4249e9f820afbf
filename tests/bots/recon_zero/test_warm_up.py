"""A bot's kernels are compiled, and its network is loaded, before a clock runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.bots.recon_zero.learning import needs_torch
from tests.serving import environment

pytestmark = pytest.mark.slow

#: What makes a bot ready in each of the places where bots play: gmd's commands and reconchess.
WAYS = {
    "bots": "from gm_bots.recon_zero.entry import make; judge = make({}).judge()",
    "reconchess": "from gm_bots.recon_zero import ReconZero; judge = ReconZero({})._judge",
}

#: Plays games of every kind, and prints the kernels that were compiled, or read from the cache, meanwhile.
PLAYS = """
import gc
from dataclasses import replace
import chess
from numba.core.dispatcher import Dispatcher
from gm_bots.recon_zero.thinker import Settings
from gm_bots.recon_zero.warm_up import play_random

def kernels():
    return {(each.__module__, each.__name__, str(types))
            for each in gc.get_objects() if isinstance(each, Dispatcher) for types in each.signatures}

before, quick = kernels(), Settings(simulations=6, determinisations=3)
for settings in (quick, replace(quick, weights="equal")):
    for color in chess.COLORS:
        play_random(judge, settings, "a real game", color, 24)
print(len(before) >= 10, sorted(kernels() - before))
"""


@pytest.mark.parametrize("options", ["checkpoint='none'", pytest.param("", marks=needs_torch)])
@pytest.mark.parametrize("way", [pytest.param(way, marks=[] if way == "bots" else pytest.mark.nightly) for way in WAYS])
def test_nothing_is_compiled_during_games(way: str, options: str) -> None:
    program = f"{WAYS[way].format(options)}\n{PLAYS}"
    run = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout == "True []\n", run.stderr
