"""Process settings of ``gmd serve``: memory, the garbage collector and threads. A program that embeds it keeps its own.

By default the GNU library raises the mmap threshold, the size from which a buffer gets a mapping of its own, each time
such a buffer is freed, up to 32 MiB. From then on large buffers lie on the heap between small ones, and the memory that
a crowd of clients took is not returned after they leave. A threshold that is set explicitly stays constant.
"""

from __future__ import annotations

import ctypes
import gc
import sys

from gmd.players.passwords import load_argon2

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


#: Thresholds of the garbage collector, as gc.set_threshold takes them: new containers between two collections of the
#: first generation, collections of the first between two of the second, and of the second between two of the third.
#: Requests make no reference cycles, so a collection finds nothing. But thousands of connections have millions of
#: containers, and each can cost a collection up to a microsecond, in which the event loop is blocked. With these
#: thresholds, a collection takes 2 ms for the first generation and 8 ms for the second. The third one takes up to a
#: second, and the scheduler collects the second every few turns, so that is counted in millions.
GC_THRESHOLDS = (2_000, 4, 10_000_000)

#: Seconds that a thread waits for Python's lock before it asks the one that runs to let go of it. A write in the thread
#: of the log waits for it some ten times. With Python's own 5 ms, writes of a loaded server took 100 ms, and the moves
#: that waited behind them 200.
SWITCH_SECONDS = 0.0005


def prepare_process() -> None:
    """Set this process up as a server.

    The garbage collector is on, and runs seldom; freed memory goes back to the system. Modules with deferred imports
    are imported now, because later there may be no descriptor left for it.

    What exists by now is never collected. No collection precedes that: it takes a tenth of a start, 17 ms, and 60 with
    HTTP and a log, and finds some hundred objects.
    """
    give_memory_back()
    load_argon2()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()
    sys.setswitchinterval(SWITCH_SECONDS)
