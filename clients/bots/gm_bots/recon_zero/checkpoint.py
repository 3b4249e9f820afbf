"""Checkpoints: all that a training goes on from, and all that a bot plays by, in one file.

The file is what ``torch.save`` makes of plain numbers, texts and tensors, and is read as such: reading one runs no code
that somebody has put into it.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import torch

from gm_arena.bot import BotFailed
from gmd.version import VERSION as GMD_VERSION

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
        "gmd": GMD_VERSION,
        "network": asdict(network.settings),
        "training": asdict(trainer.settings),
        "weights": network.state_dict(),
        "optimiser": optimiser.state_dict(),
        "step": trainer.step,
        "extra": extra or {},
    }
    _write(path, content)


def keep_network(checkpoint: Path, path: Path) -> None:
    """Write of a checkpoint what a bot plays by, and what that came of. No training goes on from it.

    :raises BadCheckpoint: it is none of this version.
    :raises OSError: it cannot be read, or the other not written.
    """
    load_network(checkpoint)
    content = _read(checkpoint)
    extra = {name: content["extra"][name] for name in ("plan", "iteration") if name in content["extra"]}
    _write(path, {**{name: content[name] for name in content if name != "optimiser"}, "extra": extra})


def link(checkpoint: Path, path: Path) -> None:
    """Give a checkpoint a second name, in place of what has that name; at any moment it is one of the two, whole.

    Its bytes are not written again, except on file systems without hard links: there it is copied.

    :raises OSError: it cannot be read, or the other not written.
    """
    partial = _partial(path)
    try:
        os.link(checkpoint, partial)
    except OSError:  # which error says that there are no links depends on the file system
        with checkpoint.open("rb") as source, partial.open("wb") as file:
            shutil.copyfileobj(source, file)
            _sync(file)
    partial.replace(path)
    partial.unlink(missing_ok=True)  # POSIX leaves both names where they are the same file already


def _write(path: Path, content: dict[str, Any]) -> None:
    partial = _partial(path)
    with partial.open("wb") as file:
        torch.save(content, file)
        _sync(file)
    partial.replace(path)


def _partial(path: Path) -> Path:
    """The name under which a file is made. What a killed process left there is removed: it may be a link."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    return partial


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def load(path: Path, device: str = "cpu") -> tuple[Trainer, dict[str, Any]]:
    """The training as it was, and what else was kept.

    :param device: PyTorch's name of what it goes on on, wherever it was.
    :raises BadCheckpoint: it is none of this version.
    :raises OSError: it cannot be read.
    """
    content = _read(path)
    if "optimiser" not in content:
        raise BadCheckpoint(f"{path} is a network alone, by which a bot plays: no training goes on from it")
    with _of_this_shape(path):
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
    with _of_this_shape(path):
        network = Network(NetworkSettings(**content["network"]))
        network.load_state_dict(content["weights"])
        return network


def history(path: Path) -> dict[str, Any]:
    """Return what a training has kept in a checkpoint besides its network, as far as it is there: plan, iteration, log.

    :raises BadCheckpoint: it is none of this version.
    :raises OSError: it cannot be read.
    """
    return dict(_read(path, mmap=True)["extra"])


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


@contextmanager
def _of_this_shape(path: Path) -> Iterator[None]:
    """:raises BadCheckpoint: what is needed is not in it, or not as long as it should be."""
    try:
        yield
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise BadCheckpoint(f"{path} is no checkpoint: {error}") from None


def _read(path: Path, *, mmap: bool = False) -> dict[str, Any]:
    """:param mmap: whether tensors are read when they are used, which is never where others are asked for."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=mmap)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise BadCheckpoint(f"{path} is no checkpoint: {error}") from None
    found = content.get("version") if isinstance(content, dict) else None
    if found != VERSION:
        raise BadCheckpoint(f"{path} is no checkpoint of version {VERSION}: its version is {found}")
    return dict(content)
