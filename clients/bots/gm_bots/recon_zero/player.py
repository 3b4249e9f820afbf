"""``recon-zero`` as a player."""

from __future__ import annotations

import random
from typing import Any

from chess import Color, Move, Square

from gm_bots.options import from_environment
from gm_bots.timed_player import TimedPlayer

from .knowledge import Belief
from .lockstep.judging import Judge
from .settings import WITHOUT, Given, read
from .thinker import Thinker
from .time_rules import TURN_SECONDS
from .warm_up import ready_judge

#: The environment variable with the options of players made without any, as by reconchess's programs.
VARIABLE = "GM_RECON_ZERO"


class ReconZero(TimedPlayer):
    """A player for one game after the other."""

    def __init__(
        self,
        given: Given | None = None,
        rng: random.Random | None = None,
        judge: Judge | None = None,
        **options: Any,
    ) -> None:
        """Load the network, before any clock runs.

        :param given: the options, parsed; by default those that follow.
        :param rng: decides all that is random; by default a generator of its own, by the option ``seed``.
        :param judge: evaluates positions; by default the network of the options.
        :param options: the options of ``recon-zero``, as numbers or text; options not given come from the variable
            ``GM_RECON_ZERO`` (``checkpoint=training/latest.pt,simulations=50``).
        :raises BotUnusable: an option is unknown, its value is not allowed, or a library is missing.
        :raises BotFailed: the checkpoint cannot be read.
        """
        if given is None:
            texts = {name: str(value) for name, value in options.items()}
            given = read({**from_environment(VARIABLE), **texts}, f"{VARIABLE}=checkpoint={WITHOUT}")
        super().__init__(given.seconds, TURN_SECONDS)
        self._settings = given.settings
        self._rng = random.Random(given.seed) if rng is None else rng
        self._judge = ready_judge(given.checkpoint) if judge is None else judge

    def begin(self, color: Color, fen: str) -> Thinker:
        self._thinking = Thinker(color, self._judge, self._settings, self._rng, fen=fen)
        return self._thinking

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._thinking.choose_sense(sense_actions, self._time.plan(seconds_left))

    def belief(self) -> Belief:
        """Return the belief about the opponent's pieces: shape (7, 8, 8), for pieces from pawn to king and none, rank,
        and file; each square's seven numbers sum to 1.
        """
        return self._thinking.knowledge.belief()
