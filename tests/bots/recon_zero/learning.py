"""PyTorch and Ray, which some tests need, and small things to learn from."""

from __future__ import annotations

import os
import random
from importlib.util import find_spec
from pathlib import Path

import chess
import pytest

from gm_bots.recon_zero.belief import certain
from gm_bots.recon_zero.encoder import Planes, encode


def _needs(library: str) -> pytest.MarkDecorator:
    """Skip a test without a library; where GMD_REQUIRE_ALL is set, as in CI, the missing library is an error."""
    return pytest.mark.skipif(
        find_spec(library) is None and os.environ.get("GMD_REQUIRE_ALL") != "1",
        reason=f"{library} is not installed: pip install -e '.[train]'",
    )


needs_torch, needs_ray = _needs("torch"), _needs("ray")


def planes(seed: int) -> Planes:
    """Return the planes of a position reached by random moves."""
    rng, board = random.Random(int(seed)), chess.Board()
    for _ in range(12 + seed % 8):
        board.push(rng.choice(list(board.legal_moves)))
    return encode(board, board.turn, certain(board, board.turn))


def checkpoint(path: Path, seed: int = 1) -> Path:
    """Write a checkpoint of a tiny untrained network; return its path."""
    import torch

    from gm_bots.recon_zero.checkpoint import save
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.training import Trainer, TrainingSettings

    torch.manual_seed(seed)
    save(path, Trainer(Network(NetworkSettings(channels=4, layers=1)), TrainingSettings()))
    return path
