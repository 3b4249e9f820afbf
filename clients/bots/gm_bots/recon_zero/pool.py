"""The places where games are played: one after the other in this process, or several at a time by workers
(:mod:`.workers`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

import torch

from .lockstep.judging import Judge, Precision, count_material
from .lockstep.network_judge import NetworkJudge
from .network import Network

T = TypeVar("T")

#: A game to be played with the evaluator that it is given; it returns its result. All its random choices come from a
#: seed of its own, so that it is the same wherever and however often it is played. It is a ``functools.partial`` of a
#: module's function, since it may be sent to another process.
Game = Callable[[Judge], T]


class NoWorkers(RuntimeError):
    """There are no workers: Ray cannot be started or reached, its machines are gone, or workers die again and again."""


class Pool(Protocol):
    """A player of games."""

    def play(
        self,
        games: Sequence[Game[T]],
        network: Network | None,
        done: Callable[[], None],
        precision: Precision = "float32",
    ) -> Iterator[T]:
        """Yield the result of each game, in the order of the games, whichever ends first.

        :param network: the network that plays all of them; None for :func:`~.lockstep.judging.count_material`.
        :param done: called whenever a game is over.
        :param precision: the numbers that it computes with: see :class:`~.lockstep.network_judge.NetworkJudge`.
        :raises NoWorkers: there are no workers to play them.
        """
        ...


class InProcess:
    """Plays games in this process, where PyTorch may have the network on a GPU."""

    def play(
        self,
        games: Sequence[Game[T]],
        network: Network | None,
        done: Callable[[], None],
        precision: Precision = "float32",
    ) -> Iterator[T]:
        judge: Judge = count_material if network is None else NetworkJudge(network, precision)
        for game in games:
            with one_thread():
                result = game(judge)
            yield result
            done()


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
