"""Checkpoints: all that a training goes on from, and all that a bot plays by, in one file.

The file is what ``torch.save`` makes of plain numbers, texts and tensors, and is read as such: reading one runs no code
that somebody has put into it.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from gm_arena.bot import BotFailed

from .evaluation import Evaluator
from .network import Network, NetworkEvaluator, NetworkSettings
from .training import Trainer, TrainingSettings

#: Of what the file has in it, and of what the planes and the numbers of moves mean.
VERSION = 1


class BadCheckpoint(ValueError):
    """A file is no checkpoint, or one of another version."""


def save(path: Path, trainer: Trainer, extra: dict[str, Any] | None = None) -> None:
    """Write a checkpoint; whatever happens meanwhile, the file is the old one or the new one, whole.

    :param extra: whatever else the training goes on from, of plain types.
    """
    network, optimiser = trainer.network, trainer.optimiser
    content = {
        "version": VERSION,
        "network": asdict(network.settings),
        "training": asdict(trainer.settings),
        "weights": network.state_dict(),
        "optimiser": optimiser.state_dict(),
        "step": trainer.step,
        "extra": extra or {},
    }
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        torch.save(content, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def save_network(path: Path, network: Network) -> None:
    """Write what a bot plays by, and nothing that a training goes on from: a third of the file."""
    torch.save({"version": VERSION, "network": asdict(network.settings), "weights": network.state_dict()}, path)


def load(path: Path, device: str = "cpu") -> tuple[Trainer, dict[str, Any]]:
    """The training as it was, and what else was kept.

    :param device: PyTorch's name of what it goes on on, wherever it was.
    :raises BadCheckpoint: it is none of this version.
    :raises OSError: it cannot be read.
    """
    content = _read(path)
    if "optimiser" not in content:
        raise BadCheckpoint(f"{path} is a network alone, by which a bot plays: no training goes on from it")
    network = Network(NetworkSettings(**content["network"])).to(device)
    trainer = Trainer(network, TrainingSettings(**content["training"]))
    trainer.network.load_state_dict(content["weights"])
    trainer.optimiser.load_state_dict(content["optimiser"])
    trainer.step = content["step"]
    return trainer, content["extra"]


def load_network(path: Path) -> Network:
    """The network alone.

    :raises BadCheckpoint: it is none of this version.
    :raises OSError: it cannot be read.
    """
    content = _read(path)
    network = Network(NetworkSettings(**content["network"]))
    network.load_state_dict(content["weights"])
    return network


def load_evaluator(path: Path) -> Evaluator:
    """The network as a bot plays by it.

    PyTorch then computes in one thread, everywhere in the process. On a few positions at a time more do not help, and
    on a machine that is busy they wait for each other: two games of two seconds took a minute.

    :raises BotFailed: there is none.
    """
    torch.set_num_threads(1)
    try:
        return NetworkEvaluator(load_network(path))
    except (BadCheckpoint, OSError) as error:
        raise BotFailed(str(error)) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise BadCheckpoint(f"{path} is no checkpoint: {error}") from None
    version = content.get("version") if isinstance(content, dict) else None
    if version != VERSION:
        raise BadCheckpoint(f"{path} is no checkpoint of version {VERSION}: its version is {version}")
    return dict(content)
