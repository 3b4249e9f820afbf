"""Standard input, output and error: their descriptors are always open, and failing output stops nothing."""

from __future__ import annotations

import os

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
