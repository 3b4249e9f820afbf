"""File descriptors: the last few are kept for the daemon's own files, whatever a crowd of clients takes."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

#: Descriptors that no client's connection takes: for the operator's connections, a certificate that is read again,
#: what the metrics of the process are read from, and a file that a library opens once in a while.
RESERVED = 16
#: Descriptors that a daemon with a log and HTTP has before anybody connects, those reserved among them; it takes some
#: more for a moment as it starts.
LEAST = 40


def shortage(descriptor: int) -> str | None:
    """Return why a connection that has just got this descriptor has to be closed; None where it may stay.

    The system gives the lowest number that is free, so a high one says that all below it are in use.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY or descriptor < limit - RESERVED:
        return None
    return f"this process may have {limit} descriptors (ulimit -n) and keeps {RESERVED} for itself; try again later"


def is_last(descriptor: int) -> bool:
    """Return whether a connection that has just got this descriptor is to be closed at once, whoever it is.

    To let a client read why it is turned away takes its descriptor for a moment. Half of those reserved are for that.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit != resource.RLIM_INFINITY and descriptor >= limit - RESERVED // 2


def say_at_once(descriptor: int, words: bytes) -> None:
    """Send what fits into the buffer of a new connection, and wait for nothing."""
    with suppress(OSError):
        os.write(descriptor, words)


def raise_limit() -> None:
    """Let this process have as many descriptors as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def room() -> int | None:
    """Return how many descriptors connections may have; None for as many as they like."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if limit == resource.RLIM_INFINITY else max(0, limit - RESERVED)


def most_descriptors() -> int | None:
    """Return how many descriptors this process can have at most; None for as many as it likes."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard
