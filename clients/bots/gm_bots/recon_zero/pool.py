"""The places where games are played: one after the other in this process, or several at a time by the workers of a
:mod:`gm_arena.pool`, which is the same games, whatever is lost meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import torch

from gm_arena.pool import Pool, results

from .lockstep.judging import Judge, Precision, count_material
from .lockstep.network_judge import NetworkJudge
from .network import Network, NetworkSettings

T = TypeVar("T")

#: A game to be played with the evaluator that it is given; it returns its result. All its random choices come from a
#: seed of its own, so that it is the same wherever and however often it is played. It is a ``functools.partial`` of a
#: module's function, since it may be sent to another process.
Game = Callable[[Judge], T]


def play(
    pool: Pool | None, games: Sequence[Game[T]], network: Network | None, precision: Precision = "float32"
) -> Iterator[T]:
    """Yield the result of each game, in the order of the games, whichever ends first.

    :param pool: the workers that play; None to play in this process, where PyTorch may have the network on a GPU.
    :param network: the network that plays all of them; None for :func:`~.lockstep.judging.count_material`.
    :param precision: the numbers that it computes with: see :class:`~.lockstep.network_judge.NetworkJudge`.
    :raises gm_arena.pool.NoWorkers: the workers are lost.
    """
    if pool is not None:
        weights = None if network is None else Weights.of(network, precision)
        yield from results(pool, [partial(_play, weights, game) for game in games])
        return
    judge: Judge = count_material if network is None else NetworkJudge(network, precision)
    for game in games:
        with one_thread():
            result = game(judge)
        yield result


@dataclass(frozen=True)
class Weights:
    """A network in the form sent to workers: without PyTorch's tensors.

    :ivar version: tells it from others.
    """

    version: str
    settings: NetworkSettings
    arrays: dict[str, np.ndarray[Any, Any]]
    precision: Precision

    @classmethod
    def of(cls, network: Network, precision: Precision) -> Weights:
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
        return cls(uuid4().hex, network.settings, arrays, precision)

    def judge(self) -> Judge:
        """Return the network as an evaluator of positions, on the CPU."""
        network = Network(self.settings)
        # Ray's arrays are read-only, about which torch.from_numpy warns: torch.tensor copies them.
        network.load_state_dict({name: torch.tensor(array) for name, array in self.arrays.items()})
        return NetworkJudge(network, self.precision)


#: In a worker, the evaluator of the network that it has played with last, by its version.
_latest: dict[str, Judge] = {}


def _play(weights: Weights | None, game: Game[T]) -> T:
    """Play a game, in a worker."""
    torch.set_num_threads(1)
    if weights is None:
        return game(count_material)
    if weights.version not in _latest:
        _latest.clear()
        _latest[weights.version] = weights.judge()
    return game(_latest[weights.version])


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute in one thread during the block.

    A worker does the same, so that sums are added in the same order there as here. For the few positions that a search
    evaluates at a time more threads do not help.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
