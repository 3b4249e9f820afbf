"""Process settings of ``gmd serve``; a program that embeds the daemon keeps its own."""

from __future__ import annotations

import gc

from gmd.allocator import give_memory_back
from gmd.players.passwords import load_argon2

#: Thresholds of the garbage collector, as gc.set_threshold takes them: new containers between two collections of the
#: first generation, collections of the first between two of the second, and of the second between two of the third.
#: Requests make no reference cycles, so a collection finds nothing. But thousands of connections have millions of
#: containers, and each can cost a collection up to a microsecond, in which the event loop is blocked. With these
#: thresholds, a collection takes 2 ms for the first generation and 8 ms for the second.
GC_THRESHOLDS = (2_000, 4, 12_000)


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
