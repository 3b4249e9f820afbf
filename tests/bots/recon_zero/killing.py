"""A training that is killed at every operation on its files: ``python -m tests.bots.recon_zero.killing DIR``.

It prints one JSON object per line: the result of the training that was not killed, then of each that was killed one
operation later and resumed. The program trains once itself, because PyTorch imports much of itself at its first step;
then it forks.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gm_bots.recon_zero import results
from gm_bots.recon_zero.checkpoint import load
from gm_bots.recon_zero.network import NetworkSettings
from gm_bots.recon_zero.pipeline import Training
from gm_bots.recon_zero.plan import Plan
from gm_bots.recon_zero.thinker import Settings

#: The ring is full after the first iteration: the second overwrites samples of it.
PLAN = Plan(
    games=1,
    taught=0,
    steps=2,
    batch=4,
    teacher=0,
    league=0,
    matches=0,
    capacity=6,
    max_plies=6,
    network=NetworkSettings(channels=4, layers=1),
    player=Settings(simulations=2, determinisations=1, exploring=6),
)

#: The operations on files that Python's audit hook reports before they happen.
STEPS = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.truncate")


def forked(work: Callable[[], object]) -> int:
    """Run a function in a forked process; return the signal that ended it, or 0."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert not os.waitstatus_to_exitcode(status) > 0, "it has failed"
    return os.WTERMSIG(status)


def train(directory: Path) -> None:
    """Train up to the end of the second iteration."""
    training = Training(directory, PLAN)
    while training.iteration < 2:
        training.iterate()


def train_killed(directory: Path, at: int) -> None:
    """Train until so many operations on the files are done; the next one kills the process."""
    steps = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event in STEPS and str(directory) in str(arguments[0]):
            if steps == at:
                os.kill(os.getpid(), signal.SIGKILL)
            steps += 1

    sys.addaudithook(watch)
    train(directory)


def report(directory: Path, killed: bool) -> None:
    """Print the result of a training."""
    trainer, extra = load(directory / "latest.pt")
    weights = b"".join(tensor.numpy().tobytes() for tensor in trainer.network.state_dict().values())
    came = {
        "killed": killed,
        "weights": hashlib.sha256(weights).hexdigest(),
        "step": trainer.step,
        "is_linked": (directory / "latest.pt").samefile(directory / "iteration-0002.pt"),
        "added": extra["added"],
        "log": extra["log"],
        "rows": [row["iter"] for row in results.read(directory / results.FILE)],
        "files": sorted(path.name for path in directory.iterdir()),
    }
    print(json.dumps(came), flush=True)


def main(directory: Path) -> None:
    """Run all trainings."""
    torch.set_num_threads(1)  # other threads would not exist after a fork
    train(directory / "warm")
    first, whole, at, killed = directory / "first", directory / "whole", 0, True
    forked(lambda: Training(first, PLAN).iterate())
    shutil.copytree(first, whole)
    forked(lambda: train(whole))
    forked(lambda: report(whole, False))
    while killed:
        broken = directory / str(at)
        shutil.copytree(first, broken)
        killed = forked(lambda broken=broken, at=at: train_killed(broken, at)) == signal.SIGKILL  # type: ignore[misc]
        forked(lambda broken=broken: train(broken))  # type: ignore[misc]
        forked(lambda broken=broken, killed=killed: report(broken, killed))  # type: ignore[misc]
        at += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
