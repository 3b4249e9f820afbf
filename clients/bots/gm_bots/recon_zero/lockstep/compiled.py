"""The compiler of this package's kernels, which call those of the environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from gm_env.kernels.cache import FOLDER, digest_of, kept

F = TypeVar("F", bound=Callable[..., Any])

_DIGEST = digest_of(FOLDER, Path(__file__).parent)


def kernel(function: F) -> F:
    """Compile a function when it is first called, for the types that it is called with; without the GIL."""
    function.__qualname__ += f"_{_DIGEST}"  # numba names the files of its cache by it
    with kept() as may_cache:
        compiled: Any = numba.njit(function, cache=may_cache, nogil=True, error_model="numpy")
    result: F = compiled
    return result
