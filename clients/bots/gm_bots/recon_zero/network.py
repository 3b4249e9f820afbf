"""The network: what it is shown is turned into a probability for each of the 20,480 moves, and a value.

The head for the moves is one of two. ``dense`` is the notebook's: one matrix from 32 planes to all moves, 42 million
numbers. ``planes`` has, for each square that a move starts from, one number for each square it goes to and each
promotion, by the same weights on every square: with 48 channels 15 thousand numbers, so that a checkpoint takes a
megabyte and less has to be learnt.

The value is what the pieces are worth on their squares to the engine ``minimax``, if it is to be, and what is learnt
beside it: what they do not say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import chess
import numpy as np
import torch
from chess import Move
from torch import Tensor, nn
from torch.nn import functional

from gm_bots.minimax.evaluation import KING_WORTH, WORTH
from gm_recon import ReconBoard

from .actions import ACTIONS, PASS, index_of
from .belief import certain
from .encoder import PLANES, encode
from .evaluation import SCALE, Judgement

#: Of each square that a move starts from: squares it goes to, times promotions.
_FROM_A_SQUARE = ACTIONS // 64


@dataclass(frozen=True)
class NetworkSettings:
    """How large the network is.

    :ivar channels: of the trunk.
    :ivar material: whether the value has what the pieces are worth in it, a switch. What the network says is added
        before the sum is brought between -1 and 1.
    :ivar layers: of the trunk, each a convolution of 3 x 3; the notebook has 2. A move's probability depends on what
        is at most this far from where it starts, with the head ``planes``.
    """

    channels: int = 48
    layers: int = 5
    head: Literal["planes", "dense"] = "planes"
    material: bool = True


class Network(nn.Module):
    """Takes planes of shape (n, 15, 8, 8); gives logits of shape (n, 20480), and values of shape (n,) from -1 to 1."""

    worth: Tensor | None

    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        self.settings = settings
        channels = settings.channels
        self.first = nn.Conv2d(PLANES, channels, 3, padding=1)
        self.rest = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(settings.layers - 1))
        self.moves = nn.Conv2d(channels, 32 if settings.head == "dense" else _FROM_A_SQUARE, 1)
        self.all_moves = nn.Linear(32 * 64, ACTIONS) if settings.head == "dense" else None
        self.passing = nn.Linear(channels, 1)
        self.value = nn.Conv2d(channels, 16, 1)
        self.value_hidden = nn.Linear(16 * 64, 64)
        self.value_out = nn.Linear(64, 1)
        # It is not learnt: squares on which a piece seldom stands would be worth whatever chance says.
        self.register_buffer("worth", _worth() if settings.material else None)
        if settings.material:
            nn.init.zeros_(self.value_out.weight)
            nn.init.zeros_(self.value_out.bias)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        trunk = functional.relu(self.first(planes))
        for layer in self.rest:
            trunk = trunk + functional.relu(layer(trunk))  # what was known stays
        hidden = functional.relu(self.value_hidden(functional.relu(self.value(trunk)).flatten(1)))
        value = self.value_out(hidden).squeeze(-1)
        if self.worth is not None:
            value = value + functional.linear(planes.flatten(1), self.worth).squeeze(-1)
        return self._logits(trunk), torch.tanh(value)

    def _logits(self, trunk: Tensor) -> Tensor:
        if self.all_moves is not None:
            return self.all_moves(functional.relu(self.moves(trunk)).flatten(1))  # type: ignore[no-any-return]
        logits = self.moves(trunk).flatten(2).transpose(1, 2).flatten(1)  # by square, then what becomes of it
        # To pass starts from no square: its number is one that no move of the square a1 has.
        passing = self.passing(trunk.mean(dim=(2, 3)))
        return torch.cat([passing, logits[:, PASS + 1 :]], dim=1)


def _worth() -> Tensor:
    """What each piece is worth to the player on each square, with kings as they are in the middle game."""
    worth = torch.zeros(PLANES, 64)
    for color, first in ((chess.WHITE, 0), (chess.BLACK, 6)):
        for piece_type in chess.PIECE_TYPES:
            is_king = piece_type == chess.KING
            values = KING_WORTH[False][color] if is_king else WORTH[piece_type, color]
            worth[first + piece_type - 1] = torch.tensor(values) / SCALE
    return worth.reshape(1, -1)


class NetworkEvaluator:
    """The network as a search asks it: of a position in which all is seen."""

    def __init__(self, network: Network) -> None:
        self._network = network.eval()
        self._device = next(network.parameters()).device

    def __call__(self, positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
        planes = np.stack([_planes(board) for board, _ in positions])
        with torch.inference_mode():
            logits, values = self._network(torch.from_numpy(planes).to(self._device))
        judged = zip(positions, logits.cpu().numpy(), values.tolist(), strict=True)
        return [(_softmax(each, board, moves), value) for (board, moves), each, value in judged]


def _planes(board: ReconBoard) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    seen = board.as_chess()
    return encode(seen, board.turn, certain(seen, board.turn))


def _softmax(
    logits: np.ndarray[tuple[int, ...], np.dtype[np.float32]], board: ReconBoard, moves: Sequence[Move | None]
) -> list[float]:
    """The probabilities of some moves, all others being left out."""
    chosen = logits[[index_of(move, board.turn) for move in moves]].astype(np.float64)
    powers = np.exp(chosen - chosen.max())
    probabilities: list[float] = (powers / powers.sum()).tolist()
    return probabilities
