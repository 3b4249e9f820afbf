"""The checkpoint that comes with the package, with which ``recon-zero`` plays by default."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("shipped.pt")
#: The record of a training that makes such a checkpoint: ``gmd train recon-zero --recipe shipped``.
RECIPE = Path(__file__).with_name("shipped.json")


def shipped() -> Path | None:
    """Return the file; None in a tree without it."""
    return FILE if FILE.is_file() else None
