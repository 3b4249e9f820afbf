"""Bots of blind chess that play many games in one process: ``gmd match --in-step``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import chess

from gm_recon import History

from .bot import Bots


class GameInStep(NamedTuple):
    """A game to be played in step: the seed of its random choices, and the bot's colour."""

    seed: str
    color: chess.Color


class EndedInStep(NamedTuple):
    """A game that was played in step.

    :ivar history: with winner and reason, where blind chess has one for how it ended.
    :ivar ending: how it ended, in words.
    """

    history: History
    ending: str


class BotsInStep(Bots):
    """A factory of bots whose games may also take their turns together: far faster than one by one, without a server or
    clocks.
    """

    @property
    @abstractmethod
    def identity(self) -> str:
        """What decides how they play and is not in their name, such as the hash of a network; may be empty."""

    @abstractmethod
    def against(self, other: Bots, spec: str) -> Callable[[Sequence[GameInStep], int], list[EndedInStep]]:
        """Return a function that plays games against other bots, each of at most so many plies.

        :param spec: what names the others on a command line.
        :raises BotUnusable: they cannot be played in step.
        """
