"""Files of checkpoints, by their names and contents, without PyTorch."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gm_arena.bot import BotUnusable

#: The checkpoint that comes with the package, with which ``recon-zero`` plays by default.
SHIPPED = Path(__file__).with_name("shipped.pt")


def shipped() -> Path | None:
    """Return the checkpoint that comes with the package; None in a tree without it."""
    return SHIPPED if SHIPPED.is_file() else None


def checkpoint_of(directory: Path, iteration: int) -> Path:
    """Return the checkpoint file of an iteration in a training's directory."""
    return directory / f"iteration-{iteration:04}.pt"


def digest_of(path: Path) -> str:
    """Return the hash of a file.

    :raises BotUnusable: the file cannot be read.
    """
    try:
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        raise BotUnusable(f"{path} cannot be read: {error.strerror}") from None
