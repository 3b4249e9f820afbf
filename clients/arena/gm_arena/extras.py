"""The optional parts of gmd's installation."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return how to install a missing extra. No package index has gmd, so the command runs in a clone."""
    return f"run .venv/bin/pip install -e '.[{extra}]' in the clone of gmd"
