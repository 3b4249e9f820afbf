"""What a crowd's buffers filled goes back to the system when the crowd has gone."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

#: Prints how many bytes of some large buffers are still in memory when they are freed, small ones between them not.
CROWD = """
import resource
from gmd.allocator import give_memory_back

assert give_memory_back()
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
del (largest := [b"x" * (16 << 20)])[:]  # which teaches the C library to have such memory on the heap
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
def test_memory_of_large_buffers_is_given_back_when_they_are_freed() -> None:
    """Without this a quarter of their ninety megabytes stays."""
    left = int(subprocess.run([sys.executable, "-c", CROWD], check=True, capture_output=True, text=True).stdout)
    assert left < 12_000_000
