"""Processes that end with the block that uses them, whatever fails in it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import AnyStr


@contextmanager
def ended(process: subprocess.Popen[AnyStr]) -> Iterator[subprocess.Popen[AnyStr]]:
    """Yield a process, kill it at the end of the block unless it has ended, and wait for it.

    As a context manager itself, a process is waited for without a limit: a failed assertion in the block, or a timeout
    of a wait, would let the tests hang.
    """
    with process:
        try:
            yield process
        finally:
            process.kill()  # does nothing to a process that has ended
