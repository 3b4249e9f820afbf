"""Samples are kept in files, unchanged, and the oldest are overwritten first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gm_bots.recon_zero.replay import MOVES, BadSamples, Batch, Replay, Sample
from tests.bots.recon_zero.learning import planes


def sample(number: int) -> Sample:
    return Sample(planes(number), {number: 3, 20_479: 1, 17: 0}, searched=number / 100)


def shares_of(batch: Batch, at: int) -> dict[int, float]:
    """Return the moves of a sample that were visited, with their shares."""
    kept = zip(batch.moves[at].tolist(), batch.shares[at].tolist(), strict=True)
    return {move: share for move, share in kept if share}


def test_batch_has_the_samples_unchanged(tmp_path: Path) -> None:
    replay = Replay(tmp_path, 10)
    for number in range(5):
        replay.add(sample(number))
    batch = replay.draw(20, np.random.default_rng(1))
    numbers = np.round(batch.searched * 100).astype(int)
    assert set(numbers) == set(range(5))
    for at, number in enumerate(numbers):
        assert np.array_equal(batch.planes[at], planes(number))
        assert shares_of(batch, at) == {number: 0.75, 20_479: 0.25}
    assert batch.moves.shape == batch.shares.shape == (20, MOVES)
    assert batch.planes.dtype == batch.shares.dtype == np.float32


def test_oldest_samples_are_overwritten(tmp_path: Path) -> None:
    replay = Replay(tmp_path, 4)
    for number in range(10):
        replay.add(sample(number))
    assert len(replay) == 4
    searched = replay.draw(100, np.random.default_rng(1)).searched
    assert set(np.round(searched * 100).astype(int)) == {6, 7, 8, 9}


def test_samples_are_read_back_up_to_the_checkpoint(tmp_path: Path) -> None:
    replay = Replay(tmp_path, 4)
    for number in range(3):
        replay.add(sample(number))
    replay.flush()
    again = Replay(tmp_path, 4, added=2)  # the third sample came after the checkpoint
    assert set(np.round(again.draw(50, np.random.default_rng(1)).searched * 100).astype(int)) == {0, 1}
    with pytest.raises(ValueError, match=r"planes.npy has the shape \(4, 15, 8, 8\), not \(5, 15, 8, 8\)"):
        Replay(tmp_path, 5)


def test_lost_samples_are_reported(tmp_path: Path) -> None:
    Replay(tmp_path, 4).add(sample(1))
    (tmp_path / "searched.npy").write_bytes(b"")
    with pytest.raises(
        BadSamples, match=r"searched\.npy cannot be read: .*: restore it, or begin in another directory"
    ):
        Replay(tmp_path, 4, added=1)
    (tmp_path / "searched.npy").unlink()
    with pytest.raises(BadSamples, match=r"searched\.npy is missing, and the training has 1 samples: restore it, or"):
        Replay(tmp_path, 4, added=1)


def test_most_visited_moves_are_kept_when_there_are_too_many(tmp_path: Path) -> None:
    replay = Replay(tmp_path, 1)
    replay.add(Sample(planes(1), {move: 1 + (move >= 100) for move in range(MOVES + 100)}, 0.0))
    shares = shares_of(replay.draw(1, np.random.default_rng(1)), 0)
    assert shares.keys() == set(range(100, MOVES + 100))
    assert sum(shares.values()) == pytest.approx(1)


def test_sample_without_visits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has visited no move"):
        Replay(tmp_path, 1).add(Sample(planes(1), {5: 0}, 0.0))
