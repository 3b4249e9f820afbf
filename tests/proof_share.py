"""The seeded quarter of the proofs that the continuous integration has time for.

Each commit's hash draws another one, so that all proofs run every few commits, and a failure can be repeated.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

#: The variable with the seed. Without it, ``make proof-share`` runs a share of every proof.
SEED = "GMD_PROOF_SEED"
#: How many times as many proofs there are as are drawn.
PARTS = 4


def is_drawn(nodeid: str, seed: str) -> bool:
    """Return whether a test is in a seed's part."""
    return crc32(f"{seed} {nodeid}".encode()) % PARTS == 0


def pytest_report_header() -> str | None:
    seed = os.environ.get(SEED)
    return f"proofs: the quarter that {SEED}={seed} draws" if seed else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = os.environ.get(SEED)
    if not seed:
        return
    left_out = {item for item in items if item.get_closest_marker("proof") and not is_drawn(item.nodeid, seed)}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
