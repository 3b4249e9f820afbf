"""Programs that some tests run and that not every machine has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def require_tool(name: str) -> Path:
    """Where the program ``name`` is. Without it the test is skipped, or fails where GMD_REQUIRE_ALL=1."""
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    if os.environ.get("GMD_REQUIRE_ALL") == "1":
        pytest.fail(f"{name} is not installed, and GMD_REQUIRE_ALL=1 lets no test be skipped for that")
    pytest.skip(f"{name} is not installed")
