"""File descriptors: the last few are reserved for the daemon's own files, however many clients connect."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

#: Descriptors that no client's connection may take: for the operator's connections, certificates that are read again,
#: the files that process metrics are read from, and files that libraries open now and then.
RESERVED = 16
#: Descriptors that a daemon with a log and HTTP needs before any client connects, RESERVED included; it needs some more
#: for a moment at its start.
LEAST = 40


def shortage(descriptor: int) -> str | None:
    """Return why a connection that has just got this descriptor must be closed; None if it may stay.

    The system assigns the lowest free number, so a high one shows that all below it are in use.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY or descriptor < limit - RESERVED:
        return None
    return f"this process may have {limit} descriptors (ulimit -n) and keeps {RESERVED} for itself; try again later"


def is_last(descriptor: int) -> bool:
    """Return whether a connection that has just got this descriptor must be closed at once.

    Sending a client the reason for its refusal keeps its descriptor for a moment. Half of RESERVED are for that.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit != resource.RLIM_INFINITY and descriptor >= limit - RESERVED // 2


def say_at_once(descriptor: int, words: bytes) -> None:
    """Send as much as fits into the send buffer of a new connection, without blocking."""
    with suppress(OSError):
        os.write(descriptor, words)


def raise_limit() -> None:
    """Raise this process's limit of descriptors (the soft one) to the highest value allowed (the hard one)."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def room() -> int | None:
    """Return how many descriptors connections may have; None for no limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if limit == resource.RLIM_INFINITY else max(0, limit - RESERVED)


def most_descriptors() -> int | None:
    """Return how many descriptors this process can have at most; None for no limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard
