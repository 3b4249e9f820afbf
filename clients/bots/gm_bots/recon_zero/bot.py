"""What makes players of ``recon-zero`` for games on a server and in step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gm_arena.bot import Bots
from gm_arena.in_step import BotsInStep, EndedInStep, GameInStep
from gm_arena.player_bot import PlayerBots

from .checkpoint_files import digest_of
from .lockstep.judging import Judge
from .player import ReconZero
from .settings import Given
from .warm_up import ready_judge

if TYPE_CHECKING:
    from .lockstep.games import Side


class ReconZeroBots(PlayerBots, BotsInStep):
    """The factory of the bots.

    With a seed, every game of the same number and colour is repeatable, as long as the opponent's moves are and the
    time is not short.

    :param name: the bot's name, with its options.
    :ivar given: the options.
    """

    def __init__(self, name: str, given: Given) -> None:
        super().__init__(name, self._new_player, seed=given.seed)
        self.given = given
        self._judge: Judge | None = None

    @property
    def checkpoint(self) -> Path | None:
        """The network's checkpoint; None to play without a network."""
        return self.given.checkpoint

    @property
    def identity(self) -> str:
        """The hash of the network: a file keeps its name while a training goes on."""
        return "" if self.checkpoint is None else digest_of(self.checkpoint)

    def against(self, other: Bots, spec: str) -> Callable[[Sequence[GameInStep], int], list[EndedInStep]]:
        from .in_step import against

        return against(self._side, other._side if isinstance(other, ReconZeroBots) else None, spec)

    def _side(self) -> Side:
        from .lockstep.games import Side

        return Side(self.judge(), self.given.settings)

    def _new_player(self, rng: random.Random) -> ReconZero:
        return ReconZero(self.given, rng, self.judge())

    def judge(self) -> Judge:
        """Return the evaluator of positions in this process, ready for its first game.

        :raises BotFailed: the checkpoint cannot be read.
        """
        if self._judge is None:
            self._judge = ready_judge(self.checkpoint)
        return self._judge
