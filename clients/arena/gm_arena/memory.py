"""The memory limit of a bot's process, so that a bot that keeps allocating does not take its opponent's memory."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

MIB = 1 << 20

#: A bot's least memory where no limit is given: enough for an engine with its network and a hash table.
LEAST = 1024 * MIB


def memory_for(mebibytes: int | None, games: int) -> int | None:
    """Return the memory limit of each process of a bot, in bytes; None for no limit.

    :param mebibytes: the limit asked for, 0 for none; None for a bot's share of the machine if all bots used theirs.
    :param games: the number of games played at the same time, of two bots each.
    """
    if mebibytes is not None:
        return mebibytes * MIB or None
    return max(LEAST, machine_memory() // (2 * games))


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or of this container if that has fewer."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(physical, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such limit: the file is missing, or says "max"
        return physical


def limit_memory(pid: int, most_bytes: int) -> None:
    """Limit the memory of a process, and of each process that it starts from now on, to so many bytes.

    The limit is on writable memory (RLIMIT_DATA) and not on reserved address space: languages with managed memory
    reserve much more than they use. Where the system has no such limit, none is set.
    """
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(ProcessLookupError):  # it has ended already
            _, most = resource.prlimit(pid, resource.RLIMIT_DATA)
            limit = most_bytes if most == resource.RLIM_INFINITY else min(most_bytes, most)
            resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
