"""PyTorch, which the tests of the network need, and small things to learn from."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

#: CI sets GMD_REQUIRE_ALL, and installs it: there its lack is an error, not a reason to skip.
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None and os.environ.get("GMD_REQUIRE_ALL") != "1",
    reason="torch is not installed: pip install -e '.[train]'",
)


def planes(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Planes of no position."""
    return np.random.default_rng(seed).random((15, 8, 8), np.float32)


def checkpoint(path: Path, seed: int = 1) -> Path:
    """A file of a tiny network that has learnt nothing."""
    import torch

    from gm_bots.recon_zero.checkpoint import save
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.training import Trainer, TrainingSettings

    torch.manual_seed(seed)
    save(path, Trainer(Network(NetworkSettings(channels=4, layers=1)), TrainingSettings()))
    return path
