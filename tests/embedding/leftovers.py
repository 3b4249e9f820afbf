"""What a daemon may leave behind in the process that ran it: nothing."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog


def threads() -> set[threading.Thread]:
    """Those that are alive."""
    return set(threading.enumerate())


def descriptors() -> dict[int, str]:
    """What each open descriptor of this process is."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:  # that of the listing itself
            continue
    return found


def settings() -> dict[str, Any]:
    """What belongs to the host process and to nobody in it."""
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
    """At the end there are no threads and descriptors but those of the begin, and the settings are what they were.

    Of those, some may have gone: trio's idle threads end by themselves, and what other tests dropped is collected. Of
    objects that another test froze (mypy does, in the process that calls it), some may have been freed.
    """
    before = threads(), descriptors(), settings()
    frozen = gc.get_freeze_count()
    yield
    assert gc.get_freeze_count() <= frozen
    assert threads() - before[0] == set()
    assert descriptors().items() - before[1].items() == set()
    assert settings() == before[2]
