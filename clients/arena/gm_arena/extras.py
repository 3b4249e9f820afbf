"""The optional parts of gmd's installation."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return what to do where a library of an extra is missing. No package index has gmd, so it begins in a clone."""
    return f"run .venv/bin/pip install -e '.[{extra}]' in the clone of gmd"
