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
def server(*arguments: str, checkout: str | None = None) -> Iterator[Server]:
    """Run ``python -m ARGUMENTS``, whose first line ends in ``host:port``.

    :param checkout: the folder of another checkout, whose code is run in place of this one's.
    """
    command = [sys.executable, "-m", *arguments]
    paths = {} if checkout is None else {"PYTHONPATH": os.pathsep.join([checkout, f"{checkout}/protocol"])}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=checkout, env=os.environ | paths
    )
    try:
        yield Server(process)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def gmd(data: str = ":memory:", *arguments: str, checkout: str | None = None) -> Iterator[Server]:
    """A daemon with an empty memory, or on a data directory; of another checkout, if one is given."""
    command = ("gmd", "serve", "--port", "0", "--http-port", "0", "--data", data, *arguments)
    with server(*command, checkout=checkout) as running:
        yield running


@contextmanager
def echo(reply_bytes: int, *, one_shot: bool) -> Iterator[Server]:
    """The bare echo server."""
    with server("bench.echo", str(reply_bytes), *(["--one-shot"] if one_shot else [])) as running:
        yield running
