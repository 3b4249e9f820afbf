"""The network learns, and a resumed training continues as if it had never stopped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import chess
import numpy as np
import pytest

from gm_arena.bot import BotFailed
from gm_bots.minimax.evaluation import is_end_game
from gm_bots.recon_zero.lockstep.encoding import with_attacks
from gm_bots.recon_zero.replay import Batch, Replay, Sample
from gm_recon import ReconBoard
from tests.bots.recon_zero.learning import needs_torch, planes
from tests.bots.recon_zero.plain_evaluation import plain_material, plain_network

if TYPE_CHECKING:
    from gm_bots.recon_zero.training import Trainer

pytestmark = [needs_torch, pytest.mark.slow]


def trainer(channels: int = 16, learning_rate: float = 0.002) -> Trainer:
    import torch

    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.training import Trainer

    torch.manual_seed(1)
    torch.set_num_threads(1)
    return Trainer(Network(NetworkSettings(channels, 2)), learning_rate)


def batch(directory: Path, size: int = 8) -> Batch:
    replay = Replay(directory, size)
    for number in range(size):
        visits = {37 * number: 3, 20_479 - number: 1}
        replay.add(Sample(planes(number), visits, searched=number % 3 / 2 - 0.5))
    return replay.draw(size, np.random.default_rng(1))


def test_network_learns_one_batch_by_heart(tmp_path: Path) -> None:
    learner, learnt = trainer(channels=32, learning_rate=0.003), batch(tmp_path)
    first = learner.learn(learnt)
    for _ in range(250):
        last = learner.learn(learnt)
    assert first.policy > 5
    assert last.policy < 0.1
    assert last.value < 0.01 < first.value
    assert last.total == pytest.approx(last.policy + 10 * last.value)
    assert learner.step == 251


def test_learning_rate_falls_to_a_half_in_1200_steps(tmp_path: Path) -> None:
    learner, learnt = trainer(channels=2), batch(tmp_path)
    learner.step = 1_200
    learner.learn(learnt)
    assert learner.optimiser.param_groups[0]["lr"] == pytest.approx(0.001)


def test_network_of_the_first_form_is_refused(tmp_path: Path) -> None:
    import torch

    from gm_bots.recon_zero.checkpoint import load_judge, save

    save(tmp_path / "old.pt", trainer(channels=2))
    content = torch.load(tmp_path / "old.pt", weights_only=True)
    del content["network"]["form"]
    torch.save(content, tmp_path / "old.pt")
    with pytest.raises(BotFailed, match=r"old\.pt has a network of form 1, which gmd had until version 0\.2"):
        load_judge(tmp_path / "old.pt")


def test_policy_loss_is_the_divergence_over_all_moves(tmp_path: Path) -> None:
    import torch
    from torch.nn import functional

    learner, learnt = trainer(), batch(tmp_path)
    with torch.no_grad():
        logits, _ = learner.network(torch.from_numpy(with_attacks(learnt.planes)))
    wanted = torch.zeros(8, 20_480).scatter_add(1, torch.from_numpy(learnt.moves), torch.from_numpy(learnt.shares))
    divergence = functional.kl_div(functional.log_softmax(logits, dim=-1), wanted, reduction="batchmean")
    assert learner.learn(learnt).policy == pytest.approx(divergence.item(), rel=1e-4)


def test_network_learns_in_bfloat16_and_stays_float32(tmp_path: Path) -> None:
    learner, learnt = trainer(channels=32, learning_rate=0.003), batch(tmp_path)
    first = learner.learn(learnt, "bfloat16")
    for _ in range(250):
        last = learner.learn(learnt, "bfloat16")
    assert last.policy < 0.1 < first.policy
    assert last.value < 0.01 < first.value
    assert {str(parameter.dtype) for parameter in learner.network.parameters()} == {"torch.float32"}


def test_resumed_training_continues_alike(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import load, save

    unbroken, learnt = trainer(), batch(tmp_path)
    for _ in range(3):
        unbroken.learn(learnt)
    save(tmp_path / "3.pt", unbroken, {"added": 8})
    resumed, extra = load(tmp_path / "3.pt")
    assert extra == {"added": 8}
    assert [resumed.learn(learnt) for _ in range(3)] == [unbroken.learn(learnt) for _ in range(3)]
    assert resumed.step == unbroken.step == 6
    assert resumed.learning_rate == unbroken.learning_rate
    ours, theirs = resumed.network.state_dict(), unbroken.network.state_dict()
    assert all((ours[name] == theirs[name]).all() for name in theirs)


def test_network_judges_a_position_by_its_moves_alone(tmp_path: Path) -> None:
    from gm_bots.recon_zero.checkpoint import load_network, save

    save(tmp_path / "new.pt", trainer())
    board = ReconBoard()
    moves = [None, *board.move_actions()]
    mirrored = ReconBoard.of(chess.Board().mirror())
    (priors, value), (blacks, same) = plain_network(load_network(tmp_path / "new.pt"))(
        [(board, moves), (mirrored, [None, *mirrored.move_actions()])]
    )
    assert len(priors) == len(moves)
    assert sum(priors) == pytest.approx(1)
    assert -1 <= value <= 1
    assert same == pytest.approx(value, abs=1e-6)  # Black sees what White sees
    assert sorted(blacks) == pytest.approx(sorted(priors), abs=1e-6)


def test_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    import torch

    from gm_bots.recon_zero.checkpoint import BadCheckpoint, load, load_judge

    wrong, other, bare = tmp_path / "wrong.pt", tmp_path / "other.pt", tmp_path / "bare.pt"
    wrong.write_text("not a checkpoint")
    torch.save({"version": 99}, other)
    torch.save({"version": 1, "network": {"form": 2}, "weights": {}}, bare)
    with pytest.raises(BadCheckpoint, match=r"wrong\.pt is not a checkpoint"):
        load(wrong)
    with pytest.raises(BadCheckpoint, match="is not a checkpoint of version 1: its version is 99"):
        load(other)
    with pytest.raises(BotFailed, match=r"bare\.pt is not a checkpoint: .*\n.*Missing key"):
        load_judge(bare)
    with pytest.raises(BotFailed, match="is not a checkpoint of version 1"):
        load_judge(other)


def test_initial_value_is_the_material_balance() -> None:
    """It equals that by piece values: in the middle game to the last digit."""
    from gm_bots.recon_zero.network import Network, NetworkSettings

    judge = plain_network(Network(NetworkSettings(channels=4, layers=1)))
    boards = [ReconBoard.of(board) for board in middle_games(20)]
    positions = [(board, board.move_actions()) for board in boards]
    expected = [value for _, value in plain_material(positions)]
    assert [value for _, value in judge(positions)] == pytest.approx(expected, abs=1e-5)
    assert min(expected) < -0.2 < 0.2 < max(expected)


def middle_games(count: int) -> Iterator[chess.Board]:
    for seed in range(count):
        rng, board = random.Random(seed), chess.Board()
        while not board.is_game_over() and len(board.move_stack) < 24 + seed % 2:
            board.push(rng.choice(list(board.legal_moves)))
        if not is_end_game(board):
            yield board
