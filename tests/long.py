"""The marks of long tests that have parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def one_ordinary(values: Sequence[str]) -> list[Any]:
    """Return the values of a parameter of which the ordinary run tries the first alone: the others are long."""
    return [values[0], *(pytest.param(value, marks=pytest.mark.long) for value in values[1:])]
