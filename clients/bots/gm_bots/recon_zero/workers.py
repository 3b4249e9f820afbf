"""Games played by several workers at a time: Ray's actors, on this machine or on all of a cluster.

A worker may die at any time, alone or with its machine. Its game is given to another then, from the beginning, and
another worker is started in its place as soon as there is a processor for it. What comes of a game does not depend on
who plays it, so neither does what comes of all of them.
"""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import ray
import torch
from ray.exceptions import RayError, RayTaskError

from .evaluation import Evaluator, count_material
from .network import Network, NetworkEvaluator, NetworkSettings
from .pool import Game, NoWorkers

T = TypeVar("T")

#: Bytes of shared memory for the weights and for games that are over. The weights of the network's head ``dense`` take
#: 170 MB, and twice that while an iteration ends and the next begins; Ray by itself takes a third of the memory.
SHARED_MEMORY = 512 * 2**20

#: Seconds without any worker after which a training gives up: a cluster may have to start machines for them.
PATIENCE_SECONDS = 300.0

#: Seconds that the head of a cluster may take to answer.
REACH_SECONDS = 10.0

#: Times that each worker may die on average without a single game being over meanwhile. One that cannot start, as its
#: machine lacks a library, dies at once and each time.
MOST_DEATHS = 3


@dataclass(frozen=True)
class Weights:
    """A network, as it is sent to workers: without PyTorch's own tensors, which are copied once more."""

    settings: NetworkSettings
    arrays: dict[str, np.ndarray[Any, Any]]

    @classmethod
    def of(cls, network: Network) -> Weights:
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
        return cls(network.settings, arrays)

    def evaluator(self) -> Evaluator:
        """The network again, on the CPU."""
        network = Network(self.settings)
        # Ray's arrays cannot be written to, of which torch.from_numpy warns: torch.tensor copies them.
        network.load_state_dict({name: torch.tensor(array) for name, array in self.arrays.items()})
        return NetworkEvaluator(network)


@dataclass(frozen=True)
class Place:
    """Where a worker is."""

    host: str
    process: int

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


