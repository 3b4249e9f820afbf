"""Standard input, output and error: their descriptors are always open, and output that fails stops nobody."""

from __future__ import annotations

import os

STANDARD_DESCRIPTORS = range(3)
_OUTPUT = 1


def open_standard_descriptors() -> None:
    """Open the standard descriptors that are closed on the null device, for this process and its children.

    Otherwise the next file or socket would get such a number: what any library or child prints would go to a client or
    into the database. Call it before anything else opens a descriptor: the system gives the lowest number that is free.
    """
    for number in STANDARD_DESCRIPTORS:
        if not _is_open(number):
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def discard_output() -> None:
    """Let standard output go to the null device, with what Python still holds of it and would write at the exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, _OUTPUT)
    os.close(null)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
