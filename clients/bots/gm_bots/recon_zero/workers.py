"""Games played by several workers at a time: Ray's actors, on this machine or in a cluster.

A worker may die at any time, alone or with its machine, or hang. Then its game is given to another, from the beginning,
and another worker is started in its place as soon as a processor is free. The result of a game does not depend on its
worker, so the results of all games do not, either.
"""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import ray
import torch
from ray.exceptions import RayError, RayTaskError

from .lockstep.judging import Judge, Precision, count_material
from .lockstep.network_judge import NetworkJudge
from .network import Network, NetworkSettings
from .pool import Game, NoWorkers

T = TypeVar("T")

#: Bytes of shared memory for the weights and for finished games. Room enough for
#: large networks, twice while an iteration ends and the next begins; by default Ray takes a third of the memory.
SHARED_MEMORY = 512 * 2**20

#: Seconds without any worker after which a training gives up: a cluster may have to start machines for them.
PATIENCE_SECONDS = 300.0

#: Seconds after which a worker that has not finished its game, or its games in step, is taken to hang. In step 25 games
#: of the longest kind take some ten minutes of a processor.
LIMIT_SECONDS = 7200.0

#: Seconds in which the head of a cluster must answer.
REACH_SECONDS = 10.0

#: How often each worker may die on average without any game finishing meanwhile. A worker that cannot start,
#: because its machine lacks a library, dies at once and every time.
MOST_DEATHS = 3


@dataclass(frozen=True)
class Weights:
    """A network in the form sent to workers: without PyTorch's tensors, which would be copied once more."""

    settings: NetworkSettings
    arrays: dict[str, np.ndarray[Any, Any]]
    precision: Precision

    @classmethod
    def of(cls, network: Network, precision: Precision) -> Weights:
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
        return cls(network.settings, arrays, precision)

    def judge(self) -> Judge:
        """Return the network as an evaluator of positions, on the CPU."""
        network = Network(self.settings)
        # Ray's arrays are read-only, about which torch.from_numpy warns: torch.tensor copies them.
        network.load_state_dict({name: torch.tensor(array) for name, array in self.arrays.items()})
        return NetworkJudge(network, self.precision)


@dataclass(frozen=True)
class Place:
    """The machine and process of a worker."""

    host: str
    process: int

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


