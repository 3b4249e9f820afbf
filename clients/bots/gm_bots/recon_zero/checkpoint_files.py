"""Files of checkpoints, by their names and contents, without PyTorch."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from gm_arena.bot import BotUnusable

#: The suffix of a checkpoint's file.
CHECKPOINT = ".pt"
#: The checkpoint that comes with the package, with which ``recon-zero`` plays by default.
SHIPPED = Path(__file__).with_name("shipped.pt")

_NAME = re.compile(r"iteration-(\d+)\.pt")


def shipped() -> Path | None:
    """Return the checkpoint that comes with the package; None in a tree without it."""
    return SHIPPED if SHIPPED.is_file() else None


def is_checkpoint(text: str) -> bool:
    """Return whether a text names a checkpoint file, not a bot: a bot has a colon before its file."""
    return text.endswith(CHECKPOINT) and (Path(text).is_file() or not any(sign in text for sign in ":="))


def checkpoint_of(directory: Path, iteration: int) -> Path:
    """Return the checkpoint file of an iteration in a training's directory."""
    return directory / f"iteration-{iteration:04}.pt"


def iteration(path: Path) -> int | None:
    """Return the iteration of a training's checkpoint, by its name; None for another file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else None


def digest_of(path: Path) -> str:
    """Return the hash of a file.

    :raises BotUnusable: the file cannot be read.
    """
    try:
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        raise BotUnusable(f"{path} cannot be read: {error.strerror}") from None
