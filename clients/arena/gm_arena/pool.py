"""Independent jobs on the processors of this machine, or on a Ray cluster: a game, games in step, games of self-play.

A job is a call without arguments, as a ``functools.partial`` of a module's function; it and its result are pickled.
One that cleans up at SIGTERM raises :class:`Stopped` then, and its worker ends. A worker may be lost at any time, with
its machine: then its job is given out again, from its beginning. A job's result comes once, whatever is lost, so
nothing is counted twice. ``concurrent.futures`` runs processes of this machine; Ray places jobs on its machines, one
a task, and repeats those of a lost one.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from multiprocessing import connection, get_context, parent_process
from typing import Any, NamedTuple, Protocol, TypeVar

import trio

from .extras import how_to_install
from .stopping import Stopped

T = TypeVar("T")

#: How often a job may lose its worker: one that loses this many is what ends them.
MOST_LOSSES = 3

#: Seconds that a job has to clean up when the first process is gone.
GRACE_SECONDS = 5.0

#: Seconds in which the head of a cluster must answer.
REACH_SECONDS = 10.0

#: Bytes of shared memory for what jobs are given and return; by default Ray takes a third of the memory.
SHARED_MEMORY = 512 << 20

#: The value of ``--ray`` for a cluster of this machine alone, which is started for the command.
LOCAL = "local"


class NoWorkers(Exception):
    """There are no workers: the cluster cannot be reached or started, or workers are lost again and again."""


class Pool(Protocol):
    """Workers that run jobs.

    :ivar size: how many jobs run at the same time.
    """

    size: int

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Run a job when a worker is free. Its future has its result or exception, or :class:`NoWorkers`."""
        ...


@contextmanager
def open_pool(size: int, ray: str | None = None, notice: Callable[[str], None] = lambda line: None) -> Iterator[Pool]:
    """Yield workers, and end them, also those with a job: they get SIGTERM, and are given the time to clean up.

    :param size: how many there are; with Ray, 0 is as many as the cluster has processors.
    :param ray: the address of the head of a Ray cluster that includes this machine, HOST:PORT or ``auto``; ``local``
        starts a cluster on this machine; None is processes of this machine, without Ray.
    :param notice: called with each line for the user.
    :raises NoWorkers: there is no such cluster, or Ray is not installed.
    """
    workers = _Processes(size, notice) if ray is None else _Cluster(size, ray)
    try:
        yield workers
    finally:
        workers.end()


def results(pool: Pool, jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Yield the results of jobs, in the order of the jobs, whichever ends first.

    :raises NoWorkers: the workers are lost.
    """
    left, running = iter(jobs), deque[Future[T]]()
    while True:
        for job in left:
            running.append(pool.submit(job))
            if len(running) >= 2 * pool.size:  # the next job is there when a worker is free
                break
        if not running:
            return
        yield running.popleft().result()


async def result_of(future: Future[T]) -> T:
    """Return the result of a job, without holding up other tasks of trio. The job runs on if this is cancelled."""
    token, over = trio.lowlevel.current_trio_token(), trio.Event()

    def tell(_: Future[T]) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(over.set)

    future.add_done_callback(tell)
    await over.wait()
    return future.result()


# --- Processes of this machine ------------------------------------------------------------------------------------


def _begin() -> None:
    """Begin a worker: Ctrl-C is for the first process alone, and a worker whose first process is gone ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)  # a job that handles it cleans up
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def _run(job: Callable[[], T]) -> T:
    """Run a job in a worker; end the worker if a signal has stopped the job, which has cleaned up."""
    try:
        return job()
    except Stopped as stopped:
        os._exit(stopped.status)


class _Task(NamedTuple):
    """A job, the future of its result, and how many workers it has lost."""

    job: Callable[[], Any]
    outcome: Future[Any]
    losses: int = 0


