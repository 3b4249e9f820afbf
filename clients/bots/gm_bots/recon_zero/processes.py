"""Processes in which players think, one game each at a time, so that several games use several processors.

Only one thread of a process runs Python at a time. A process takes seconds to load PyTorch, so it plays one game after
the other, and keeps the networks that it has read.
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from chess import Color, Move, Square

from gm_arena.bot import BotFailed
from gm_recon import Cell

from .lockstep.judging import Judge
from .player import Player, Settings
from .warm_up import ready_judge


class Inside:
    """The state of a process: the networks that it has read, and the player of its present game."""

    def __init__(self) -> None:
        self._judges: dict[Path | None, Judge] = {}
        self._player: Player

    def load(self, checkpoint: Path | None) -> None:
        """Make a network ready, or the evaluation by piece values.

        :raises BotFailed: the checkpoint cannot be read.
        """
        if checkpoint not in self._judges:
            self._judges[checkpoint] = ready_judge(checkpoint)

    def sit(self, color: Color, checkpoint: Path | None, settings: Settings, rng: random.Random, fen: str) -> None:
        """Begin a game."""
        self._player = Player(color, self._judges[checkpoint], settings, rng, fen=fen)

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the player."""
        return getattr(self._player, method)(*arguments)


def serve(connection: Connection) -> None:
    """Run the process: answer calls until the other end is closed."""
    inside = Inside()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            method, arguments = connection.recv()
            try:
                answer = True, getattr(inside, method)(*arguments)
            except Exception as error:
                says = str(error) if isinstance(error, BotFailed) else f"raised {type(error).__name__}: {error}"
                answer = False, (says, traceback.format_exc())
            connection.send(answer)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes with SIGINT blocked from their first instruction on: a terminal's Ctrl-C is for the parent, which
    then ends them.
    """
    resource_tracker.ensure_running()  # which unblocks SIGINT when it starts its own process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Process:
    """A process, seen from its parent.

    :ivar thinks: whether it has a call that it has not answered.
    """

    def __init__(self) -> None:
        # Spawned and not forked: a fork has the locks of threads that it does not have.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), name="recon-zero", daemon=True)
        with _without_interrupts():
            self._process.start()
        theirs.close()
        self.thinks = False

    @property
    def pid(self) -> int:
        """The id of the process."""
        assert self._process.pid is not None  # it has started
        return self._process.pid

    def call(self, method: str, *arguments: Any) -> Any:
        """Return the answer of a method of :class:`Inside`.

        :raises BotFailed: the method raises an exception, or the process is gone.
        """
        self.thinks = True
        try:
            self._connection.send((method, arguments))
            good, answer = self._connection.recv()
        except (EOFError, OSError):
            raise BotFailed("its process has ended") from None
        self.thinks = False
        if not good:
            raise BotFailed(*answer)
        return answer

    def end(self) -> None:
        """Kill the process, whatever it does. A connection that a thread still reads is left to that thread."""
        self._process.kill()
        self._process.join()
        if not self.thinks:
            self._connection.close()


class Processes:
    """A pool of as many processes as there are games at the same time.

    :ivar free: the processes that wait for the next game.
    """

    def __init__(self, most: int) -> None:
        """:param most: how many may wait: the number of processes ever busy at once, so that none is started twice."""
        self._most, self.free = most, list[Process]()

    def seat(self, checkpoint: Path | None, settings: Settings) -> SeatInProcess:
        """Return a process for a game.

        :raises BotFailed: the checkpoint cannot be read.
        """
        try:  # bots are started in several threads at once
            process = self.free.pop()
        except IndexError:
            process = Process()
        seat = SeatInProcess(self, process, checkpoint, settings)
        try:
            process.call("load", checkpoint)
        except BotFailed:
            seat.leave()
            raise
        return seat

    def give_back(self, process: Process) -> None:
        """Take back a process after its game."""
        if process.thinks or len(self.free) >= self._most:
            process.end()
        else:
            self.free.append(process)

    def end(self) -> None:
        """End the free processes."""
        while self.free:
            self.free.pop().end()


class SeatInProcess:
    """A :class:`~.bot.Seat` in a process, for one game.

    :ivar process: the process.
    """

    def __init__(self, processes: Processes, process: Process, checkpoint: Path | None, settings: Settings) -> None:
        self._processes, self.process = processes, process
        self._checkpoint, self._settings = checkpoint, settings
        self._left = False

    def sit(self, color: Color, rng: random.Random, fen: str) -> Remote:
        self.process.call("sit", color, self._checkpoint, self._settings, rng, fen)
        return Remote(self.process)

    def leave(self) -> None:
        if not self._left:
            self._left = True
            self._processes.give_back(self.process)


class Remote:
    """A :class:`~.bot.Thinker` in a process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def opponent_moved(self, capture: Square | None) -> None:
        self._process.call("ask", "opponent_moved", capture)

    def choose_sense(self, squares: Iterable[Square], seconds: float | None = None) -> Square:
        square: Square = self._process.call("ask", "choose_sense", list(squares), seconds)
        return square

    def saw(self, cells: Iterable[Cell]) -> None:
        self._process.call("ask", "saw", list(cells))

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None:
        move: Move | None = self._process.call("ask", "choose_move", list(actions), seconds)
        return move

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        self._process.call("ask", "moved", requested, taken, capture)
