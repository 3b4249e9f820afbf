"""The process of one game of a bot. It ends when its input ends, so no bot outlives the daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self, cast

import msgspec
import trio

#: ``-P``: no file in the working directory replaces a module.
COMMAND = (sys.executable, "-P", "-m", "gm_arena.resident")
#: Bytes of a process's standard error that are kept for the log, and bytes that are read in a second: a process that
#: writes for ever waits in its pipe.
TAIL_BYTES, ERROR_RATE = 4_000, 1 << 20
#: Seconds that a process has to leave when its input has ended.
LEAVING_SECONDS = 0.5


class GameProcess:
    """A process in a session of its own, which a terminal's Ctrl-C does not reach.

    :ivar tail: the end of its standard error.
    """

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._all_read = trio.Event()
        self.tail = b""

    @classmethod
    async def start(cls, task: Mapping[str, Any]) -> Self:
        """Start a process for a task, which it reads as JSON: neither arguments nor variables show the key.

        :raises OSError: there is no process to be had.
        """
        others = {name: value for name, value in os.environ.items() if not name.startswith("GMD_")}
        pipe = subprocess.PIPE
        process = await trio.lowlevel.open_process(
            COMMAND, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, env=others, start_new_session=True
        )
        started = cls(process)
        with suppress(trio.BrokenResourceError):  # it has died already, which its status shows
            assert process.stdin is not None
            await process.stdin.send_all(msgspec.json.encode(dict(task)) + b"\n")
        return started

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    async def run(self) -> int:
        """Return the exit status, once the process has ended; killed where this is cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._read_errors)
                status = await self._process.wait()
                with trio.move_on_after(LEAVING_SECONDS):  # the last words; others may hold the pipe open
                    await self._all_read.wait()
                nursery.cancel_scope.cancel()
            return status
        finally:
            with trio.CancelScope(shield=True):
                await self.leave()

    async def _read_errors(self) -> None:
        errors = cast(trio.lowlevel.FdStream, self._process.stderr)
        with suppress(trio.ClosedResourceError):
            async for chunk in errors:
                self.tail = (self.tail + chunk)[-TAIL_BYTES:]
                await trio.sleep(len(chunk) / ERROR_RATE)
        self._all_read.set()

    async def leave(self) -> None:
        """Have the process leave its game as it is, and kill it if it does not."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        with trio.move_on_after(LEAVING_SECONDS):
            await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill the process, with those that it has started in its session."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
