"""Work counted in calls of functions, the same number on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from types import FrameType
from typing import Any

from gm_protocol.codec import InvalidRequest
from gm_protocol.errors import GmError


def calls_during(function: Callable[[], object]) -> int:
    """Return how many calls of Python functions and built-ins the function makes before it returns or refuses."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        with suppress(InvalidRequest, GmError):
            function()
    finally:
        sys.setprofile(None)
    return calls


def calls_of_steps(steps: Generator[None, None, Any]) -> list[int]:
    """Return how many calls each step of a generator makes, until it returns or refuses."""
    found: list[int] = []
    going = True

    def step() -> None:
        nonlocal going
        going = False
        with suppress(StopIteration):
            next(steps)
            going = True

    while going:
        found.append(calls_during(step))
    return found
