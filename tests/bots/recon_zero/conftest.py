"""Skips these tests where numba is not installed."""

from __future__ import annotations

from tests.needs_numba import pytest_pycollect_makemodule as pytest_pycollect_makemodule
