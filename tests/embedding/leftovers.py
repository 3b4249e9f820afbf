"""Checks that a daemon leaves nothing behind in the process that ran it."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
import trio


def threads() -> set[threading.Thread]:
    """Return the threads that are alive."""
    return set(threading.enumerate())


def tasks(of: trio.lowlevel.Task) -> set[trio.lowlevel.Task]:
    """Return all tasks below one."""
    below = {child for nursery in of.child_nurseries for child in nursery.child_tasks}
    return below.union(*(tasks(child) for child in below))


def descriptors() -> dict[int, str]:
    """Return the target of each open descriptor of this process."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:  # the descriptor of the listing itself
            continue
    return found


def settings() -> dict[str, Any]:
    """Return the settings that belong to the host process as a whole."""
    return {
        "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "gc": (gc.get_threshold(), gc.isenabled()),
        "structlog": structlog.get_config(),
        "structlog is configured": structlog.is_configured(),
        "directory": os.getcwd(),
        "umask": _umask(),
        "environment": dict(os.environ),
    }


def _umask() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Assert at the end that there are no new threads or descriptors, and that the settings are unchanged.

    Some threads and descriptors may have gone: trio's idle threads end by themselves, and objects that other tests
    dropped are collected. Some objects that another test froze may have been freed (mypy freezes objects in the process
    that calls it).
    """
    before = threads(), descriptors(), settings()
    frozen = gc.get_freeze_count()
    yield
    assert gc.get_freeze_count() <= frozen
    assert threads() - before[0] == set()
    assert descriptors().items() - before[1].items() == set()
    assert settings() == before[2]
