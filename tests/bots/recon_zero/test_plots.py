"""The plots of a training."""

from __future__ import annotations

import json
import os
import struct
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gm_bots.recon_zero.command import train
from gm_bots.recon_zero.plots import (
    DOTS,
    LEAGUE,
    LOG,
    LOSS,
    SIZE,
    WIN_RATE,
    BadLog,
    draw_league,
    draw_win_rate,
    interval,
    read_log,
)

pytestmark = pytest.mark.slow

needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None and os.environ.get("GMD_REQUIRE_ALL") != "1",
    reason="matplotlib is not installed: pip install -e '.[plot]'",
)


def line(iteration: int, points: float | None = 0.5, older: float | None = None) -> dict[str, Any]:
    """Return an iteration's line in a training's log."""
    return {
        "iteration": iteration,
        "policy_loss": 2 / iteration,
        "value_loss": 1 / iteration,
        "points_against_random": points,
        "matches": 0 if points is None else 4,
        "points_against_older": older,
        "matches_older": 0 if older is None else 2,
    }


LINES = [line(1), line(2, 0.75, 0.5), line(3, 1.0, 1.0)]


def write(directory: Path, lines: list[dict[str, Any]]) -> Path:
    (directory / LOG).write_text("".join(json.dumps(each) + "\n" for each in lines))
    return directory


def plot(directory: Path) -> Result:
    return CliRunner().invoke(train, ["plot", str(directory)])


@needs_matplotlib
@pytest.mark.parametrize("lines", [LINES, LINES[:1], [line(1, None)]], ids=["three", "one", "no matches"])
def test_plots_are_drawn_from_the_log(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    done = plot(write(tmp_path, lines))
    assert (done.exit_code, done.stdout.split()) == (0, [str(tmp_path / LOSS), str(tmp_path / WIN_RATE)])
    for name in (LOSS, WIN_RATE):
        start = (tmp_path / name).read_bytes()[:24]
        assert start[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", start[16:]) == tuple(round(side * DOTS) for side in SIZE)
    assert {path.name for path in tmp_path.iterdir()} == {LOG, LOSS, WIN_RATE}, "no other file is left"


@needs_matplotlib
def test_share_of_the_points_is_that_of_the_games_so_far() -> None:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw_win_rate(figure, LINES)
    (axes,) = figure.axes
    lines = {each.get_label(): each.get_xydata().tolist() for each in axes.lines}
    assert lines["against a random mover"] == [[1, 50], [2, 62.5], [3, 75]]
    assert lines["against itself, 5 iterations before"] == [[2, 50], [3, 75]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iteration", "share of the points, %")


@needs_matplotlib
def test_scores_against_the_league_are_those_of_each_member_and_of_all(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    league: list[dict[str, list[int]]] = [
        {"material": [1, 0, 1]},
        {"material": [1, 0, 0], "iteration-0001": [0, 1, 0]},
        {"iteration-0001": [0, 0, 1], "iteration-0005": [0, 0, 1]},
    ]
    lines = [{**each, "league": results} for each, results in zip(LINES, league, strict=True)]
    figure = Figure(layout="constrained")
    draw_league(figure, lines)
    drawn = {each.get_label(): each.get_xydata().tolist() for each in figure.axes[0].lines}
    assert drawn["against all"] == [[1, 50], [2, 62.5], [3, pytest.approx(250 / 6)]]
    assert drawn["against material"] == [[1, 50], [2, pytest.approx(200 / 3)]]
    assert drawn["against its earlier networks"] == [[2, 50], [3, pytest.approx(50 / 3)]]
    done = plot(write(tmp_path, lines))
    assert done.stdout.split() == [str(tmp_path / name) for name in (LOSS, WIN_RATE, LEAGUE)]


def test_interval_is_wilsons() -> None:
    """The figures for 9 of 12 points are R. G. Newcombe's, method 3."""
    share, low, high = interval(LINES, "points_against_random", "matches")
    assert (share, low, high) == pytest.approx((0.75, 0.4677, 0.9111), abs=5e-5)


@pytest.mark.parametrize("text", ["", "no log\n", '{"iteration": 1}\n', "[]\n"])
def test_file_that_is_no_log_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / LOG).write_text(text)
    with pytest.raises(BadLog, match=r"log\.jsonl is not a log of a training: "):
        read_log(tmp_path / LOG)


def test_missing_log_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadLog, match=r"log\.jsonl is not a log of a training: .*No such file"):
        read_log(tmp_path / LOG)


def test_missing_matplotlib_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = plot(write(tmp_path, LINES))
    assert done.exit_code == 1
    assert done.stderr == (
        "no plots: matplotlib is not installed: run .venv/bin/pip install -e '.[plot]' in the clone of gmd\n"
    )
