"""Spaces of observations, and of actions that know the legal ones: ``sample()`` without a mask draws from those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .kernels.observing import OBSERVATION
from .kernels.recalling import HEADER_ROWS, INFORMATION
from .observed import Shown
from .turns import ACTIONS

#: Draws an action for each game.
Draw = Callable[[np.random.Generator], NDArray[np.int64]]


class LegalActions(spaces.Discrete):
    """All actions of a player: ``Discrete(4738)``. ``sample()`` draws from the legal ones."""

    def __init__(self, draw: Draw) -> None:
        """:param draw: draws a legal action for the only game."""
        super().__init__(ACTIONS)
        self._draw = draw

    def sample(self, mask: NDArray[Any] | None = None, probability: NDArray[Any] | None = None) -> Any:
        """Draw a legal action, or as a mask or probabilities say."""
        if mask is None and probability is None:
            return self._draw(self.np_random)[0]
        if probability is None and isinstance(mask, np.ndarray) and mask.dtype == np.int8 and mask.shape == (ACTIONS,):
            legal = np.flatnonzero(mask)  # Gymnasium's own way takes thirty microseconds
            return legal[self.np_random.integers(legal.size)] if legal.size else np.int64(0)
        return super().sample(mask, probability)


class LegalActionsOfAll(spaces.MultiDiscrete):
    """An action for each of ``n`` games: ``MultiDiscrete([4738] * n)``. ``sample()`` draws from the legal ones."""

    def __init__(self, n: int, draw: Draw) -> None:
        """:param draw: draws a legal action for each game."""
        super().__init__(np.full(n, ACTIONS))
        self._draw = draw

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[Any]:
        """Draw a legal action for each game, or as masks or probabilities say."""
        if mask is None and probability is None:
            return self._draw(self.np_random)
        return super().sample(mask, probability)


def observed_space(shown: Shown, recall: int) -> spaces.Box:
    """Return the space of what a player observes."""
    if shown == "turn":
        return spaces.Box(0, 255, (len(OBSERVATION), 8, 8), np.uint8)
    return spaces.Box(-1, np.iinfo(np.int16).max, (HEADER_ROWS + recall, len(INFORMATION)), np.int16)
