"""What a command sets up first: standard streams that are open and stop nothing; no garbage collection meanwhile."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

STANDARD_DESCRIPTORS = range(3)
_OUTPUT = 1


def open_standard_descriptors() -> None:
    """Open closed standard descriptors on the null device, for this process and its children.

    Otherwise the next file or socket would get such a number, and output of any library or child would go to a client
    or into the database. Call it before anything else opens a descriptor: the system assigns the lowest free number.
    """
    for number in STANDARD_DESCRIPTORS:
        if not _is_open(number):
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def discard_output() -> None:
    """Redirect standard output to the null device, together with what Python has buffered and would write at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, _OUTPUT)
    os.close(null)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: imports allocate much that stays, and scanning it takes a quarter of their time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
