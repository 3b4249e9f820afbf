"""A build backend that gives the editable wheel of the folder above to a caller that asks for a normal wheel."""

from __future__ import annotations

import os
from typing import Any

from hatchling import build


def build_wheel(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build the wheel in ``directory`` and return its file name."""
    os.chdir("..")  # hatchling finds pyproject.toml there
    return build.build_editable(directory, settings, metadata)


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """Return the requirements of the build besides hatchling."""
    os.chdir("..")
    return build.get_requires_for_build_editable(settings)
