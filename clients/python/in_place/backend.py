"""Builds the distribution of the folder above as its editable install, for whoever asks for a wheel."""

from __future__ import annotations

import os
from typing import Any

from hatchling import build


def build_wheel(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """Return the name of the wheel written to ``directory``."""
    os.chdir("..")  # where hatchling finds pyproject.toml
    return build.build_editable(directory, settings, metadata)


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """Return what the build needs besides hatchling."""
    os.chdir("..")
    return build.get_requires_for_build_editable(settings)
