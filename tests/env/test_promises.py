"""What the environment promises, at a small size: reconchess's rules, and no more for a player than it observed.

The other modules of this folder prove it at length.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.env.test_exact import play_beside_local_game
from tests.env.test_information import drawn, first_difference, shown
from tests.proofs import cases


def test_random_games_equal_those_of_reconchess() -> None:
    for seed in range(cases(4)):
        play_beside_local_game(seed)


@given(st.integers(0, 2**32))
def test_games_that_a_player_cannot_tell_apart_look_the_same(seed: int) -> None:
    assert first_difference(drawn(seed), shown) is None
