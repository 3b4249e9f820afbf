"""What ``gmd serve`` makes of its process; a program that embeds the daemon has its own ways."""

from __future__ import annotations

import gc

from gmd.allocator import give_memory_back
from gmd.players.passwords import load_argon2

#: Allocations between two collections of young objects. Requests make no cycles, so collecting often finds nothing.
GC_THRESHOLD = 50_000


def prepare_process() -> None:
    """Make this process a server's.

    It gets a garbage collector that seldom looks, and gives memory back. What is imported only when it is needed is
    imported now: then there may be no descriptor left for it.
    """
    give_memory_back()
    load_argon2()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 100)
