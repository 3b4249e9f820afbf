"""Where games are played: one after the other in this process, or several at a time by workers (:mod:`.workers`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

import torch

from .evaluation import Evaluator, count_material
from .network import Network, NetworkEvaluator

T = TypeVar("T")

#: A game to be played by whatever evaluator it is given, and what comes of it. It draws all chance from a seed of its
#: own, so that it is the same wherever and however often it is played. A ``functools.partial`` of a module's function,
#: since it may be sent to another process.
Game = Callable[[Evaluator], T]


class NoWorkers(RuntimeError):
    """There are no workers: Ray cannot be started or reached, its machines are gone, or workers die again and again."""


class Pool(Protocol):
    """Plays games."""

    def play(self, games: Sequence[Game[T]], network: Network | None, done: Callable[[], None]) -> Iterator[T]:
        """What comes of each game, in the order of the games, whichever is over first.

        :param network: which all of them are played by; None for :func:`~.evaluation.count_material`.
        :param done: called whenever a game is over.
        :raises NoWorkers: there is nobody to play them.
        """
        ...


class InProcess:
    """Plays them here, where PyTorch may have the network on a GPU."""

    def play(self, games: Sequence[Game[T]], network: Network | None, done: Callable[[], None]) -> Iterator[T]:
        evaluator = count_material if network is None else NetworkEvaluator(network)
        for game in games:
            with one_thread():
                result = game(evaluator)
            yield result
            done()


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch computes in one thread meanwhile.

    So it is in a worker, and sums are added in the same order there as here. For the few positions that a search asks
    for at a time more threads do not help.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
