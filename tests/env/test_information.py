"""What a player of a batch is shown: the same where it cannot know a difference, another where it was told one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import chess
import numpy as np
import pytest
from chess import Color
from hypothesis import given, settings
from hypothesis import strategies as st

from gm_env import OVER, BatchedRbc, action_of, sense_of
from gm_recon import History, ReconGame
from tests.env.beside import FENS
from tests.env.twins import Act, Twins, told, twins
from tests.helpers_proof import proof_size

Show = Callable[[BatchedRbc, int, Color], object]


def shown(batch: BatchedRbc, game: int, viewer: Color) -> object:
    """Return all that a batch shows to a player of a game after a call."""
    always = [
        batch.observations(viewer)[game],
        batch.information_states(viewer)[game],
        batch.rewards[game],
        batch.ended[game],
        batch.reasons[game],
        batch.winners[game],
        batch.phases[game],
        batch.plies[game],
        batch.episodes[game],
    ]
    own = [batch.legal[game], batch.masks()[game], batch.windows[game], batch.lost[game]]
    is_turn = batch.colors[game] == viewer
    after_move = [] if is_turn or not batch.plies[game] else [batch.results[game]]
    arrays = always + (own if is_turn else after_move)
    return [np.asarray(array).tobytes() for array in arrays], batch.information_string(game, viewer)


def first_difference(pair: Twins, show: Show) -> int | None:
    """Step both games in one batch; return the ply after which they look different to the player; None if never."""
    batch = BatchedRbc(2, fens=pair.fen)
    for ply, acts in enumerate(zip(*pair.acts, strict=True)):
        color = bool(batch.colors[0])
        batch.sense(np.array([sense_of(act[0], color) for act in acts]))
        if show(batch, 0, pair.viewer) != show(batch, 1, pair.viewer):
            return ply
        batch.move(np.array([action_of(act[1], color) for act in acts]))
        if show(batch, 0, pair.viewer) != show(batch, 1, pair.viewer):
            return ply
    if batch.phases[0] == OVER:  # both begin anew at the same time
        for step in (batch.sense, batch.move):
            step(np.zeros(2, np.int64))
            if show(batch, 0, pair.viewer) != show(batch, 1, pair.viewer):
                return len(pair.acts[0])
    return None


def drawn(seed: int) -> Twins:
    rng = random.Random(seed)
    fen = chess.STARTING_FEN if rng.random() < 0.5 else rng.choice(FENS)
    return twins(rng, fen, rng.random() < 0.5, rng.choice([4, 12, 40]))


@pytest.mark.proof
@settings(max_examples=proof_size(60, 4_000))
@given(st.integers(0, 2**32))
def test_games_that_a_player_cannot_tell_apart_look_the_same(seed: int) -> None:
    assert first_difference(drawn(seed), shown) is None


def test_twins_differ_in_truth() -> None:
    pairs = [drawn(seed) for seed in range(60)]
    assert sum(pair.differ for pair in pairs) > 30
    assert sum(len(pair.acts[0]) for pair in pairs) > 400


LEAKS: dict[str, Show] = {
    "the true position": lambda batch, game, viewer: batch.privileged_state(viewer)[game].tobytes(),
    "the half-move clock": lambda batch, game, viewer: batch.board(game).halfmove_clock,
    "the opponent's moves listed": lambda batch, game, viewer: batch.legal[game].tobytes(),
    "the opponent's sense": lambda batch, game, viewer: batch.windows[game].tobytes(),
    "the opponent's move": lambda batch, game, viewer: batch.results[game].tobytes(),
    "the opponent's observation": lambda batch, game, viewer: batch.observations(not viewer)[game].tobytes(),
    "the opponent's information": lambda batch, game, viewer: batch.information_string(game, not viewer),
    "castling rights": lambda batch, game, viewer: batch.board(game).castling_rights,
    "the en passant square": lambda batch, game, viewer: batch.board(game).ep_square,
}


@pytest.mark.parametrize("leak", LEAKS)
def test_planted_leak_is_caught(leak: str) -> None:
    def leaking(batch: BatchedRbc, game: int, viewer: Color) -> object:
        return shown(batch, game, viewer), LEAKS[leak](batch, game, viewer)

    assert any(first_difference(drawn(seed), leaking) is not None for seed in range(60))


# --- Information states are equal exactly where the player was told the same ------------------------------------


def variants(seed: int) -> tuple[Color, list[History]]:
    """Return a player and histories that differ a little: twins, prefixes, other turns, unfinished senses."""
    rng, pair = random.Random(seed), drawn(seed)
    found: list[list[Act]] = [*pair.acts, pair.acts[0][:-1], pair.acts[0][:-2]]
    for _ in range(4):
        acts = [list(pair.acts[0]), list(pair.acts[1])][rng.random() < 0.5]
        if acts:
            ply = rng.randrange(len(acts))
            square, move = acts[ply]
            acts[ply] = (rng.choice([*chess.SQUARES, None]), move) if rng.random() < 0.5 else (square, None)
        found.append(acts)
    games = [replayed(pair.fen, acts) for acts in found]
    for game in [games[0].copy(), games[1].copy(), games[2].copy()]:
        if not game.is_over():
            game.sense(rng.choice([*chess.SQUARES, None]))
            games.append(game)
    for game in [games[0].copy(), games[2].copy()]:
        if not game.is_over():
            game.resign(rng.random() < 0.5)
            games.append(game)
    return pair.viewer, [game.history() for game in games]


def replayed(fen: str, acts: list[Act]) -> ReconGame:
    """Play turns, as many of them as are possible."""
    game = ReconGame(fen)
    for square, move in acts:
        if game.is_over() or (move is not None and move not in game.move_actions()):
            break
        game.sense(square)
        game.move(move)
    return game


@pytest.mark.proof
@settings(max_examples=proof_size(40, 3_000))
@given(st.integers(0, 2**32))
def test_information_is_equal_exactly_where_the_player_was_told_the_same(seed: int) -> None:
    viewer, histories = variants(seed)
    batch = BatchedRbc.from_histories(histories, fens=histories[0].start_fen)
    strings = [batch.information_string(game, viewer) for game in range(batch.n)]
    states = batch.information_states(viewer).copy()
    for one, other in combinations(range(batch.n), 2):
        is_same = told(histories[one], viewer) == told(histories[other], viewer)
        assert (strings[one] == strings[other]) == is_same, (strings[one], strings[other])
        if is_same:
            assert (states[one] == states[other]).all()
        elif not histories[one].win_reason and not histories[other].win_reason:
            # A turn of the opponent's that took nothing shows in no row, but in who is to move.
            rows_differ = bool((states[one] != states[other]).any())
            assert rows_differ or batch.plies[one] != batch.plies[other]


def test_strings_of_both_players_other_starts_and_other_rules_differ() -> None:
    batches = [
        BatchedRbc(1),
        BatchedRbc(1, reversible_moves=50),
        BatchedRbc(1, max_turns=100),
        BatchedRbc(1, fens=FENS[1]),
    ]
    strings = {batch.information_string(0, color) for batch in batches for color in chess.COLORS}
    assert len(strings) == 8


def test_information_state_keeps_the_latest_turns() -> None:
    long, short = (BatchedRbc(2, 3, recall=rows) for rows in (40, 5))
    for _ in range(30):
        for batch in (long, short):
            batch.sense(batch.sample_senses())
            batch.move(batch.sample_moves())
    assert short.information_states(chess.WHITE).shape == (2, 5, 14)
    for color in chess.COLORS:
        for game in range(2):
            rows = long.information_states(color)[game]
            count = (long.plies[game] + (color == long.colors[game]) + (1 if color else 0)) // 2
            kept = rows[max(0, count - 5) : count]
            assert (short.information_states(color)[game][: len(kept)] == kept).all()
