"""Files of checkpoints, by their names and contents, without PyTorch."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gm_arena.bot import BotUnusable

#: The suffix of a checkpoint's file.
CHECKPOINT = ".pt"


def is_checkpoint(text: str) -> bool:
    """Return whether a text names a checkpoint file, not a bot: a bot has a colon before its file."""
    return text.endswith(CHECKPOINT) and (Path(text).is_file() or not any(sign in text for sign in ":="))


def digest_of(path: Path) -> str:
    """Return the hash of a file.

    :raises BotUnusable: the file cannot be read.
    """
    try:
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        raise BotUnusable(f"{path} cannot be read: {error.strerror}") from None
