"""A bot's process, which speaks in lines. It holds up nobody, whether it reads nothing, floods or takes memory."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Self, cast

import trio

from .bot import BotFailed

logger = logging.getLogger(__name__)

#: Longest line that is accepted, in bytes. The longest expected line, a reconchess turn's, has some 2,000.
MAX_LINE = 1 << 20
#: Bytes that may wait for a bot that does not read. A bot may well read nothing and play at random: the legal moves of
#: a game of 20,000 plies, the longest that a server may have, are some 16 MB.
MAX_UNREAD = 16 << 20
#: Lines of a bot's standard error that are logged, and characters of each, so that one bot does not flood the log.
MAX_LOGGED_LINES, MAX_LOGGED_CHARACTERS = 10_000, 500
#: Bytes of standard error read in a second: debugging needs no more, and a bot that writes for ever waits in its pipe.
ERROR_RATE = 1 << 20
#: Seconds that a bot has to end by itself once its input is closed.
PATIENCE_SECONDS = 2.0
#: Seconds to wait for the rest of a bot's standard error; processes that it started may hold it open.
LAST_WORDS_SECONDS = 0.5


class BotProcess:
    """A process in a session of its own, so that a terminal's Ctrl-C does not reach it.

    :ivar label: the process's name in the log.
    """

    def __init__(self, process: trio.Process, label: str) -> None:
        self._process = process
        self._stdin = cast(trio.lowlevel.FdStream, process.stdin)  # the type of pipes on POSIX
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
        """Start a process.

        :param max_memory: bytes for the process, and for each that it starts: see :mod:`.memory`.
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
        """Send text, now or while the bot's output is read: a bot may write before it reads.

        :raises BotFailed: too much is waiting to be sent already.
        """
        self._unsent += text.encode()
        if len(self._unsent) > MAX_UNREAD:
            raise BotFailed(
                f"{self.label} does not read its input: {len(self._unsent)} bytes are waiting", fault="stall"
            )
        self._write()

    async def receive(self) -> str:
        """Return the next line, without its end.

        :raises BotFailed: there is none.
        """
        if not self._write():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write_on)
                await self._listen()
                nursery.cancel_scope.cancel()
        else:
            await self._listen()
        if not self._lines:
            raise await self._silence()
        return self._lines.popleft().removesuffix(b"\r").decode("utf-8", "replace")

    async def _listen(self) -> None:
        """Read until there is a whole line, the output has ended, or a line is too long."""
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

    async def _silence(self) -> BotFailed:
        """Return why there is no next line."""
        if len(self._rest) > MAX_LINE:
            return BotFailed(f"{self.label} wrote a line of more than {MAX_LINE} bytes", fault="flood")
        with trio.move_on_after(PATIENCE_SECONDS):
            return BotFailed(f"{self.label} {_ended(await self._process.wait())}")
        return BotFailed(f"{self.label} closed its standard output")

    async def _write_on(self) -> None:
        while not self._write():
            await trio.lowlevel.wait_writable(self._stdin.fileno())

    def _write(self) -> bool:
        """Write as much as the pipe takes; return whether nothing is left."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._stdin.fileno(), self._unsent)]
        except BlockingIOError:
            return False
        except OSError:  # the bot has closed its input, as it may
            self._unsent.clear()
        return True

    async def _log_errors(self) -> None:
        """Log the bot's standard error until it ends."""
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
        """Close the pipes, and kill the process if it does not end by that; at once where this is cancelled."""
        self._close_pipes()
        try:
            with trio.move_on_after(PATIENCE_SECONDS):
                await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Kill the process, with every process that it started and that is still in its session."""
        with trio.CancelScope(shield=True):
            self._end_group()
            await self._process.wait()
            with trio.move_on_after(LAST_WORDS_SECONDS):
                await self._all_logged.wait()
        self._close_pipes()

    async def _end_group_with_it(self) -> None:
        """Kill the processes it started once it ends: they could hold its output open, as if more were to come."""
        await self._process.wait()
        self._end_group()

    def _end_group(self) -> None:
        """Kill the process group, only once: the number of an empty group may be reused."""
        if not self._group_ended:
            self._group_ended = True
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: the latter if it is gone
                os.killpg(self._process.pid, signal.SIGKILL)

    def _close_pipes(self) -> None:
        self._stdin.close()
        self._stdout.close()


def _ended(status: int) -> str:
    """Return how a process ended, by its exit status."""
    if status < 0:
        return f"was ended by {signal.strsignal(-status) or f'signal {-status}'}"
    return f"ended, with exit status {status}"


# --- Memory ------------------------------------------------------------------------------------------------------


MIB = 1 << 20

#: A bot's least memory where no limit is given: enough for an engine with its network and a hash table.
LEAST = 1024 * MIB


def memory_for(mebibytes: int | None, games: int) -> int | None:
    """Return the memory limit of each process of a bot, in bytes; None for no limit.

    :param mebibytes: the limit asked for, 0 for none; None for a bot's share of the machine if all bots used theirs.
    :param games: the number of games played at the same time, of two bots each.
    """
    if mebibytes is not None:
        return mebibytes * MIB or None
    return max(LEAST, machine_memory() // (2 * games))


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or of this container if that has fewer."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(physical, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such limit: the file is missing, or says "max"
        return physical


def limit_memory(pid: int, most_bytes: int) -> None:
    """Limit the memory of a process, and of each process that it starts from now on, to so many bytes.

    The limit is on writable memory (RLIMIT_DATA) and not on reserved address space: languages with managed memory
    reserve much more than they use. Where the system has no such limit, none is set.
    """
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(ProcessLookupError):  # it has ended already
            _, most = resource.prlimit(pid, resource.RLIMIT_DATA)
            limit = most_bytes if most == resource.RLIM_INFINITY else min(most_bytes, most)
            resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
