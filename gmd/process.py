"""What ``gmd serve`` makes of its process; a program that embeds the daemon has its own ways."""

from __future__ import annotations

import gc
import resource

from gmd.allocator import give_memory_back

#: Allocations between two collections of young objects. Requests make no cycles, so collecting often finds nothing.
GC_THRESHOLD = 50_000


def prepare_process() -> None:
    """Make this process a server's.

    It gets as many descriptors as it may have, a garbage collector that seldom looks, and gives memory back.
    """
    give_memory_back()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 100)
