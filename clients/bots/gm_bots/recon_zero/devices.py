"""The devices of training steps, and what they compute with."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from .lockstep.judging import Precision

#: Positions and channels of the convolution that is timed, and how often it is.
_POSITIONS, _CHANNELS, _TIMES = 64, 64, 5


def device() -> str:
    """Return PyTorch's name of the device of training steps: a GPU where there is one, and otherwise the processor."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def best_precision() -> Precision:
    """Return the faster of the two kinds of numbers on this machine."""
    return "bfloat16" if device() == "cuda" or bfloat16_factor() < 1 else "float32"


def bfloat16_factor() -> float:
    """Return how many times as long as with float32 a convolution takes this processor with bfloat16. It is measured.

    PyTorch has no public function that says whether a processor knows such numbers. One that does not takes several
    times as long as with float32, and a training of an hour becomes one of a night.
    """
    return _seconds(torch.bfloat16) / _seconds(torch.float32)


def _seconds(kind: torch.dtype) -> float:
    """Return the seconds of a convolution, the median of some."""
    planes = torch.zeros(_POSITIONS, _CHANNELS, 8, 8, dtype=kind)
    weights = torch.zeros(_CHANNELS, _CHANNELS, 3, 3, dtype=kind)
    taken = []
    with torch.inference_mode():
        functional.conv2d(planes, weights, padding=1)  # the first call prepares
        for _ in range(_TIMES):
            begun = perf_counter()
            functional.conv2d(planes, weights, padding=1)
            taken.append(perf_counter() - begun)
    return median(taken)
