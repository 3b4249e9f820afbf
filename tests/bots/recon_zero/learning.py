"""PyTorch and Ray, which some tests need, and small things to learn from."""

from __future__ import annotations

import os
import random
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import pytest
from click.testing import CliRunner, Result

if TYPE_CHECKING:
    from gm_bots.recon_zero.lockstep.encoding import Floats
    from gm_bots.recon_zero.plan import Plan


def _needs(*libraries: str) -> pytest.MarkDecorator:
    """Skip a test without libraries; where GMD_REQUIRE_ALL is set, as in CI, a missing library is an error."""
    missing = [library for library in libraries if find_spec(library) is None]
    return pytest.mark.skipif(
        bool(missing) and os.environ.get("GMD_REQUIRE_ALL") != "1",
        reason=f"{', '.join(missing)} not installed: .venv/bin/pip install -e '.[train]'",
    )


needs_torch, needs_ray, needs_training = _needs("torch"), _needs("ray"), _needs("torch", "tensorboard")


def planes(seed: int) -> Floats:
    """Return the planes of a position reached by random moves."""
    from tests.bots.recon_zero.plain_encoding import encode

    rng, board = random.Random(int(seed)), chess.Board()
    for _ in range(12 + seed % 8):
        board.push(rng.choice(list(board.legal_moves)))
    return encode(board)


def checkpoint(path: Path, seed: int = 1) -> Path:
    """Write a checkpoint of a tiny untrained network; return its path."""
    import torch

    from gm_bots.recon_zero.checkpoint import save
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.training import Trainer

    torch.manual_seed(seed)
    save(path, Trainer(Network(NetworkSettings(channels=4, layers=1))))
    return path


def tiny(**settings: Any) -> Plan:
    """Return the plan of a training that takes a second or two an iteration, with other settings if given."""
    from gm_bots.recon_zero.network import NetworkSettings
    from gm_bots.recon_zero.plan import Plan
    from gm_bots.recon_zero.thinker import Settings

    plan = Plan(
        games=2,
        taught=0,
        teacher=0,
        steps=4,
        batch=8,
        matches=2,
        capacity=1_000,
        max_plies=12,
        league=0,
        members=(),
        seed=3,
        network=NetworkSettings(channels=4, layers=1),
        player=Settings(determinisations=2, simulations=4, exploring=6, alarm=8),
    )
    return plan.changed(settings)


def train(directory: Path, iterations: int | None, *options: object, **settings: Any) -> Result:
    """Run the command for a training with this plan, whose record is written first if it is not there."""
    import torch

    from gm_bots.recon_zero.command import train as command
    from gm_bots.recon_zero.plan import FILE, begin_session

    torch.set_num_threads(1)  # with several, sums may be added in another order each time
    directory.mkdir(exist_ok=True)
    if not (directory / FILE).exists():
        begin_session(directory, tiny(**settings), 1, {})
    words = ["recon-zero", "--out", directory, *([] if iterations is None else ["--iterations", iterations]), *options]
    return CliRunner().invoke(command, list(map(str, words)))


def log(directory: Path) -> list[dict[str, Any]]:
    """Return the results of each iteration of a training."""
    from gm_bots.recon_zero.checkpoint import load

    found: list[dict[str, Any]] = load(directory / "latest.pt")[1]["log"]
    return found


def assert_same(ours: Path, theirs: Path) -> None:
    """Assert that two trainings have the same results, samples and weights."""
    from gm_bots.recon_zero.checkpoint import load

    for file in (theirs / "samples").iterdir():
        assert (ours / "samples" / file.name).read_bytes() == file.read_bytes()
    (mine, extra), (other, expected) = load(ours / "latest.pt"), load(theirs / "latest.pt")
    weights = other.network.state_dict()
    assert all((tensor == weights[name]).all() for name, tensor in mine.network.state_dict().items())
    assert extra == expected
