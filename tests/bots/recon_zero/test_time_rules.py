"""How recon-zero does less where its work takes too long."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="needs numba: .venv/bin/pip install -e '.[train]'")

from gm_bots.recon_zero.knowledge import LEAST_LOOKED_AT, Knowledge
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.lockstep.opponent_model import read_model
from gm_bots.recon_zero.lockstep.weighted import LEAST_KEPT, Weighing
from gm_bots.recon_zero.time_rules import GROWTH, LEAST_WORK, WORK_SHARE, Workload

pytestmark = pytest.mark.slow


class Machine:
    """A machine with a clock, on which all of a turn's work takes so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0
        self.workload = Workload(lambda: self.now)

    def take_turn(self, allowed: float | None) -> float:
        """Do the work of a turn, and return the seconds that it took."""
        took = self.seconds * self.workload.share_for(allowed)
        with self.workload.measured():
            self.now += took
        return took


def test_work_takes_its_share_of_a_turn_from_the_second_turn_on() -> None:
    machine = Machine(3)
    assert machine.take_turn(1) == 3
    assert [machine.take_turn(1) for _ in range(3)] == pytest.approx([WORK_SHARE] * 3)


@given(seconds=st.floats(0.001, 10), allowed=st.lists(st.floats(0, 20), min_size=1, max_size=30))
def test_work_exceeds_its_share_for_one_turn_only_unless_it_is_the_least(seconds: float, allowed: list[float]) -> None:
    machine = Machine(seconds)
    machine.take_turn(allowed[0])
    for limit in allowed:
        took = machine.take_turn(limit)
        assert took <= WORK_SHARE * limit * (1 + 1e-9) or took == pytest.approx(seconds * LEAST_WORK)


def test_all_work_is_done_again_once_there_is_time() -> None:
    machine = Machine(1)
    for _ in range(2):
        machine.take_turn(0)
    turns = [machine.take_turn(100) for _ in range(7)]
    assert turns == pytest.approx([min(1, LEAST_WORK * GROWTH**turn) for turn in range(1, 8)])
    machine.take_turn(0)
    machine.take_turn(0)
    assert machine.take_turn(None) == 1, "no limit is no reason to wait for it"


@pytest.mark.parametrize("weighted", [True, False])
def test_with_the_least_work_some_positions_are_kept_and_weighed(weighted: bool) -> None:
    weighing = Weighing(count_material, read_model()) if weighted else None
    knowledge = Knowledge(chess.WHITE, rng=random.Random(1), weighing=weighing)
    move = chess.Move.from_uci("g1f3")
    for turn in range(4):
        knowledge.limit(100_000, 0.0)
        if turn:
            knowledge.opponent_moved(None)
        taken = move if turn % 2 == 0 else chess.Move(move.to_square, move.from_square)
        knowledge.player_moved(taken, taken, None)
    assert 1 <= knowledge.kept <= LEAST_KEPT
    found = knowledge.examined()
    assert 1 <= len(found.states) <= LEAST_LOOKED_AT
    assert len(found.weights) == len(found.states)
    assert (found.weights > 0).all()
