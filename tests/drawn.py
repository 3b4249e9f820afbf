"""The long tests and proofs that the continuous integration has time for: with ``--one-in N``, those that a seed draws.

The hash of the commit draws them, so that a failure can be repeated. Of one in two, nine in ten have run after four
commits; of one in four, after eight.
"""

from __future__ import annotations

import os
from hashlib import sha256

import pytest

#: The variable with the seed. Without it nothing is left out.
SEED = "GMD_DRAW_SEED"


def is_drawn(nodeid: str, seed: str, parts: int) -> bool:
    """Return whether a test is in the part that a seed draws, one in ``parts``."""
    return int.from_bytes(sha256(f"{seed} {nodeid}".encode()).digest()[:8]) % parts == 0


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = f"run only one in so many tests, which {SEED} draws; without that variable, all"
    parser.addoption("--one-in", metavar="N", type=_positive, default=1, help=help_text)


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError
    return number


def pytest_report_header(config: pytest.Config) -> str | None:
    seed, parts = os.environ.get(SEED), config.getoption("--one-in")
    return f"drawn: one test in {parts}, by {SEED}={seed}" if seed and parts > 1 else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed, parts = os.environ.get(SEED), config.getoption("--one-in")
    if not seed:
        return
    left_out = {item for item in items if not is_drawn(item.nodeid, seed, parts)}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
