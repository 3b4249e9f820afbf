"""How much memory a bot's process may have, so that one that takes more and more does not take its opponent's."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

MIB = 1 << 20

#: What a bot gets at least where nothing is said: an engine with its network and a hash table.
LEAST = 1024 * MIB


def memory_for(mebibytes: int | None, games: int) -> int | None:
    """Bytes for each process of a bot's; None for as many as there are.

    :param mebibytes: what was asked for, 0 for no limit; None for a bot's share of the machine, if all of them took it.
    :param games: how many are played at a time, of two bots each.
    """
    if mebibytes is not None:
        return mebibytes * MIB or None
    return max(LEAST, machine_memory() // (2 * games))


def machine_memory() -> int:
    """Bytes that this machine has, or that this container may have of it."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(physical, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # there is no such limit: the file is not there, or says "max"
        return physical


def limit_memory(pid: int, most_bytes: int) -> None:
    """Let a process, and each that it starts from now on, have so many bytes of memory, and no more.

    What counts is what it can write to (RLIMIT_DATA), and not what it has reserved of the address space: languages that
    manage memory reserve much more than they use. Where the system has no such limit, none is set.
    """
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(ProcessLookupError):  # it has ended already
            _, most = resource.prlimit(pid, resource.RLIMIT_DATA)
            limit = most_bytes if most == resource.RLIM_INFINITY else min(most_bytes, most)
            resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
