"""Checkpoints: everything that a training continues from, and that a bot plays with, in one file.

The file is written by ``torch.save`` from plain numbers, texts and tensors, and is read as such: reading one never runs
code that it contains.
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

from .lockstep.judging import Judge, Precision
from .lockstep.network_judge import NetworkJudge
from .network import Network, NetworkSettings
from .training import Trainer

#: The version of the file's contents, and of the meaning of planes and move numbers; and of the network's layers.
VERSION, FORM = 1, 2


class BadCheckpoint(ValueError):
    """A file is not a checkpoint, or has another version."""


def save(path: Path, trainer: Trainer, extra: dict[str, Any] | None = None) -> None:
    """Write a checkpoint atomically: after a crash the file is the old one or the new one, whole.

    :param extra: other data that the training continues from, of plain types.
    """
    network, optimiser = trainer.network, trainer.optimiser
    content = {
        "version": VERSION,
        "gmd": GMD_VERSION,
        "network": {**asdict(network.settings), "form": FORM},
        "learning_rate": trainer.learning_rate,
        "weights": network.state_dict(),
        "optimiser": optimiser.state_dict(),
        "step": trainer.step,
        "extra": extra or {},
    }
    _write(path, content)


def keep_network(checkpoint: Path, path: Path) -> None:
    """Write the part of a checkpoint that a bot plays with, and its history. No training can continue from it.

    :raises BadCheckpoint: the file is not a checkpoint of this version.
    :raises OSError: the checkpoint cannot be read, or the other file not written.
    """
    load_network(checkpoint)
    content = _read(checkpoint)
    extra = {name: content["extra"][name] for name in ("plan", "iteration") if name in content["extra"]}
    _write(path, {**{name: content[name] for name in content if name != "optimiser"}, "extra": extra})


def link(checkpoint: Path, path: Path) -> None:
    """Give a checkpoint a second name, replacing the file of that name atomically.

    Its bytes are not written again, except on file systems without hard links, where it is copied.

    :raises OSError: the checkpoint cannot be read, or the other file not written.
    """
    partial = _partial(path)
    try:
        os.link(checkpoint, partial)
    except OSError:  # the error for missing links depends on the file system
        with checkpoint.open("rb") as source, partial.open("wb") as file:
            shutil.copyfileobj(source, file)
            _sync(file)
    partial.replace(path)
    partial.unlink(missing_ok=True)  # POSIX keeps both names if they are the same file already


def _write(path: Path, content: dict[str, Any]) -> None:
    partial = _partial(path)
    with partial.open("wb") as file:
        torch.save(content, file)
        _sync(file)
    partial.replace(path)


def _partial(path: Path) -> Path:
    """Return the temporary name of a file. A killed process's leftover is removed, since it may be a link."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    return partial


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def load(path: Path, device: str = "cpu") -> tuple[Trainer, dict[str, Any]]:
    """Return the training and the other data of a checkpoint.

    :param device: PyTorch's name of the device to continue on, whichever it was before.
    :raises BadCheckpoint: the file is not a checkpoint of this version.
    :raises OSError: the file cannot be read.
    """
    content = _read(path)
    if "optimiser" not in content:
        raise BadCheckpoint(f"{path} is only a network for a bot to play with: no training can continue from it")
    with _of_this_shape(path):
        trainer = Trainer(_network_of(path, content).to(device), content["learning_rate"])
        trainer.optimiser.load_state_dict(content["optimiser"])
        trainer.step = content["step"]
        return trainer, content["extra"]


def load_network(path: Path) -> Network:
    """Return only the network of a checkpoint.

    :raises BadCheckpoint: the file is not a checkpoint of this version.
    :raises OSError: the file cannot be read.
    """
    content = _read(path)
    with _of_this_shape(path):
        return _network_of(path, content)


def _network_of(path: Path, content: dict[str, Any]) -> Network:
    settings = dict(content["network"])
    if (form := settings.pop("form", 1)) != FORM:
        raise BadCheckpoint(f"{path} has a network of form {form}, which gmd had until version 0.2: use that one")
    network = Network(NetworkSettings(**settings))
    network.load_state_dict(content["weights"])
    return network


def load_judge(path: Path, precision: Precision = "float32") -> Judge:
    """Return the network as a bot's evaluator of positions.

    PyTorch then computes in one thread, everywhere in the process. For a few positions at a time more threads do not
    help, and on a busy machine they wait for each other: two games of two seconds took a minute.

    :raises BotFailed: the checkpoint cannot be read.
    """
    torch.set_num_threads(1)
    try:
        return NetworkJudge(load_network(path), precision)
    except (BadCheckpoint, OSError) as error:
        raise BotFailed(str(error)) from None


@contextmanager
def _of_this_shape(path: Path) -> Iterator[None]:
    """Convert errors of a missing or misshapen part.

    :raises BadCheckpoint: a needed part is missing, or has the wrong shape.
    """
    try:
        yield
    except BadCheckpoint:
        raise
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise BadCheckpoint(f"{path} is not a checkpoint: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise BadCheckpoint(f"{path} is not a checkpoint: {error}") from None
    found = content.get("version") if isinstance(content, dict) else None
    if found != VERSION:
        raise BadCheckpoint(f"{path} is not a checkpoint of version {VERSION}: its version is {found}")
    return dict(content)
