"""A short game before the first that counts, so that no clock runs while kernels are compiled.

numba compiles a kernel when it is first called: some ten seconds for all, once after each installation; later it reads
them from its cache, in less than one.
"""

from __future__ import annotations

import random
from pathlib import Path

import chess
from chess import Color

from gm_recon import ReconGame

from .lockstep.judging import Judge, count_material
from .thinker import STEP, Settings, Thinker

#: Half-moves of each game: enough for captures by both sides.
PLIES = 16
#: The settings with which a player does all that any player does, and little of it.
BRIEF = Settings(simulations=STEP, determinisations=2)

#: The kinds of evaluators that this process has played with: piece values, or a network.
_played_with = set[type]()


def ready_judge(checkpoint: Path | None) -> Judge:
    """Return an evaluator of positions that is loaded, and has been played with.

    :param checkpoint: the network's checkpoint; None to evaluate by piece values.
    :raises BotFailed: the checkpoint cannot be read.
    """
    judge: Judge = count_material
    if checkpoint is not None:
        from .checkpoint import load_judge  # imports PyTorch, which takes seconds

        judge = load_judge(checkpoint)
    warm_up(judge)
    return judge


def warm_up(judge: Judge) -> None:
    """Play a little with either colour, so that everything is loaded and compiled.

    A process does so once with each kind of evaluator.
    """
    if type(judge) not in _played_with:
        for color in chess.COLORS:
            play_random(judge, BRIEF, "warm-up", color, PLIES)
        _played_with.add(type(judge))


def play_random(judge: Judge, settings: Settings, seed: str, color: Color, plies: int) -> None:
    """Play so many half-moves of a game as a colour, against moves at random."""
    game, rng = ReconGame(), random.Random(f"{seed} random")
    player = Thinker(color, judge, settings, random.Random(f"{seed} player"))
    while not game.is_over() and game.ply < plies:
        if game.turn != color:
            game.sense(None)
            game.move(rng.choice([*game.move_actions(), None]))
            continue
        if game.ply:
            player.opponent_moved(game.opponent_capture)
        player.saw(game.sense(player.choose_sense(game.sense_actions())))
        outcome = game.move(player.choose_move(game.move_actions()))
        if not game.is_over():
            player.moved(*outcome)
