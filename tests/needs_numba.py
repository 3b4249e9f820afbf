"""Skips the modules of a folder where numba is not installed, before they import gm_env: for a ``conftest.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.tools import require_module


class NeedsNumba(pytest.Module):
    """A module of tests that need numba."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        require_module("numba")
        return super().collect()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return NeedsNumba.from_parent(parent, path=module_path)
