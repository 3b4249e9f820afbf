"""Spaces of observations, and of actions that know the legal ones: ``sample()`` without a mask draws from those."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .kernels.layout import PASS
from .kernels.observing import OBSERVATION
from .kernels.recalling import HEADER_ROWS, INFORMATION
from .observed import Shown
from .turns import ACTIONS


class LegalActions(spaces.Discrete):
    """All actions of a player: ``Discrete(4738)``."""

    def __init__(self) -> None:
        """Make the space; the pass of a move is legal until :meth:`show`."""
        super().__init__(ACTIONS)
        self._mask = np.zeros(ACTIONS, np.int8)
        self._mask[PASS] = 1

    def show(self, mask: NDArray[np.int8]) -> None:
        """Let these be the legal actions from now on, int8[4738]; it keeps a copy."""
        self._mask[:] = mask

    def sample(self, mask: NDArray[Any] | None = None, probability: NDArray[Any] | None = None) -> Any:
        """Draw a legal action, or as a mask or probabilities say."""
        if mask is None and probability is None:
            mask = self._mask
        return super().sample(mask, probability)


class LegalActionsOfAll(spaces.MultiDiscrete):
    """An action for each of ``n`` games: ``MultiDiscrete([4738] * n)``."""

    def __init__(self, n: int) -> None:
        """Make the space; the pass of a move is legal until :meth:`show`."""
        super().__init__(np.full(n, ACTIONS))
        self._masks = np.zeros((n, ACTIONS), np.int8)
        self._masks[:, PASS] = 1

    def show(self, masks: NDArray[np.int8]) -> None:
        """Let these be the legal actions from now on, int8[n, 4738]; it keeps a copy."""
        self._masks[:] = masks

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[Any]:
        """Draw a legal action for each game, or as masks or probabilities say."""
        if mask is None and probability is None:
            mask = tuple(self._masks)
        return super().sample(mask, probability)


def observed_space(shown: Shown, recall: int) -> spaces.Box:
    """Return the space of what a player observes."""
    if shown == "turn":
        return spaces.Box(0, 255, (len(OBSERVATION), 8, 8), np.uint8)
    return spaces.Box(-1, np.iinfo(np.int16).max, (HEADER_ROWS + recall, len(INFORMATION)), np.int16)
