"""The optional parts of gmd's installation."""

from __future__ import annotations

import logging
from typing import Any


def how_to_install(extra: str) -> str:
    """Return how to install a missing extra. No package index has gmd, so the command runs in a clone."""
    return f"run .venv/bin/pip install -e '.[{extra}]' in the clone of gmd"


def new_figure(width: float, height: float) -> Any:
    """Return a figure of matplotlib, of this size in inches.

    matplotlib logs that it builds its font cache, once on each machine, or that it cannot keep it. A command's standard
    error is for what concerns its user.

    :raises ImportError: matplotlib is missing.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
