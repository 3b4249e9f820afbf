"""Games played in this process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from gm_bots.recon_zero.lockstep.judging import Judge, count_material
from tests.bots.recon_zero.learning import needs_torch

pytestmark = needs_torch


@pytest.fixture
def two_threads() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_games_are_played_in_order_with_the_given_network(two_threads: None) -> None:
    import torch

    from gm_bots.recon_zero.lockstep.network_judge import NetworkJudge
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.pool import InProcess

    begun: list[int] = []

    def play(judge: Judge, *, number: int) -> Judge:
        begun.append(number)
        assert torch.get_num_threads() == 1
        return judge

    games, over = [partial(play, number=number) for number in range(3)], []
    assert list(InProcess().play(games, None, lambda: over.append(len(begun)))) == [count_material] * 3
    assert (begun, over) == ([0, 1, 2], [1, 2, 3])
    network = Network(NetworkSettings(channels=4, layers=1))
    assert {type(each) for each in InProcess().play(games, network, lambda: None)} == {NetworkJudge}
    assert torch.get_num_threads() == 2
