"""A policy that knows a few ways to the king by heart."""

from __future__ import annotations

import chess
import numpy as np
from chess import Move
from numpy.typing import NDArray

from ..actions import action_of
from ..opponents import Decisions

#: Openings that capture the king on e8 if nobody notices, as the player of them sees the board.
LINES = (
    "b1c3 c3b5 b5d6 d6e8",
    "b1c3 c3d5 d5f6 f6e8",
    "g1f3 f3g5 g5e4 e4f6 f6e8",
    "g1f3 f3e5 e5g4 g4f6 f6e8",
    "e2e4 d1f3 f1c4 f3f7 f7e8",
    "e2e3 d1h5 f1c4 h5f7 f7e8",
)


class Attacker:
    """A policy that runs for the king, as reconchess's ``AttackerBot``: an :class:`gm_env.opponents.Opponent`.

    For each game it draws one of six openings that end on the square where the opponent's king begins, and plays it
    without looking: it senses at random. It leaves out moves that its own pieces do not allow. When the opening is over
    and so is not the game, it moves at random.
    """

    def __init__(self) -> None:
        """Prepare for any number of games."""
        self._lines = [[action_of(Move.from_uci(move), chess.WHITE) for move in line.split()] for line in LINES]
        self._left: dict[int, list[int]] = {}

    def begin(self, games: NDArray[np.int64], colors: NDArray[np.int32]) -> None:
        """Forget the games that were played in these places."""
        for game in games.tolist():
            self._left.pop(game, None)

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        """Return an action for each decision."""
        actions = decisions.draw()
        if decisions.is_sense:
            return actions
        masks = decisions.action_masks()
        for row, game in enumerate(decisions.games.tolist()):
            if game not in self._left:
                self._left[game] = self._lines[int(decisions.rng.integers(len(self._lines)))].copy()
            line = self._left[game]
            while line and not masks[row, line[0]]:
                line.pop(0)
            if line:
                actions[row] = line.pop(0)
        return actions