class _Processes:
    """Workers that are processes, each with an executor of its own: the death of one concerns its own job alone."""

    def __init__(self, size: int, notice: Callable[[str], None]) -> None:
        self.size, self._notice = size, notice
        self._lock, self._ended = threading.RLock(), False
        self._waiting: deque[_Task] = deque()
        self._free = [_executor() for _ in range(size)]
        self._busy: list[ProcessPoolExecutor] = []

    def submit(self, job: Callable[[], T]) -> Future[T]:
        task = _Task(job, Future())
        with self._lock:
            self._waiting.append(task)
            self._go_on()
        return task.outcome

    def _go_on(self) -> None:
        """Give the next jobs to free processes."""
        while self._free and self._waiting and not self._ended:
            executor, task = self._free.pop(), self._waiting.popleft()
            try:
                running = executor.submit(_run, task.job)
            except BrokenProcessPool:  # its process has died between two jobs
                executor = _executor()
                running = executor.submit(_run, task.job)
            self._busy.append(executor)
            running.add_done_callback(partial(self._over, executor, task))

    def _over(self, executor: ProcessPoolExecutor, task: _Task, running: Future[Any]) -> None:
        """Take what has come of a job; give it out again where its worker is lost."""
        job, outcome, losses = task
        with self._lock:
            self._busy.remove(executor)
            error = None if running.cancelled() else running.exception()
            lost = isinstance(error, BrokenProcessPool)
            self._free.append(_executor() if lost else executor)
            if running.cancelled() or self._ended:
                outcome.cancel()
            elif not lost:
                outcome.set_exception(error) if error is not None else outcome.set_result(running.result())
            elif losses + 1 >= MOST_LOSSES:
                outcome.set_exception(NoWorkers(f"{losses + 1} processes have died in turn at one job: {error}"))
            else:
                self._notice("A process is lost. Its job is given to another.")
                self._waiting.appendleft(_Task(job, outcome, losses + 1))
            self._go_on()

    def end(self) -> None:
        """End the processes, after they have cleaned up."""
        with self._lock:
            self._ended = True
            executors = [*self._free, *self._busy]
            processes = [process for each in executors for process in (each._processes or {}).values()]
            for task in self._waiting:
                task.outcome.cancel()
        for executor in executors:
            executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _executor() -> ProcessPoolExecutor:
    """Return an executor of one process, which starts with the first job.

    It is spawned and not forked: a fork has the locks of threads that it does not have. An executor of several spawned
    processes would notice late that one has died: 3.11 watches those that were there at its last event.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)


# --- Ray ----------------------------------------------------------------------------------------------------------


class _Cluster:
    """Workers that are Ray's, each job a task of one processor."""

    def __init__(self, size: int, address: str) -> None:
        """Join a cluster, or start one.

        :raises NoWorkers: there is none, or Ray is not installed.
        """
        if find_spec("ray") is None:
            raise NoWorkers(f"--ray needs Ray, which is not installed: {how_to_install('train')}")
        import ray
        from ray.exceptions import RayError

        try:
            _connect(size, address)
        except (OSError, OverflowError, RuntimeError, ValueError, RayError) as error:
            where = "Ray does not start" if address == LOCAL else f"there is no Ray cluster at {address}"
            raise NoWorkers(f"{where}: {error}") from None
        self._ray, self._system_error = ray, RayError
        self._task: Any = ray.remote(num_cpus=1, max_retries=MOST_LOSSES - 1)(_run)
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        self.size = size or max(1, int(resources.get("CPU", 1)))

    def submit(self, job: Callable[[], T]) -> Future[T]:
        outcome: Future[T] = Future()
        running: Future[T] = self._task.remote(job).future()
        running.add_done_callback(partial(self._over, outcome))
        return outcome

    def _over(self, outcome: Future[T], running: Future[T]) -> None:
        error = running.exception()
        if error is None:
            outcome.set_result(running.result())
        elif isinstance(error, self._system_error) and not isinstance(error, self._ray.exceptions.RayTaskError):
            outcome.set_exception(NoWorkers(f"Ray's workers are lost: {error}"))
        else:  # the job's own, as it would be in any worker
            outcome.set_exception(getattr(error, "cause", error))

    def end(self) -> None:
        """Leave the cluster, which ends this command's tasks; one that was started for it ends."""
        self._ray.shutdown()


def _connect(size: int, address: str) -> None:
    """Start Ray with processors for so many workers, or join the cluster."""
    import ray

    quiet: dict[str, Any] = {"logging_level": "error", "log_to_driver": False}
    # Ray sends no usage statistics from here, unless the user has enabled them.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # By default Ray gives workers a niceness of 15: on a busy machine two would do less than this process alone.
    os.environ.setdefault("RAY_worker_niceness", "0")
    # Ray prints the end of a log on standard output for each death, and has no public switch for it. If a later Ray
    # drops this one, the lines appear again.
    vars(ray._private.worker)["_worker_logs_enabled"] = False
    former = signal.getsignal(signal.SIGTERM)
    try:
        if address == LOCAL:
            store: dict[str, Any] = {"object_store_memory": SHARED_MEMORY}
            ray.init("local", num_cpus=size or None, include_dashboard=False, **store, **quiet)
        else:
            if address != "auto":
                _reach(address)
            ray.init(address, **quiet)
    finally:
        signal.signal(signal.SIGTERM, former)  # Ray's own handler dumps its stack


def _reach(address: str) -> None:
    """Check that the address accepts connections: Ray itself would try for minutes, logging all the while.

    :raises OSError: nothing accepts connections there.
    :raises ValueError: the text is not an address.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("write HOST:PORT, or auto")
    socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
