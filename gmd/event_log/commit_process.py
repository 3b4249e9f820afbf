"""Has batches committed by a process of their own (:mod:`gmd.event_log.commit_child`), where one can be had."""

from __future__ import annotations

import fcntl
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import trio

from gmd.logger import get_logger

from .commit_child import DONE, HEADER, READY
from .transaction import Transaction

logger = get_logger(__name__)

#: Bytes of a transaction that the process is given: as many as fit into its pipe, so that nobody waits for it to read.
#: A batch of so many is rare, and the writer's thread is as good for it.
PIPE_SIZE = 1 << 20
#: What a pipe takes where it cannot be made larger.
LEAST_PIPE_SIZE = 1 << 16
#: Seconds that the process is given to end, once it has nothing more to do.
END_SECONDS = 5.0

#: No environment and no site: what the process imports is the standard library and two modules of ours.
_PROGRAM = "import sys; sys.path.append({!r}); from gmd.event_log.commit_child import main; main()"
_ROOT = str(Path(__file__).parents[2])


class CommitProcess:
    """A process that commits one transaction at a time.

    :ivar ready: set once it is prepared, and takes transactions.
    :ivar over: set once it has ended by itself.
    """

    def __init__(self, file: Path, preparation: Sequence[str], *descriptors: int, record: int | None = None) -> None:
        """:param preparation: what to execute first on its connection.
        :param descriptors: what it keeps open as long as it lives.
        :param record: the descriptor of the file that it writes the note of each commit to.
        :raises OSError: there can be no process.
        """
        program = _PROGRAM.format(_ROOT)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors if record is None else (*descriptors, record),
            process_group=0,  # else Ctrl-C would mean it too; in a session of its own Linux would wake it later
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._room = _grown(self._to)
        self.ready = trio.Event()
        self.over = trio.Event()
        self._under_way = False
        self._send((str(file), list(preparation), record))

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def put(self, transaction: Transaction, note: bytes = b"") -> bool:
        """Have a transaction committed, where nothing is under way; False where that cannot be.

        :param note: what is written down once it is; nothing where it is empty.
        """
        if self.over.is_set() or not self.ready.is_set():
            return False
        self._under_way = self._send((transaction, note))
        return self._under_way

    async def run(self, answered: Callable[[bool], None]) -> None:
        """Take its answers until it ends, or until cancelled.

        :param answered: called for each transaction: with whether it is durable; else nobody knows what became of it.
        """
        while answer := await self._answer():
            if answer == READY:
                self.ready.set()
            else:
                self._under_way = False
                answered(answer == DONE)
        self.over.set()
        logger.warning("the process that commits has ended: a thread does it from now on", pid=self.pid)
        if self._under_way:
            self._under_way = False
            answered(False)

    def close(self) -> None:
        """Let it end, and wait until it has."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # nobody waits for what it does, which is whole or undone without it
            self._process.wait()

    async def _answer(self) -> bytes:
        await trio.lowlevel.wait_readable(self._from)
        return os.read(self._from, 1)

    def _send(self, message: object) -> bool:
        """Send a message, if its pipe has room for it, which it has unless it is too large: it is empty."""
        data = pickle.dumps(message)
        if HEADER.size + len(data) > self._room:
            return False
        with suppress(OSError):  # it has ended
            if os.write(self._to, HEADER.pack(len(data)) + data) == HEADER.size + len(data):
                return True
            self._process.kill()  # it would take what comes next for the rest of this
        return False


def start_process(
    file: Path, preparation: Sequence[str], *descriptors: int, record: int | None = None
) -> CommitProcess | None:
    """The process for a file; None where there can be none, and a thread has to do."""
    try:
        return CommitProcess(file, preparation, *descriptors, record=record) if sys.executable else None
    except OSError as error:
        logger.warning("there is no process that commits: a thread does it", reason=error.strerror)
        return None


def _grown(pipe: int) -> int:
    """Make a pipe large; how many bytes it takes."""
    with suppress(OSError, AttributeError):  # only Linux can
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        return PIPE_SIZE
    return LEAST_PIPE_SIZE
