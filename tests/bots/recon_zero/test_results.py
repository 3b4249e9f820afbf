"""``results.csv``, with the columns of the notebook with which recon-zero began, and TensorBoard's events."""

from __future__ import annotations

import csv
import os
from datetime import datetime
from pathlib import Path

import pytest

from gm_bots.recon_zero import results
from gm_bots.recon_zero.checkpoint_files import checkpoint_of
from tests.bots.recon_zero.learning import log, needs_training, tiny, train

pytestmark = pytest.mark.slow

#: The notebook's columns.
FIFTEEN = [
    *("timestamp", "iter", "buffer_size", "loss", "loss_policy", "loss_value"),
    *("eval_wins", "eval_losses", "eval_draws", "sims_selfplay", "sims_eval"),
    *("games_per_iter", "train_steps_per_iter", "batch_size", "ckpt_path"),
]

PLAN = {
    "games": 7,
    "steps": 11,
    "batch": 13,
    "player": {"simulations": 60},
}
DONE = {
    "iteration": 1,
    "kept": 500,
    "loss": 5.0,
    "policy_loss": 2.5,
    "value_loss": 0.25,
    "won_against_random": 4,
    "drawn_against_random": 2,
    "lost_against_random": 1,
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == FIFTEEN
        return list(reader)


def made(directory: Path, iteration: int, when: datetime) -> Path:
    path = checkpoint_of(directory, iteration)
    path.touch()
    os.utime(path, (when.timestamp(), when.timestamp()))
    return path


def test_row_has_the_results_of_an_iteration(tmp_path: Path) -> None:
    path = made(tmp_path, 1, datetime(2026, 1, 2, 3, 4, 5))
    results.write_training(tmp_path, PLAN, [DONE])
    (row,) = rows(tmp_path / "results.csv")
    assert list(row.values()) == [
        *("2026-01-02T03:04:05", "1", "500", "5.0", "2.5", "0.25"),
        *("4", "1", "2", "60", "60", "7", "11", "13", str(path)),
    ]


def test_times_are_kept_when_checkpoints_are_copied_or_removed(tmp_path: Path) -> None:
    first = made(tmp_path, 1, datetime(2026, 1, 1))
    results.write_training(tmp_path, PLAN, [DONE])
    made(tmp_path, 1, datetime(2026, 2, 2))
    second = made(tmp_path, 2, datetime(2026, 1, 3))
    log = [DONE, {**DONE, "iteration": 2}, {**DONE, "iteration": 3}]
    results.write_training(tmp_path, PLAN, log)
    for path in (first, second):
        path.unlink()
    results.write_training(tmp_path, PLAN, log)
    assert [row["timestamp"] for row in rows(tmp_path / "results.csv")] == [
        *("2026-01-01T00:00:00", "2026-01-03T00:00:00", "")
    ]


def test_file_with_other_columns_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("iter,loss\n1,2\n")
    with pytest.raises(results.BadResults, match=r"results\.csv has other columns than results\.csv of a training"):
        results.write_training(tmp_path, PLAN, [DONE])
    assert path.read_text() == "iter,loss\n1,2\n"


@needs_training
def test_training_writes_a_row_for_each_iteration_and_restores_a_lost_file(tmp_path: Path) -> None:
    whole = train(tmp_path, 2)
    assert whole.exit_code == 0, whole.output
    written = rows(tmp_path / "results.csv")
    assert [row["iter"] for row in written] == ["1", "2"]
    assert [row["ckpt_path"] for row in written] == [str(checkpoint_of(tmp_path, number)) for number in (1, 2)]
    for row in written:
        assert datetime.fromisoformat(row["timestamp"]) <= datetime.now()
        assert sum(int(row[name]) for name in ("eval_wins", "eval_losses", "eval_draws")) == 2
        assert float(row["loss"]) == pytest.approx(float(row["loss_policy"]) + 10 * float(row["loss_value"]))
        assert (row["sims_selfplay"], row["sims_eval"]) == ("4", "4")
        assert (row["games_per_iter"], row["train_steps_per_iter"], row["batch_size"]) == ("2", "4", "8")
    (tmp_path / "results.csv").unlink()
    assert train(tmp_path, 2).exit_code == 0
    assert rows(tmp_path / "results.csv") == written


@needs_training
def test_tensorboard_shows_losses_and_points_and_forgets_a_try_that_was_killed(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    members = {"games": 3, "league": 0.7, "members": ("material", "attacker")}
    assert train(tmp_path, 1, **members).exit_code == 0
    killed = {**log(tmp_path)[0], "iteration": 2, "policy_loss": 77.0, "league": {"nobody": [1, 0, 0]}}
    results.add_events(tmp_path, killed)
    assert train(tmp_path, 2).exit_code == 0
    found = EventAccumulator(str(tmp_path / "events"))
    found.Reload()
    done = log(tmp_path)
    for name in ("policy", "value"):
        shown = [(each.step, each.value) for each in found.Scalars(f"loss/{name}")]
        assert shown == [(each["iteration"], pytest.approx(each[f"{name}_loss"])) for each in done]
    met = {f"points/{name}" for each in done for name in ("random", *each["league"])}
    assert {name for name in found.Tags()["scalars"] if name.startswith("points/")} - met == {"points/nobody"}
    assert found.Scalars("points/nobody") == []
    points = [(each["won_against_random"] + each["drawn_against_random"] / 2) / tiny().matches for each in done]
    assert [each.value for each in found.Scalars("points/random")] == points
