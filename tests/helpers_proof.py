"""The amount of a long proof to run."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

_R = TypeVar("_R")


def proof_size(small: int, full: int, share: int | None = None) -> int:
    """Return the number of cases for this run, by the variable GMD_PROOF.

    :param small: for the ordinary run, where GMD_PROOF is not set.
    :param full: for GMD_PROOF=full, as ``make proof`` sets it.
    :param share: for GMD_PROOF=share, as the continuous integration sets it; unless given, a fortieth of ``full``, or
        twice ``small`` if that is more.
    :raises ValueError: GMD_PROOF is something else.
    """
    match os.environ.get("GMD_PROOF", ""):
        case "":
            return small
        case "share":
            return min(full, max(2 * small, full // 40)) if share is None else share
        case "full":
            return full
        case other:
            raise ValueError(f"GMD_PROOF={other}: it is 'share', 'full' or not set")


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
