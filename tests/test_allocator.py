"""The memory of many buffers goes back to the system when they are freed."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

#: Prints how many bytes of some large buffers stay in memory when they are freed and the small ones between them are
#: not.
CROWD = """
import resource
from gmd.cli.process import give_memory_back

assert give_memory_back()
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
del (largest := [b"x" * (16 << 20)])[:]  # makes the C library put such memory on the heap
before = resident()
held = [(b"x" * 300_000, b"x" * 2_000) for _ in range(300)]
small = [pair[1] for pair in held]
del held
print(resident() - before)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallopt") or not Path("/proc/self/statm").exists(),
    reason="this system's C library has another allocator",
)
def test_freeing_large_buffers_gives_their_memory_back_to_the_system() -> None:
    """Without `give_memory_back` a quarter of their ninety megabytes stays in memory."""
    left = int(subprocess.run([sys.executable, "-c", CROWD], check=True, capture_output=True, text=True).stdout)
    assert left < 12_000_000
