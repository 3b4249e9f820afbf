"""What ``gmd serve`` makes of its process; a program that embeds the daemon has its own ways."""

from __future__ import annotations

import gc

from gmd.allocator import give_memory_back
from gmd.players.passwords import load_argon2

#: Containers made, and not gone, between two collections of young ones; and how many of these collections there are
#: between two of those that survived one, and of these between two of everything. Requests make no cycles, so
#: collecting finds nothing; but thousands of connections come to millions of containers, and a collection stops the
#: event loop for up to a microsecond each. These thresholds make that 2 ms, and 8 ms.
GC_THRESHOLDS = (2_000, 4, 12_000)


def prepare_process() -> None:
    """Make this process a server's.

    It gets a garbage collector that seldom looks, and gives memory back. What is imported only when it is needed is
    imported now: then there may be no descriptor left for it.
    """
    give_memory_back()
    load_argon2()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
