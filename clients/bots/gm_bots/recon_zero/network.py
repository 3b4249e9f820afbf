"""The network: its output is a probability for each of the 20,480 moves by from, to and promotion, and a value.

The numbers of moves are those of :mod:`gm_env.actions`.

The head for the moves has, for each source square, one number for each target square and each promotion, with the same
weights on every square: with 48 channels 15 thousand numbers, where one matrix to all moves would have 42 million.

The value is the sum of the pieces' values on their squares by the engine ``minimax``, and a learnt correction.

It is shown which squares are attacked (:mod:`.lockstep.encoding`), which layers of 3 x 3 learn slowly, and judges pairs
of squares: a move's number has the product of what it has learnt about its source and about its target added, which
says whether a target is defended whatever the distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import torch
from torch import Tensor, nn
from torch.nn import functional

from gm_bots.minimax.evaluation import KING_WORTH, WORTH
from gm_env.actions import FROM_TO_PROMOTIONS

from .lockstep.encoding import ATTACKS, PLANES
from .lockstep.judging import SCALE

#: The moves from each source square: target squares, times promotions.
FROM_A_SQUARE = FROM_TO_PROMOTIONS // 64
#: The numbers that describe a square as a source, and as a target.
_PAIRED = 32


@dataclass(frozen=True)
class NetworkSettings:
    """The size of the network.

    :ivar channels: channels of the trunk.
    :ivar layers: layers of the trunk, each a convolution of 3 x 3; the notebook has 2.
    """

    channels: int = 64
    layers: int = 7


class Network(nn.Module):
    """Maps planes, (n, 27, 8, 8), to logits of shape (n, 20480), and values of shape (n,) from -1 to 1."""

    worth: Tensor

    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        self.settings = settings
        channels = settings.channels
        self.first = nn.Conv2d(PLANES + ATTACKS, channels, 3, padding=1)
        self.rest = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(settings.layers - 1))
        self.moves = nn.Conv2d(channels, FROM_A_SQUARE, 1)
        self.passing = nn.Linear(channels, 1)
        self.pairs = nn.Conv2d(channels, 2 * _PAIRED, 1)
        self.value = nn.Conv2d(channels, 32, 1)
        self.value_hidden = nn.Linear(32 * 64, 128)
        self.value_out = nn.Linear(128, 1)
        # A constant, not learnt: otherwise squares on which a piece seldom stands would get random values.
        self.register_buffer("worth", _worth())
        nn.init.zeros_(self.value_out.weight)
        nn.init.zeros_(self.value_out.bias)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        trunk = self.trunk(planes)
        return self._logits(trunk), self.values(trunk, planes)

    def trunk(self, planes: Tensor) -> Tensor:
        """Return the channels of all squares, of shape (n, channels, 8, 8)."""
        trunk = functional.relu(self.first(planes))
        for layer in self.rest:
            trunk = trunk + functional.relu(layer(trunk))  # a residual connection
        return trunk

    def values(self, trunk: Tensor, planes: Tensor) -> Tensor:
        """Return the values, of shape (n,): the pieces' and the correction, before the sum is limited to -1 to 1."""
        hidden = functional.relu(self.value_hidden(functional.relu(self.value(trunk)).flatten(1)))
        correction: Tensor = self.value_out(hidden).squeeze(-1)
        return torch.tanh(correction + functional.linear(planes[:, :PLANES].flatten(1), self.worth).squeeze(-1))

    def logits_from(self, trunk: Tensor, sources: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the moves from some squares, and of each position's pass.

        :param sources: of shape (k,), each 64 times a position's index plus a square.
        :returns: of shapes (k, targets and promotions) and (n,).
        """
        squares = trunk.permute(0, 2, 3, 1).flatten(0, 2)[sources]
        logits = functional.linear(squares, self.moves.weight.flatten(1), self.moves.bias)
        from_here, to_there = self.pairs(trunk).flatten(2).chunk(2, dim=1)
        from_here = from_here.transpose(1, 2).flatten(0, 1)[sources]
        logits = _added(logits, torch.bmm(from_here[:, None], to_there[sources // 64]).squeeze(1))
        return logits, self.passing(trunk.mean(dim=(2, 3))).squeeze(1)

    def _logits(self, trunk: Tensor) -> Tensor:
        logits = self.moves(trunk).flatten(2).transpose(1, 2)  # by source square, then target and promotion
        from_here, to_there = self.pairs(trunk).flatten(2).chunk(2, dim=1)
        logits = _added(logits, torch.bmm(from_here.transpose(1, 2), to_there)).flatten(1)
        # A pass starts from no square: its number is 0, which no move from a1 has.
        return torch.cat([self.passing(trunk.mean(dim=(2, 3))), logits[:, 1:]], dim=1)


def _added(logits: Tensor, pairs: Tensor) -> Tensor:
    """Return logits by target and promotion, with those of the targets added."""
    return (logits.view(*pairs.shape, -1) + pairs[..., None]).view_as(logits)


def _worth() -> Tensor:
    """Return the value of each piece to the player on each square, with kings as in the middle game."""
    worth = torch.zeros(PLANES, 64)
    for color, first in ((chess.WHITE, 0), (chess.BLACK, 6)):
        for piece_type in chess.PIECE_TYPES:
            is_king = piece_type == chess.KING
            values = KING_WORTH[False][color] if is_king else WORTH[piece_type, color]
            worth[first + piece_type - 1] = torch.tensor(values) / SCALE
    return worth.reshape(1, -1)
