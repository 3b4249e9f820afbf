"""``gmd train check``: each of its checks passes where nothing is wrong, and fails where something is."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest
from chess import Move, Square
from click.testing import CliRunner, Result

from gm_arena.bot import BotFailed
from gm_bots.recon_zero.measure.smoke import checks
from gm_bots.recon_zero.measure.smoke import smoke as check
from gm_bots.recon_zero.reconchess_player import VARIABLE, ReconZero
from gm_bots.recon_zero.sensing import Belief
from tests.bots.recon_zero.learning import needs_torch

pytestmark = pytest.mark.slow

NAMES = ["loads", "belief", "sense", "move", "games"]


@pytest.fixture(autouse=True)
def no_options_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


class Quick(ReconZero):
    def __init__(self) -> None:
        super().__init__(checkpoint="none", simulations=2, determinisations=1, seed=1)


def failed(make: type[ReconZero], games: int = 0) -> dict[str, str]:
    """Return the checks that a player fails, and their messages."""
    found = list(checks(make, games, max_moves=2))
    assert [check.name for check in found] == NAMES
    return {check.name: check.says for check in found if not check.passed}


def test_bot_passes_all_checks() -> None:
    found = list(checks(Quick, 2))
    assert [(check.name, check.passed) for check in found] == [(name, True) for name in NAMES]
    assert found[-1].says.startswith("2 against RandomBot came to an end: ")


def test_bot_that_does_not_load_fails_every_check() -> None:
    class Broken(Quick):
        def __init__(self) -> None:
            raise BotFailed("latest.pt is not a checkpoint")

    says = "raised BotFailed: latest.pt is not a checkpoint"
    skipped = "not run: the bot does not load"
    assert failed(Broken, 1) == {"loads": says, "belief": skipped, "sense": skipped, "move": skipped, "games": says}


@pytest.mark.parametrize(
    ("belief", "says"),
    [
        (
            np.full((7, 8, 8), 1 / 7 + 1e-3),
            "the belief is not a distribution: a square's probabilities are 0.007 from a sum of 1",
        ),
        (np.full((7, 64), 1 / 7), "the belief has the shape (7, 64), not (7, 8, 8)"),
        (np.full((7, 8, 8), np.nan), "the belief has negative probabilities, or some that are not numbers"),
    ],
)
def test_belief_that_is_no_distribution_fails(belief: Belief, says: str) -> None:
    class Sure(Quick):
        def belief(self) -> Belief:
            return belief

    assert failed(Sure) == {"belief": says, "sense": says}


def test_sense_of_a_square_that_was_not_offered_fails() -> None:
    class Far(Quick):
        def choose_sense(self, squares: list[Square], moves: list[Move], seconds: float) -> Square:
            return 64

    assert failed(Far) == {"sense": "choose_sense returned 64, which is not one of the squares offered"}


def test_move_that_was_not_offered_fails_and_so_do_the_games() -> None:
    class Wild(Quick):
        def choose_move(self, moves: list[Move], seconds: float) -> Move | None:
            return chess.Move.from_uci("e2e5")

    assert failed(Wild, 1) == {
        "move": "choose_move returned e2e5, which is not one of the moves offered",
        "games": "raised ValueError: Requested move e2e5 was not in move_actions()",
    }


def test_game_lost_on_time_fails() -> None:
    found = list(checks(Quick, 1, seconds=0))
    assert [(check.name, check.says) for check in found if not check.passed] == [
        ("games", "game 1 of 1 was lost on time")
    ]


def smoke(*arguments: str) -> Result:
    return CliRunner().invoke(check, [*arguments])


PLAIN = (
    *("--option", "checkpoint=none", "--option", "simulations=2"),
    *("--option", "determinisations=1", "--max-moves", "2"),
)


def test_command_prints_a_table_and_exits_with_0_when_all_checks_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "depth=2")  # ignored: the command has its own options
    done = smoke(*PLAIN)
    assert done.exit_code == 0, done.output
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines() if line[:1] == "│"]
    assert [row[:2] for row in cells] == [[name, "pass"] for name in NAMES]
    assert cells[-1][2] == "2 against RandomBot came to an end: drawn 2"
    assert "1 against RandomBot" in smoke(*PLAIN, "--games", "1").stdout


@needs_torch
def test_command_exits_with_1_when_a_check_fails(tmp_path: Path) -> None:
    path = tmp_path / "latest.pt"
    path.write_text("no checkpoint")
    done = smoke(str(path), "--games", "1")
    assert done.exit_code == 1
    assert done.stdout.count("FAIL") == len(NAMES)
    assert "BotFailed" in done.stdout


def test_unknown_option_is_refused() -> None:
    done = smoke("--option", "depth=2")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "recon-zero: unknown option depth" in done.stderr
