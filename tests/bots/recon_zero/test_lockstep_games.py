"""Games in step are whole games of the player against itself, with its decisions."""

from __future__ import annotations

import chess
import numpy as np
import pytest

pytest.importorskip("numba", reason="needs numba: pip install 'grandmasterd[env]'")
pytest.importorskip("torch", reason="needs PyTorch: pip install 'grandmasterd[train]'")

from gm_bots.recon_zero.lockstep.games import Games, play_together
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.lockstep.seats import Side
from gm_bots.recon_zero.player import Settings
from gm_bots.recon_zero.replay import Sample
from gm_env.kernels.layout import CASTLING, COLOR, FULLMOVES, NUMBERS, OPPONENT, STATE
from tests.bots.recon_zero.plain_encoding import move_of

pytestmark = pytest.mark.slow

SETTINGS = Settings(determinisations=3, simulations=12, exploring=6, alarm=8)


def seeds(count: int) -> list[str]:
    return [f"game {number}" for number in range(count)]


def test_every_search_has_all_its_simulations() -> None:
    """There are as many trees as positions, at most three; at the very beginning there is only one position."""
    games = play_together(count_material, SETTINGS, seeds(4), 40)
    totals = {sum(sample.visits.values()) for game in games for sample in game}
    assert totals <= {12, 24, 36}
    assert {sum(game[0].visits.values()) for game in games} == {12}


def test_moves_that_were_visited_start_from_own_pieces() -> None:
    for game in play_together(count_material, SETTINGS, seeds(4), 40):
        for sample in game:
            own = sample.planes[:6].sum(axis=0).ravel()
            moves = [move_of(number) for number in sample.visits if number]
            assert all(own[move.from_square] and move.from_square != move.to_square for move in moves)


def test_positions_follow_from_each_other() -> None:
    """White's pieces in Black's samples are White's own after its move: at most one of them has moved."""
    for game in play_together(count_material, SETTINGS, seeds(3), 30):
        white = [sample.planes for sample in game[: (len(game) + 1) // 2]]
        black = [sample.planes for sample in game[(len(game) + 1) // 2 :]]
        for before, after in zip(white, black, strict=False):
            seen = after[6:12, ::-1]
            assert np.abs(before[:6] - seen).sum() <= 4, "a castling moves two pieces"


@pytest.mark.parametrize("turns", [2, 5, 9])
def test_nothing_hidden_reaches_what_a_player_examines(turns: int) -> None:
    """The opponent's pieces, its rights, the clocks of draws and all else in the batch may be anything."""
    side = Side(count_material, SETTINGS)
    games = Games([dict.fromkeys(chess.COLORS, side)] * 3, seeds(3), 60)
    for _ in range(turns):
        games.take_turns()
    states, numbers = games._batch.privileged_rows
    rng = np.random.default_rng(turns)
    for game in games.playing:
        seat = games._seat(game)
        other, changed = rng.integers(0, 2**63, STATE, np.uint64), rng.integers(-1, 60, NUMBERS, np.int32)
        other[:OPPONENT] = states[game, :OPPONENT]
        other[CASTLING] = states[game, CASTLING] & 0xFF | other[CASTLING] & ~np.uint64(0xFF)
        changed[[COLOR, FULLMOVES]] = numbers[game, [COLOR, FULLMOVES]]
        told, same = seat.examine(states[game], numbers[game]), seat.examine(other, changed)
        for name, array in vars(told).items():
            np.testing.assert_array_equal(array, getattr(same, name), name)


def test_games_end_when_a_king_is_taken_or_after_so_many_plies() -> None:
    lengths = [len(game) for game in play_together(count_material, SETTINGS, seeds(8), 200)]
    assert min(lengths) < 200
    assert [len(game) for game in play_together(count_material, SETTINGS, seeds(3), 5)] == [5] * 3


def test_same_seed_makes_the_same_game_whatever_is_played_beside_it() -> None:
    together = play_together(count_material, SETTINGS, seeds(4), 30)
    alone = [play_together(count_material, SETTINGS, [seed], 30)[0] for seed in seeds(4)]
    assert [[described(sample) for sample in game] for game in together] == [
        [described(sample) for sample in game] for game in alone
    ]
    assert described(together[0][4]) != described(together[1][4])


def described(sample: Sample) -> tuple[bytes, dict[int, int], float]:
    return sample.planes.tobytes(), sample.visits, sample.searched
