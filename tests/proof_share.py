"""The seeded quarter of the proofs that the continuous integration has time for.

The hash of the commit draws it, so that a failure can be repeated. After eight runs nine in ten proofs have run, and
after twenty nearly all.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

#: The variable with the seed. Without it, ``make proof-share`` runs a share of every proof; other runs ignore it.
SEED = "GMD_PROOF_SEED"
#: One proof in so many is drawn.
PARTS = 4


def is_drawn(nodeid: str, seed: str) -> bool:
    """Return whether a test is in a seed's part."""
    return crc32(f"{seed} {nodeid}".encode()) % PARTS == 0


def seed_of_this_run() -> str:
    """Return the seed; nothing where all proofs run."""
    return os.environ.get(SEED, "") if os.environ.get("GMD_PROOF") == "share" else ""


def pytest_report_header() -> str | None:
    seed = seed_of_this_run()
    return f"proofs: the quarter that {SEED}={seed} draws" if seed else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = seed_of_this_run()
    if not seed:
        return
    left_out = {item for item in items if item.get_closest_marker("proof") and not is_drawn(item.nodeid, seed)}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
