"""How ``gmd evaluate`` measures a bot without a network, where PyTorch is missing."""

from __future__ import annotations

from pathlib import Path

from .. import entry


def without_network(checkpoint: Path | None) -> str:
    """Return the option; empty for a bot with a checkpoint, which cannot play without its network."""
    return "" if checkpoint is not None else f"--option checkpoint={entry.WITHOUT}"