class _Player:
    """What an actor is: plays one game at a time, by the weights it was last given."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self._version, self._evaluator = 0, count_material

    def place(self) -> Place:
        return Place(socket.gethostname(), os.getpid())

    def play(self, version: int, weights: Weights | None, game: Game[T]) -> T:
        """:param version: of the weights, which are made a network of but once."""
        if version != self._version:
            self._evaluator = count_material if weights is None else weights.evaluator()
            self._version = version
        return game(self._evaluator)


@dataclass(eq=False)
class _Worker:
    """:ivar place: None until it has started."""

    actor: Any
    place: Place | None = None


@dataclass(eq=False)
class _Round:
    """The games of one call of :meth:`Workers.play`: those that nobody plays, and what came of those that are over."""

    games: Sequence[Game[Any]]
    version: int
    weights: ray.ObjectRef[Weights | None]
    waiting: deque[int]
    results: dict[int, Any]
    done: Callable[[], None]


class Workers:
    """A pool of workers; to be used in a ``with`` statement.

    :ivar deaths: how many workers have died.
    :ivar patience: seconds without any worker after which it gives up.
    """

    def __init__(
        self,
        count: int,
        address: str | None = None,
        *,
        notice: Callable[[str], None] = lambda line: None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """
        :param count: of workers, each of which takes one processor. A cluster with fewer has fewer workers.
        :param address: of the head of a cluster that this machine is one of, as HOST:PORT; "auto" for the cluster that
            Ray has been started for on this machine; None to start Ray, for as long as this is used.
        :param notice: told of what the user should know.
        """
        self._count, self._address, self._notice, self.patience = count, address, notice, patience
        self._idle: list[_Worker] = []
        # What is waited for: the place of one that starts (of no round), or what comes of a game, by its number.
        self._pending: dict[ray.ObjectRef[Any], tuple[_Worker, _Round | None, int]] = {}
        self._version, self.deaths, self._futile = 0, 0, 0

    def __enter__(self) -> Workers:
        """:raises NoWorkers: it cannot be started, or there is no cluster at the address."""
        try:
            _connect(self._count, self._address)
        except (OSError, OverflowError, RuntimeError, ValueError, RayError) as error:
            where = "Ray does not start" if self._address is None else f"there is no Ray cluster at {self._address}"
            raise NoWorkers(f"{where}: {error}") from None
        self._actor: Any = ray.remote(_Player)
        for _ in range(self._count):
            self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ray.shutdown()

    @property
    def places(self) -> list[Place]:
        """Where the workers are that have started."""
        workers = [*self._idle, *(worker for worker, _, _ in self._pending.values())]
        return [worker.place for worker in workers if worker.place is not None]

    def wait(self) -> None:
        """Until all have started.

        :raises NoWorkers: some cannot.
        """
        while len(self.places) < self._count:
            self._attend()

    def play(self, games: Sequence[Game[T]], network: Network | None, done: Callable[[], None]) -> Iterator[T]:
        """See :class:`~.pool.Pool`.

        :raises NoWorkers: there are no workers left, or they die again and again.
        """
        self._version += 1
        weights = ray.put(None if network is None else Weights.of(network))
        current = _Round(games, self._version, weights, deque(range(len(games))), {}, done)
        for number in range(len(games)):
            while number not in current.results:
                self._hand_out(current)
                self._attend()
            yield current.results.pop(number)

    def _hand_out(self, current: _Round) -> None:
        """Give games to all who have none."""
        while self._idle and current.waiting:
            worker, number = self._idle.pop(), current.waiting.popleft()
            playing = worker.actor.play.remote(current.version, current.weights, current.games[number])
            self._pending[playing] = worker, current, number

    def _start(self) -> None:
        """A new worker, which is there as soon as it says where."""
        worker = _Worker(self._actor.options(num_cpus=1).remote())
        self._pending[worker.actor.place.remote()] = worker, None, 0

    def _attend(self) -> None:
        """Wait until a worker has started, finished its game or died, and see to it."""
        ready, _ = ray.wait(list(self._pending), timeout=self.patience)
        if not ready:
            self._check_patience()
            return
        worker, current, number = self._pending.pop(ready[0])
        try:
            result = ray.get(ready[0])
        except RayTaskError:  # the game itself has failed, as it would anywhere
            self._idle.append(worker)
            raise
        except RayError as error:  # all others say, in many ways, that worker, machine or result is gone
            if current is not None:
                current.waiting.appendleft(number)
            self._replace(worker, error)
            return
        self._idle.append(worker)
        if current is None:
            worker.place = result
        else:
            self._futile = 0
            current.results[number] = result
            current.done()

    def _check_patience(self) -> None:
        """:raises NoWorkers: no worker has a game, and none has started for long."""
        if any(current for _, current, _ in self._pending.values()):
            return  # a game may take longer than that
        where = "this machine" if self._address is None else f"the Ray cluster at {self._address}"
        raise NoWorkers(
            f"no worker could be started for {self.patience:g} seconds: see that {where} has processors to spare"
        )

    def _replace(self, worker: _Worker, error: RayError) -> None:
        """Start another one.

        :raises NoWorkers: too many have died without a game being over.
        """
        self.deaths += 1
        self._futile += 1
        if self._futile > MOST_DEATHS * self._count:
            raise NoWorkers(
                f"{self._futile} workers have died, and no game was over meanwhile. Of the last one Ray says: {error}"
            )
        if worker.place is None:
            self._notice(f"A worker has not started: {str(error).strip().splitlines()[-1]}")
        else:
            self._notice(f"A worker is lost ({worker.place}). Its game is played by another.")
        ray.kill(worker.actor)  # it may live, and only be out of reach
        self._start()


def _connect(count: int, address: str | None) -> None:
    """Start Ray with processors for so many workers, or join the cluster."""
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    # What is started here tells Ray's makers nothing, unless the user has said that it shall.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # By itself Ray gives workers a niceness of 15: on a busy machine two would play less than this process alone.
    os.environ.setdefault("RAY_worker_niceness", "0")
    _hush()
    if address is None:
        ray.init("local", num_cpus=count, include_dashboard=False, object_store_memory=SHARED_MEMORY, **quiet)
        return
    if address != "auto":
        _reach(address)
    ray.init(address, **quiet)


def _reach(address: str) -> None:
    """Whether somebody listens there: Ray itself tries for minutes, and logs all the while.

    :raises OSError: nobody does.
    :raises ValueError: it is no address.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("it has to be HOST:PORT, or auto")
    socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


def _hush() -> None:
    """Ray tells of each death in forty lines, on standard output, and has no public switch for it.

    Should it have this one no longer, it tells again; :class:`Workers` says it in one line.
    """
    if (module := sys.modules.get("ray._private.worker")) is not None:
        vars(module)["_worker_logs_enabled"] = False
