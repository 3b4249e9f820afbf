"""PyTorch and Ray, which some tests need, and small things to learn from."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest


def _needs(library: str) -> pytest.MarkDecorator:
    """CI sets GMD_REQUIRE_ALL, and installs it: there its lack is an error, not a reason to skip."""
    return pytest.mark.skipif(
        find_spec(library) is None and os.environ.get("GMD_REQUIRE_ALL") != "1",
        reason=f"{library} is not installed: pip install -e '.[train]'",
    )


needs_torch, needs_ray = _needs("torch"), _needs("ray")


def planes(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Planes of no position."""
    return np.random.default_rng(seed).random((15, 8, 8), np.float32)
