"""Servers under test, as processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def server(*arguments: str) -> Iterator[tuple[str, int]]:
    """Run ``python -m ARGUMENTS``, whose first line ends in ``host:port``; that address."""
    process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        host, _, port = process.stdout.readline().split()[-1].rpartition(":")
        yield host, int(port)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def gmd(data: str = ":memory:") -> Iterator[tuple[str, int]]:
    """A daemon with an empty memory, or on a data directory."""
    with server("gmd", "serve", "--port", "0", "--data", data) as address:
        yield address


@contextmanager
def echo(reply_bytes: int, *, one_shot: bool) -> Iterator[tuple[str, int]]:
    """The bare echo server."""
    with server("bench.echo", str(reply_bytes), *(["--one-shot"] if one_shot else [])) as address:
        yield address
