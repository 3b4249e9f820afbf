"""The older checkpoint with which an iteration is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from gm_bots.recon_zero.older import BEFORE, checkpoint_of, older_than


@pytest.mark.parametrize(
    ("iteration", "older"), [(1, None), (2, 1), (BEFORE + 1, 1), (BEFORE + 2, 2), (40, 40 - BEFORE)]
)
def test_older_checkpoint_is_some_iterations_back_or_the_first(
    tmp_path: Path, iteration: int, older: int | None
) -> None:
    for made in range(1, iteration):
        checkpoint_of(tmp_path, made).touch()
    assert older_than(tmp_path, iteration) == (None if older is None else (older, checkpoint_of(tmp_path, older)))


def test_removed_checkpoint_is_no_opponent(tmp_path: Path) -> None:
    assert older_than(tmp_path, 3) is None
