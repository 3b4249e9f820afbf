"""The daemon's side of the process that commits batches (:mod:`gmd.event_log.sqlite_commits`), if it can be started."""

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

from gmd.event_log.sqlite_commits import DONE, HEADER, READY, Transaction
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Largest transaction for the process, in bytes: as much as its pipe holds, so that the daemon never waits for it to
#: read. A larger batch is rare, and the writer's thread writes it.
PIPE_SIZE = 1 << 20
#: The capacity of a pipe that cannot be made larger.
LEAST_PIPE_SIZE = 1 << 16
#: Seconds that the process may take to end, once it has nothing more to do.
END_SECONDS = 5.0

#: Without environment and site: the process imports only the standard library and a few modules of ours.
_PROGRAM = "import sys; sys.path.append({!r}); from gmd.event_log.sqlite_commits import main; main()"
_ROOT = str(Path(__file__).parents[2])


class CommitProcess:
    """A process that commits one transaction at a time.

    :ivar ready: set once it is prepared and takes transactions.
    :ivar over: set once it has ended by itself.
    """

    def __init__(self, file: Path, preparation: Sequence[str], *descriptors: int, record: int | None = None) -> None:
        """:param preparation: the statements to execute first on its connection.
        :param descriptors: descriptors that it keeps open as long as it lives.
        :param record: the descriptor of the file to which it writes the note of each commit.
        :raises OSError: the process cannot be started.
        """
        program = _PROGRAM.format(_ROOT)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors if record is None else (*descriptors, record),
            process_group=0,  # or Ctrl-C would reach it too; in its own session Linux would wake it later
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
        """Have a transaction committed; return False if that is not possible now. No other may be under way.

        :param note: the bytes to write to the record after the commit; empty for none.
        """
        if self.over.is_set() or not self.ready.is_set():
            return False
        self._under_way = self._send((transaction, note))
        return self._under_way

    async def run(self, answered: Callable[[bool], None]) -> None:
        """Take its answers until it ends, or until cancelled.

        :param answered: called for each transaction with whether it is durable; False also if its fate is unknown.
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
        """End it, and wait until it has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # nobody waits for its transaction, which is either committed or undone
            self._process.wait()

    async def _answer(self) -> bytes:
        await trio.lowlevel.wait_readable(self._from)
        return os.read(self._from, 1)

    def _send(self, message: object) -> bool:
        """Send a message; return False if it does not fit into the pipe, which is empty, or the process has ended."""
        data = pickle.dumps(message)
        if HEADER.size + len(data) > self._room:
            return False
        with suppress(OSError):  # it has ended
            if os.write(self._to, HEADER.pack(len(data)) + data) == HEADER.size + len(data):
                return True
            self._process.kill()  # it would take the next message for the rest of this one
        return False


def start_process(
    file: Path, preparation: Sequence[str], *descriptors: int, record: int | None = None
) -> CommitProcess | None:
    """Return the process for a file; None if it cannot be started, so that a thread must commit."""
    try:
        return CommitProcess(file, preparation, *descriptors, record=record) if sys.executable else None
    except OSError as error:
        logger.warning("there is no process that commits: a thread does it", reason=error.strerror)
        return None


def _grown(pipe: int) -> int:
    """Make a pipe larger if possible, and return its capacity in bytes."""
    with suppress(OSError, AttributeError):  # only Linux can
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        return PIPE_SIZE
    return LEAST_PIPE_SIZE