class _Player:
    """An actor: it plays one game at a time, with the weights that it was last given."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self._version = 0
        self._judge: Judge = count_material

    def place(self) -> Place:
        return Place(socket.gethostname(), os.getpid())

    def play(self, version: int, weights: Weights | None, game: Game[T]) -> T:
        """Play a game.

        :param version: the version of the weights, which are loaded into a network only once.
        """
        if version != self._version:
            self._judge = count_material if weights is None else weights.judge()
            self._version = version
        return game(self._judge)


@dataclass(eq=False)
class _Worker:
    """A worker.

    :ivar place: None until it has started.
    :ivar since: when it was given its game, by the monotonic clock.
    """

    actor: Any
    place: Place | None = None
    since: float = 0.0


@dataclass(eq=False)
class _Round:
    """The games of one call of :meth:`Workers.play`: those not being played, and the results of those that are over."""

    games: Sequence[Game[Any]]
    version: int
    weights: ray.ObjectRef[Weights | None]
    waiting: deque[int]
    results: dict[int, Any]
    done: Callable[[], None]


class Workers:
    """A pool of workers, for use in a ``with`` statement.

    :ivar deaths: how many workers have died or hung.
    :ivar patience: seconds without any worker after which it gives up.
    """

    def __init__(
        self,
        count: int,
        address: str | None = None,
        *,
        notice: Callable[[str], None] = lambda line: None,
        patience: float = PATIENCE_SECONDS,
        limit: float = LIMIT_SECONDS,
    ) -> None:
        """
        :param count: the number of workers, each of which takes one processor. A cluster with fewer has fewer workers.
        :param address: of the head of a cluster that includes this machine, as HOST:PORT; "auto" for the cluster that
            Ray has been started for on this machine; None to start Ray, for as long as this pool is used.
        :param notice: called with each line for the user.
        :param limit: seconds after which a worker with a game is taken to hang.
        """
        self._count, self._address, self._notice, self.patience = count, address, notice, patience
        self._limit = limit
        self._idle: list[_Worker] = []
        # The pending results: the place of a starting worker (without a round), or a game's result, by its number.
        self._pending: dict[ray.ObjectRef[Any], tuple[_Worker, _Round | None, int]] = {}
        self._version, self.deaths, self._futile = 0, 0, 0

    def __enter__(self) -> Workers:
        """Start or join Ray, and start the workers.

        :raises NoWorkers: Ray cannot be started, or there is no cluster at the address.
        """
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
        """The places of the workers that have started."""
        workers = [*self._idle, *(worker for worker, _, _ in self._pending.values())]
        return [worker.place for worker in workers if worker.place is not None]

    def wait(self) -> None:
        """Wait until all workers have started.

        :raises NoWorkers: some cannot start.
        """
        while len(self.places) < self._count:
            self._attend()

    def play(
        self,
        games: Sequence[Game[T]],
        network: Network | None,
        done: Callable[[], None],
        precision: Precision = "float32",
    ) -> Iterator[T]:
        """Play games, as :class:`~.pool.Pool` says.

        :raises NoWorkers: there are no workers left, or they die again and again.
        """
        self._version += 1
        weights = ray.put(None if network is None else Weights.of(network, precision))
        current = _Round(games, self._version, weights, deque(range(len(games))), {}, done)
        for number in range(len(games)):
            while number not in current.results:
                self._hand_out(current)
                self._attend()
            yield current.results.pop(number)

    def _hand_out(self, current: _Round) -> None:
        """Give games to all workers without one."""
        while self._idle and current.waiting:
            worker, number = self._idle.pop(), current.waiting.popleft()
            worker.since = monotonic()
            playing = worker.actor.play.remote(current.version, current.weights, current.games[number])
            self._pending[playing] = worker, current, number

    def _start(self) -> None:
        """Start a worker, which is ready once it has reported its place."""
        worker = _Worker(self._actor.options(num_cpus=1).remote())
        self._pending[worker.actor.place.remote()] = worker, None, 0

    def _attend(self) -> None:
        """Wait until a worker has started, finished its game, died or hung, and handle that."""
        ready, _ = ray.wait(list(self._pending), timeout=min(self.patience, self._left()))
        if not ready:
            if not self._replace_hung():
                self._check_patience()
            return
        worker, current, number = self._pending.pop(ready[0])
        try:
            result = ray.get(ready[0])
        except RayTaskError:  # the game itself failed, as it would in any worker
            self._idle.append(worker)
            raise
        except RayError as error:  # all others mean that a worker, machine or result is gone
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

    def _left(self) -> float:
        """Return the seconds until the first worker with a game is taken to hang."""
        since = [worker.since for worker, current, _ in self._pending.values() if current is not None]
        return max(0.0, min(since) + self._limit - monotonic()) if since else self.patience

    def _replace_hung(self) -> bool:
        """Replace the workers that hang; return whether there were any."""
        hung = [
            (playing, worker, current, number)
            for playing, (worker, current, number) in self._pending.items()
            if current is not None and monotonic() - worker.since >= self._limit
        ]
        for playing, worker, current, number in hung:
            del self._pending[playing]
            current.waiting.appendleft(number)
            self._replace(worker, RayError(f"it has not finished its game within {self._limit:g} seconds"))
        return bool(hung)

    def _check_patience(self) -> None:
        """Give up if no worker can be expected.

        :raises NoWorkers: no worker has a game, and none has started for long.
        """
        if any(current for _, current, _ in self._pending.values()):
            return  # a game may take longer than the patience
        where = "this machine" if self._address is None else f"the Ray cluster at {self._address}"
        raise NoWorkers(
            f"no worker could be started for {self.patience:g} seconds: check that {where} has free processors"
        )

    def _replace(self, worker: _Worker, error: RayError) -> None:
        """Start another worker in place of a dead one.

        :raises NoWorkers: too many have died without a game finishing.
        """
        self.deaths += 1
        self._futile += 1
        if self._futile > MOST_DEATHS * self._count:
            raise NoWorkers(
                f"{self._futile} workers have died without any game finishing. Ray's error for the last one: {error}"
            )
        if worker.place is None:
            self._notice(f"A worker has not started: {str(error).strip().splitlines()[-1]}")
        else:
            self._notice(f"A worker is lost ({worker.place}). Its game is played by another.")
        ray.kill(worker.actor)  # it may be alive, and only unreachable
        self._start()


def _connect(count: int, address: str | None) -> None:
    """Start Ray with processors for so many workers, or join the cluster."""
    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    # Ray sends no usage statistics from here, unless the user has enabled them.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # By default Ray gives workers a niceness of 15: on a busy machine two would play less than this process alone.
    os.environ.setdefault("RAY_worker_niceness", "0")
    _hush()
    if address is None:
        ray.init("local", num_cpus=count, include_dashboard=False, object_store_memory=SHARED_MEMORY, **quiet)
        return
    if address != "auto":
        _reach(address)
    ray.init(address, **quiet)


def _reach(address: str) -> None:
    """Check that the address accepts connections: Ray itself would try for minutes, logging all the while.

    :raises OSError: nothing accepts connections there.
    :raises ValueError: the text is not an address.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("it has to be HOST:PORT, or auto")
    socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


def _hush() -> None:
    """Silence Ray's log of each death: forty lines on standard output, without a public switch.

    If a later Ray drops this private switch, the lines appear again; :class:`Workers` reports a death in one line.
    """
    if (module := sys.modules.get("ray._private.worker")) is not None:
        vars(module)["_worker_logs_enabled"] = False
