"""Games in step are whole games of the player against itself, with its decisions."""

from __future__ import annotations

import chess
import numpy as np
import pytest

pytest.importorskip("numba", reason="needs numba: .venv/bin/pip install -e '.[env]'")
pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")

from gm_bots.recon_zero.lockstep.games import Games, Side, play_together
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.replay import Sample
from gm_bots.recon_zero.thinker import Settings
from gm_env.kernels.layout import OPPONENT
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


def test_player_examines_its_own_pieces_with_the_true_position_among_others() -> None:
    """What it examines comes from what it was told; here it is the one that has just moved."""
    side = Side(count_material, SETTINGS)
    games = Games([dict.fromkeys(chess.COLORS, side)] * 4, seeds(4), 60)
    for _ in range(12):
        games.take_turns()
        for game in games.playing:
            # The truth is as the other player sees it.
            truth = [chess.flip_vertical(int(squares)) for squares in games._batch.privileged_rows[0][game]]
            own, theirs = truth[OPPONENT : 2 * OPPONENT], truth[:OPPONENT]
            found = games._seats[game][not games._batch.colors[game]].examine().states.tolist()
            assert all(row[:OPPONENT] == own for row in found)
            assert [*own, *theirs] in [row[: 2 * OPPONENT] for row in found]
    assert games.playing


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
