"""Servers under test, as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Server:
    """A server that runs.

    :ivar address: its host and port.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        host, _, port = process.stdout.readline().split()[-1].rpartition(":")
        self.address = host, int(port)
        self._process = process

    def cpu_seconds(self) -> float | None:
        """Processor time it has used so far; None where the system does not say (it does on Linux)."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Memory it holds now.

        :raises OSError: the system does not say (Linux does).
        """
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def server(*arguments: str) -> Iterator[Server]:
    """Run ``python -m ARGUMENTS``, whose first line ends in ``host:port``."""
    command = [sys.executable, "-m", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield Server(process)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def gmd(data: str = ":memory:", *arguments: str) -> Iterator[Server]:
    """A daemon with an empty memory, or on a data directory."""
    with server("gmd", "serve", "--port", "0", "--http-port", "0", "--data", data, *arguments) as running:
        yield running


@contextmanager
def echo(reply_bytes: int, *, one_shot: bool) -> Iterator[Server]:
    """The bare echo server."""
    with server("bench.echo", str(reply_bytes), *(["--one-shot"] if one_shot else [])) as running:
        yield running
