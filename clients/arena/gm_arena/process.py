"""A bot's process, which speaks in lines and holds up nobody: not by reading nothing, nor by writing too much."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
from collections import deque
from collections.abc import Sequence
from typing import Self, cast

import trio

from .bot import BotFailed, Fault
from .memory import limit_memory

logger = logging.getLogger(__name__)

#: Longest line that is taken, in bytes. The longest there are to be, a reconchess turn's, have some 2,000.
MAX_LINE = 1 << 20
#: Bytes that may wait for a bot that does not read. A bot may well read nothing and play at random: of a game of 20,000
#: plies, the longest that a server may have, with all its legal moves, that is some 16 MB.
MAX_UNREAD = 16 << 20
#: Lines of a bot's standard error that are logged, and characters of each: a bot that floods must not drown the rest.
MAX_LOGGED_LINES, MAX_LOGGED_CHARACTERS = 10_000, 500
#: Bytes of it that are read in a second: no debugging needs as many, and a bot that writes for ever waits in its pipe.
ERROR_RATE = 1 << 20
#: Seconds in which a bot may end by itself when it is over.
PATIENCE_SECONDS = 2.0
#: Seconds in which what a bot wrote to its standard error is surely read; what it has started may hold that open.
LAST_WORDS_SECONDS = 0.5


class BotProcess:
    """A process in a session of its own, so that a terminal's Ctrl-C is not for it.

    :ivar label: what its lines are called in the log.
    """

    def __init__(self, process: trio.Process, label: str) -> None:
        self._process = process
        self._stdin = cast(trio.lowlevel.FdStream, process.stdin)  # what pipes are, where there is POSIX
        self._stdout = cast(trio.lowlevel.FdStream, process.stdout)
        self.label = label
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._unsent = bytearray()
        self._logged, self._all_logged = 0, trio.Event()
        self._group_ended = False

    @classmethod
    async def start(
        cls, command: Sequence[str], label: str, nursery: trio.Nursery, *, max_memory: int | None = None
    ) -> Self:
        """:param max_memory: bytes that the process, and each that it starts, may have: see :mod:`.memory`.
        :raises BotFailed: there is no such program.
        """
        pipe = subprocess.PIPE
        try:
            process = await trio.lowlevel.open_process(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise BotFailed(f"{command[0]!r} cannot be started: {error.strerror}") from None
        if max_memory is not None:
            limit_memory(process.pid, max_memory)
        bot = cls(process, label)
        nursery.start_soon(bot._log_errors)
        nursery.start_soon(bot._end_group_with_it)
        return bot

    def send(self, text: str) -> None:
        """Send it, now or while the bot is listened to: it may well write before it reads.

        :raises BotFailed: too much waits for it already.
        """
        self._unsent += text.encode()
        if len(self._unsent) > MAX_UNREAD:
            raise BotFailed(f"{self.label} does not read: {len(self._unsent)} bytes wait for it", fault="stall")
        self._write()

    async def receive(self) -> str:
        """Its next line, without the end of it.

        :raises BotFailed: there is none.
        """
        line = await self.next_line()
        if line is None:
            fault: Fault = "flood" if len(self._rest) > MAX_LINE else "crash"
            raise BotFailed(f"{self.label} {await self.why_silent()}", fault=fault)
        return line

    async def next_line(self) -> str | None:
        """The same; None where there will be none."""
        if not self._write():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write_on)
                await self._listen()
                nursery.cancel_scope.cancel()
        else:
            await self._listen()
        if not self._lines:
            return None
        return self._lines.popleft().removesuffix(b"\r").decode("utf-8", "replace")

    async def _listen(self) -> None:
        """Have a whole line, unless the bot has said its last, or says too much at once."""
        while not self._lines and len(self._rest) <= MAX_LINE:
            try:
                chunk = await self._stdout.receive_some()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            if not chunk:
                return
            self._rest += chunk
            if b"\n" in chunk:
                *lines, self._rest = self._rest.split(b"\n")
                self._lines.extend(map(bytes, lines))

    async def why_silent(self) -> str:
        """What a sentence about it goes on with where it has no next line."""
        if len(self._rest) > MAX_LINE:
            return f"wrote a line of more than {MAX_LINE} bytes"
        with trio.move_on_after(PATIENCE_SECONDS):
            return _ended(await self._process.wait())
        return "closed its standard output"

    async def _write_on(self) -> None:
        while not self._write():
            await trio.lowlevel.wait_writable(self._stdin.fileno())

    def _write(self) -> bool:
        """Write what the pipe takes; whether nothing is left."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._stdin.fileno(), self._unsent)]
        except BlockingIOError:
            return False
        except OSError:  # the bot has closed its input, which is its own affair
            self._unsent.clear()
        return True

    async def _log_errors(self) -> None:
        """Log what it writes to its standard error, until it ends."""
        assert self._process.stderr is not None
        rest = b""
        try:
            async with self._process.stderr as errors:
                async for chunk in errors:
                    if self._logged <= MAX_LOGGED_LINES:
                        *lines, rest = (rest + chunk).split(b"\n")
                        for line in lines:
                            self._log(line)
                        rest = rest[:MAX_LOGGED_CHARACTERS]
                    await trio.sleep(len(chunk) / ERROR_RATE)
            if rest:
                self._log(rest)
        finally:
            self._all_logged.set()

    def _log(self, line: bytes) -> None:
        self._logged += 1
        if self._logged <= MAX_LOGGED_LINES:
            logger.info("%s: %s", self.label, line.decode("utf-8", "replace").rstrip()[:MAX_LOGGED_CHARACTERS])
        elif self._logged == MAX_LOGGED_LINES + 1:
            logger.warning("%s: more than %d lines; the rest is not logged", self.label, MAX_LOGGED_LINES)

    async def aclose(self) -> None:
        """Close its pipes, and end it if that does not; at once where this is cancelled."""
        self._close_pipes()
        try:
            with trio.move_on_after(PATIENCE_SECONDS):
                await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """End it, with whatever it has started that has not left its session."""
        with trio.CancelScope(shield=True):
            self._end_group()
            await self._process.wait()
            with trio.move_on_after(LAST_WORDS_SECONDS):
                await self._all_logged.wait()
        self._close_pipes()

    async def _end_group_with_it(self) -> None:
        """What it has started ends with it: that may hold its output open, as if there was still something to come."""
        await self._process.wait()
        self._end_group()

    def _end_group(self) -> None:
        """Once only: a group's number may be somebody else's when nobody is in it any more."""
        if not self._group_ended:
            self._group_ended = True
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of one that is gone
                os.killpg(self._process.pid, signal.SIGKILL)

    def _close_pipes(self) -> None:
        self._stdin.close()
        self._stdout.close()


def _ended(status: int) -> str:
    """What became of a process, by its exit status."""
    if status < 0:
        return f"was ended by {signal.strsignal(-status) or f'signal {-status}'}"
    return f"ended, with exit status {status}"
