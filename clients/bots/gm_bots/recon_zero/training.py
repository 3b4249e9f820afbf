"""What the network learns: to predict the visits and the values of searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from .lockstep.encoding import with_attacks
from .network import Network
from .replay import Batch

if TYPE_CHECKING:
    from .lockstep.judging import Precision

#: The learning rate of AdamW at first, the steps in which it falls to a half, a little with each, and its weight decay.
LEARNING_RATE, HALVING, WEIGHT_DECAY = 2e-3, 1_200, 1e-4
#: The weight of the value's error relative to the moves'. Values are small numbers in blind chess, and their squares
#: smaller.
VALUE_WEIGHT = 10.0
#: Gradients are clipped to this norm, as in the notebook: one bad batch does not undo many good ones.
MAX_GRADIENT = 1.0


@dataclass(frozen=True)
class Losses:
    """The losses of a step: the moves' Kullback-Leibler divergence, in nats, and the value's squared error."""

    policy: float
    value: float

    @property
    def total(self) -> float:
        """What is minimised."""
        return self.policy + VALUE_WEIGHT * self.value


class Trainer:
    """A network that learns, step by step.

    :ivar step: the number of steps so far.
    """

    def __init__(self, network: Network, learning_rate: float = LEARNING_RATE) -> None:
        """:param learning_rate: that of the first step."""
        self.network, self.learning_rate, self.step = network, learning_rate, 0
        self.optimiser = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=WEIGHT_DECAY)

    def learn(self, batch: Batch, precision: Precision = "float32") -> Losses:
        """Do one step.

        :param precision: the numbers that the network computes with. Weights and losses are float32 in any case.
        """
        device = next(self.network.parameters()).device
        planes = torch.from_numpy(with_attacks(batch.planes)).to(device, memory_format=torch.channels_last)
        self.network.train()
        for group in self.optimiser.param_groups:
            group["lr"] = self.learning_rate * 2 ** (-self.step / HALVING)
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            logits, values = self.network(planes)
        moves, shares = (torch.from_numpy(array).to(device) for array in (batch.moves, batch.shares))
        policy = self._policy_loss(logits.float(), moves, shares)
        value = functional.mse_loss(values.float(), torch.from_numpy(batch.searched).to(device))
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward([policy + VALUE_WEIGHT * value])
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT)
        self.optimiser.step()
        self.step += 1
        return Losses(policy.item(), value.item())

    @staticmethod
    def _policy_loss(logits: Tensor, moves: Tensor, shares: Tensor) -> Tensor:
        """Return the divergence of the moves' probabilities from their shares, without an array of all moves."""
        expected = (shares * logits.gather(1, moves)).sum(1) - torch.logsumexp(logits, 1)
        loss: Tensor = (torch.special.xlogy(shares, shares).sum(1) - expected).mean()
        return loss
