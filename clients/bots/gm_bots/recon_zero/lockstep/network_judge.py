"""The network as the evaluator of many positions at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gm_env.actions import FROM_TO_BY_PLANES
from gm_env.kernels.jit import lowest
from gm_env.kernels.layout import PASS, PAWN
from gm_env.kernels.rules import ONE, U, Words, pieces_of

from ..network import FROM_A_SQUARE, Network
from .compiled import kernel
from .encoding import ATTACKS, PLANES, encode, encode_attacks
from .judging import Precision, Values
from .trees import Indexes, Trees

#: Positions that the network evaluates at once on a processor: more take longer each, as its cache is too small.
BATCH = 128


class NetworkJudge:
    """A network that evaluates many nodes at once, but only the moves of the pieces that are there."""

    def __init__(self, network: Network, precision: Precision = "float32") -> None:
        """:param precision: the numbers that it computes with. ``bfloat16`` takes half the time on GPUs and on
        processors that know it (AVX512_BF16, AMX), longer on others, and differs in the third decimal.
        """
        self._device = next(network.parameters()).device
        self._kind = torch.float32 if precision == "float32" else torch.bfloat16
        copy = Network(network.settings)
        copy.load_state_dict(network.state_dict())
        self._network = copy.to(self._device, self._kind).eval()
        # PyTorch documents the argument, but does not declare it.
        layout: Any = {"memory_format": torch.channels_last}
        self._network.to(**layout)

    def __call__(self, trees: Trees, nodes: Indexes) -> Values:
        values = np.empty(len(nodes))
        most = BATCH if self._device.type == "cpu" else max(1, len(nodes))
        for start in range(0, len(nodes), most):
            some = slice(start, start + most)
            values[some] = self._judge(trees, nodes[some])
        return values

    def _judge(self, trees: Trees, nodes: Indexes) -> Values:
        planes = np.empty((len(nodes), 64, PLANES + ATTACKS), np.float32)
        encode(trees.states, trees.numbers, nodes, planes)
        encode_attacks(trees.states, nodes, planes)
        rows, sources = np.empty((len(nodes), 64), np.int64), np.empty(64 * len(nodes), np.int64)
        sources = sources[: _list_sources(trees.states, nodes, rows, sources)]
        shown = torch.from_numpy(planes.reshape(len(nodes), 8, 8, -1)).permute(0, 3, 1, 2).to(self._device, self._kind)
        with torch.inference_mode():
            trunk = self._network.trunk(shown)
            logits, passes = self._network.logits_from(trunk, torch.from_numpy(sources).to(self._device))
            values = self._network.values(trunk, shown)
        numbers = logits.float().cpu().numpy(), passes.float().cpu().numpy()
        _weigh(trees, nodes, rows, *numbers, FROM_TO_BY_PLANES)
        result: Values = values.double().cpu().numpy()
        return result


@kernel
def _list_sources(states: Words, nodes: Indexes, rows: Indexes, sources: Indexes) -> int:
    """List the squares from which moves may start, those of the side to move's pieces; return how many there are.

    :param rows: (nodes, 64), the place of each of them in the list.
    :param sources: 64 times the place of the node, plus the square.
    """
    count = 0
    for index in range(nodes.size):
        pieces = pieces_of(states, nodes[index], 0)
        while pieces:
            square = int(lowest(pieces))
            rows[index, square], sources[count] = count, 64 * index + square
            count += 1
            pieces &= pieces - ONE
    return count


@kernel
def _weigh(
    trees: Trees,
    nodes: Indexes,
    rows: Indexes,
    logits: NDArray[np.float32],
    passes: NDArray[np.float32],
    numbers_of: NDArray[np.int32],
) -> None:
    """Write the probabilities of the nodes' edges, normalised among them.

    :param rows: (nodes, 64), the row of the logits that belongs to a source.
    :param logits: (sources, targets and promotions).
    :param numbers_of: the numbers by from, to and promotion of those by planes.
    """
    for index in range(nodes.size):
        node = nodes[index]
        begin, end = trees.first[node], trees.first[node] + trees.edges[node]
        largest = -np.inf
        for edge in range(begin, end):
            action = int(trees.action[edge])
            logit = passes[index]
            if action != PASS:
                pawn = int(trees.states[node, PAWN] >> U(action & 63) & ONE)
                logit = logits[rows[index, action & 63], numbers_of[pawn, action] % FROM_A_SQUARE]
            trees.prior[edge] = logit
            largest = max(largest, trees.prior[edge])
        total = 0.0
        for edge in range(begin, end):
            trees.prior[edge] = math.exp(trees.prior[edge] - largest)
            total += trees.prior[edge]
        for edge in range(begin, end):
            trees.prior[edge] /= total
