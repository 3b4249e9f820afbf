"""Settings of the C library's allocator for a server: freed memory goes back to the system.

By default the GNU library raises the mmap threshold, the size from which a buffer gets a mapping of its own, each time
such a buffer is freed, up to 32 MiB. From then on large buffers lie on the heap between small ones, and the memory that
a crowd of clients took is not returned after they leave. A threshold that is set explicitly stays constant.
"""

from __future__ import annotations

import ctypes

#: Parameters of mallopt, with their numbers in malloc.h.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3

#: The mmap threshold in bytes: a buffer of this size has its own mapping, which is returned when it is freed. It is
#: larger than one read, because mapping memory takes longer than reading into it.
MAPPED_FROM = 128 << 10
#: Bytes that may stay free at the end of the heap: returning memory and asking for it again takes time, too.
KEPT_FREE = 8 << 20


def give_memory_back() -> bool:
    """Set the thresholds of the process's allocator; return whether it accepted them."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False  # another C library; musl returns memory by default
    return bool(mallopt(_M_MMAP_THRESHOLD, MAPPED_FROM)) and bool(mallopt(_M_TRIM_THRESHOLD, KEPT_FREE))
