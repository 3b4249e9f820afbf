"""What the network learns: to predict the visits of searches, and the results of games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from .network import Network
from .replay import Batch, Floats

if TYPE_CHECKING:
    from .lockstep.judging import Precision

#: Gradients are clipped to this norm, as in the notebook: one bad batch does not undo many good ones.
MAX_GRADIENT = 1.0


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of learning.

    :ivar value: the target of the value: the search's value of the position, or its mean with the result of the game.
    :ivar value_weight: the weight of the value's error relative to the moves'. Values are small numbers in blind chess,
        and their squares smaller.
    :ivar halving: the steps in which the learning rate falls to a half, a little with each; 0 if it stays as it is.
    """

    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    value: Literal["search", "both"] = "search"
    value_weight: float = 10.0
    halving: int = 0


@dataclass(frozen=True)
class Losses:
    """The losses of a step: the moves' Kullback-Leibler divergence, in nats, and the value's squared error."""

    policy: float
    value: float


class Trainer:
    """A network that learns, step by step.

    :ivar step: the number of steps so far.
    """

    def __init__(self, network: Network, settings: TrainingSettings) -> None:
        self.network, self.settings, self.step = network, settings, 0
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    def learn(self, batch: Batch, precision: Precision = "float32") -> Losses:
        """Do one step.

        :param precision: the numbers that the network computes with. Weights and losses are float32 in any case.
        """
        device = next(self.network.parameters()).device
        planes = self.network.shown(batch.planes).to(device, memory_format=torch.channels_last)
        self.network.train()
        self._set_learning_rate()
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            logits, values = self.network(planes)
        moves, shares = (torch.from_numpy(array).to(device) for array in (batch.moves, batch.shares))
        policy = self._policy_loss(logits.float(), moves, shares)
        value = functional.mse_loss(values.float(), torch.from_numpy(self._wanted(batch)).to(device))
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward([policy + self.settings.value_weight * value])
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT)
        self.optimiser.step()
        self.step += 1
        return Losses(policy.item(), value.item())

    def _set_learning_rate(self) -> None:
        settings = self.settings
        falls = 2 ** (-self.step / settings.halving) if settings.halving else 1.0
        for group in self.optimiser.param_groups:
            group["lr"] = settings.learning_rate * falls

    def _wanted(self, batch: Batch) -> Floats:
        share = {"both": 0.5, "search": 0.0}[self.settings.value]
        return np.asarray(share * batch.outcome + (1 - share) * batch.searched, np.float32)

    @staticmethod
    def _policy_loss(logits: Tensor, moves: Tensor, shares: Tensor) -> Tensor:
        """Return the divergence of the moves' probabilities from their shares, without an array of all moves."""
        expected = (shares * logits.gather(1, moves)).sum(1) - torch.logsumexp(logits, 1)
        loss: Tensor = (torch.special.xlogy(shares, shares).sum(1) - expected).mean()
        return loss
