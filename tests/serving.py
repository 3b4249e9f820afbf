"""``gmd serve`` in its own process, for tests whose subject is the program."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Timer

import trio

from tests.helpers import Client

#: The command, as the entry point runs it.
SERVE = (sys.executable, "-m", "gmd", "serve")

#: Seconds after which a daemon that has not started counts as hung: beside fifteen others on one machine it takes
#: forty.
START_SECONDS = 300
#: The same for a daemon that is stopping. It promises five seconds; ``tests/tcp/test_stopping.py`` tests that by trio's
#: clock, because a busy machine cannot keep such a promise.
STOP_SECONDS = 60


class Served:
    """A running daemon.

    :ivar lines: what it printed as it started.
    """

    def __init__(self, process: subprocess.Popen[str], lines: list[str]) -> None:
        self.process = process
        self.lines = lines
        match = next(filter(None, (re.fullmatch(r"gmd \S+ listening on (.*):(\d+)", line) for line in lines)), None)
        assert match, lines
        self.host, self.port = match[1].strip("[]"), int(match[2])

    @property
    def http(self) -> str:
        """Return the address of HTTP, as it is printed, without a slash at its end."""
        (line,) = (line for line in self.lines if line.startswith("HTTP on "))
        return line.removeprefix("HTTP on ").split(": ")[0]

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Open a connection with a version 2 session."""
        client = Client(await trio.open_tcp_stream(self.host, self.port))
        await client.ask("hello")
        try:
            yield client
        finally:
            await client.aclose()

    def stop(self, signal: int) -> int:
        """Send a signal, and return the exit status."""
        self.process.send_signal(signal)
        return self.process.wait(STOP_SECONDS)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without gmd's settings except those given.

    Unless those say otherwise, games are kept in memory; HTTP, which takes half a second to start, is off, and so
    are the bots.
    """
    others = {name: value for name, value in os.environ.items() if not name.startswith("GMD_")}
    return {
        **others,
        "GMD_DATA": ":memory:",
        "GMD_HTTP": "false",
        "GMD_BOTS": "none",
        **(extra or {}),
    }


@contextmanager
def served(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    limit: str = "",
    prefix: Sequence[str] = (),
    pass_fds: Sequence[int] = (),
    cwd: Path | None = None,
) -> Iterator[Served]:
    """Run a daemon on a free port, unless the arguments name one.

    :param limit: arguments of the shell's ``ulimit``, set before it starts.
    :param prefix: a program, with its arguments, that runs the daemon's command.
    :param pass_fds: descriptors of this process that the daemon inherits, by their numbers.
    :param cwd: its working directory, if it is not this process's.
    """
    command = [*prefix, *SERVE, "--port", "0", *arguments]
    if limit:
        command = ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *command]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment(env), stdout=pipe, stderr=pipe, text=True, pass_fds=pass_fds, cwd=cwd
    ) as process:
        try:
            yield Served(process, first_lines(process))
        finally:
            process.kill()  # does nothing to a process that has ended
            process.communicate()


@contextmanager
def reserved_port() -> Iterator[int]:
    """Reserve a port of 127.0.0.1 that the system gives to no other process: a daemon may return to it, or nothing
    listens on it.

    The port is bound here, not listened on: connections are refused until a daemon listens, which SO_REUSEADDR allows.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port


def first_lines(process: subprocess.Popen[str]) -> list[str]:
    """Return the lines that a daemon prints as it starts, up to the line with a first command."""
    assert process.stdout is not None
    lines: list[str] = []
    patience = Timer(START_SECONDS, process.kill)
    patience.start()
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith("Try: "):
            break
    patience.cancel()
    if not lines or not lines[-1].startswith("Try: "):
        errors = "" if process.stderr is None else process.stderr.read()
        raise AssertionError(f"gmd serve ended, having said {lines} {errors}")
    return lines


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started and that have not ended. Only Linux provides this."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
