"""How much the tests try: hypothesis's profile decides it, for hypothesis and for loops of our own."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

_R = TypeVar("_R")

#: The number of hypothesis's examples in each profile.
EXAMPLES = {"dev": 25, "ci": 40, "nightly": 1_000}


def register_profiles() -> None:
    """Make the profiles known to hypothesis, and load ``dev``: ``--hypothesis-profile`` names another.

    A busy machine is not a failure. Two runs of ``dev`` or ``ci`` try the same examples. ``nightly`` has hypothesis try
    new ones, and prints how to repeat one that fails.
    """
    for name, examples in EXAMPLES.items():
        nightly = name == "nightly"
        settings.register_profile(
            name,
            max_examples=examples,
            deadline=None,
            derandomize=not nightly,
            print_blob=nightly,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile("dev")


def cases(number: int) -> int:
    """Return how many cases a loop tries that tries this number in the profile ``dev``."""
    return max(1, number * settings().max_examples // EXAMPLES["dev"])


def in_processes(function: Callable[..., _R], jobs: Sequence[tuple[Any, ...]]) -> Iterator[_R]:
    """Yield what a function returns for each of the jobs, in their order: one job runs here, more run in one process
    per processor.

    :param function: a function of a module, so that another process can import it.
    """
    if len(jobs) == 1:
        yield function(*jobs[0])
        return
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=_settle_in) as pool:
        yield from pool.map(function, *zip(*jobs, strict=True))


def _settle_in() -> None:
    """Collect garbage as seldom as the daemon does: a proof allocates much, and little of it in cycles."""
    gc.freeze()
    gc.set_threshold(50_000)
