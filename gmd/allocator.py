"""The C library's allocator, made a server's: what was freed goes back to the system.

By default the GNU library raises the size from which memory is mapped for itself, once such memory is freed, up to
32 MiB. From then on large buffers lie on the heap between small ones, and a crowd's memory stays when the crowd has
gone. A size that is set stays as it is.
"""

from __future__ import annotations

import ctypes

#: The parameters of mallopt that are set, by the numbers that malloc.h gives them.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3

#: Bytes from which a buffer has memory of its own, which is given back when it is freed: more than what is read at
#: once, for to map memory takes longer than to read into it.
MAPPED_FROM = 128 << 10
#: Bytes that may be free at the heap's end: giving back and asking again takes time, too.
KEPT_FREE = 8 << 20


def give_memory_back() -> bool:
    """Set the process's allocator up; whether it is one that can be."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False  # another C library: musl gives memory back unasked
    return bool(mallopt(_M_MMAP_THRESHOLD, MAPPED_FROM)) and bool(mallopt(_M_TRIM_THRESHOLD, KEPT_FREE))
