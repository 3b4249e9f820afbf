"""What a player of a batch is shown: the same where it cannot know a difference, another where it observed one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import chess
import numpy as np
import pytest
from chess import Color
from hypothesis import given
from hypothesis import strategies as st

from gm_env import HEADER_ROWS, INFORMATION_HEADER, OVER, PASS, SENSE_PASS, BatchedRbc, action_of, sense_of
from gm_recon import History, ReconGame
from tests.env.beside import FENS
from tests.env.twins import Act, Twins, observed_by, twins

pytestmark = pytest.mark.slow

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
def test_planted_leak_is_found(leak: str) -> None:
    def leaking(batch: BatchedRbc, game: int, viewer: Color) -> object:
        return shown(batch, game, viewer), LEAKS[leak](batch, game, viewer)

    assert any(first_difference(drawn(seed), leaking) is not None for seed in range(60))


# --- Information states are equal exactly where the player observed the same ------------------------------------


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


@given(st.integers(0, 2**32))
def test_information_is_equal_exactly_where_the_player_was_told_the_same(seed: int) -> None:
    viewer, histories = variants(seed)
    batch = BatchedRbc.from_histories(histories, fens=histories[0].start_fen)
    strings = [batch.information_string(game, viewer) for game in range(batch.n)]
    states = batch.information_states(viewer).copy()
    for one, other in combinations(range(batch.n), 2):
        is_same = observed_by(histories[one], viewer) == observed_by(histories[other], viewer)
        assert (strings[one] == strings[other]) == is_same, (strings[one], strings[other])
        assert bool((states[one] == states[other]).all()) == is_same, (strings[one], strings[other])


def information(batch: BatchedRbc, color: Color) -> tuple[str, bytes]:
    return batch.information_string(0, color), batch.information_states(color)[0].tobytes()


def test_information_of_both_players_other_starts_and_other_rules_differs() -> None:
    batches = [
        BatchedRbc(1),
        BatchedRbc(1, reversible_moves=50),
        BatchedRbc(1, reversible_moves=None),
        BatchedRbc(1, max_turns=100, recall=256),
        BatchedRbc(1, fens=FENS[1]),
    ]
    found = [information(batch, color) for batch in batches for color in chess.COLORS]
    assert len({text for text, _ in found}) == len({state for _, state in found}) == 10


#: Start positions that differ in one thing each.
STARTS = [
    "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 2",
    "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq - 0 2",
    "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq - 1 2",
    "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq - 0 3",
    "r3k2r/8/8/3pP3/8/8/8/R3K2R b KQkq - 0 2",
    *(f"r3k2r/8/8/3pP3/8/8/8/R3K2R w {rights} - 0 2" for rights in ("Qkq", "Kkq", "KQq", "KQk", "-")),
    "r3k2r/8/8/3pP3/8/8/8/R3K1R1 w Qkq - 0 2",
    "1r2k2r/8/8/3pP3/8/8/8/R3K2R w KQk - 0 2",
    "r3k2r/8/8/3pP3/8/8/8/1N2K2R w Kkq - 0 2",
]


@pytest.mark.parametrize("plies", [0, 1, 2, 3])
def test_information_of_other_start_positions_differs_in_every_turn(plies: int) -> None:
    batch = BatchedRbc(len(STARTS), fens=STARTS)
    for _ in range(plies):
        batch.sense(np.full(batch.n, SENSE_PASS))
        batch.move(np.full(batch.n, PASS))
    for color in chess.COLORS:
        states = batch.information_states(color)
        assert len({state.tobytes() for state in states}) == len(STARTS)
        assert len({batch.information_string(game, color) for game in range(batch.n)}) == len(STARTS)


def test_information_says_whose_turn_it_is_and_for_what() -> None:
    batch, found = BatchedRbc(1, max_turns=2), []
    for _ in range(4):
        found += [information(batch, color) for color in chess.COLORS]
        batch.sense(np.array([SENSE_PASS]))
        found += [information(batch, bool(batch.colors[0]))]
        batch.move(np.array([PASS]))
    found += [information(batch, color) for color in chess.COLORS]
    assert len({text for text, _ in found}) == len({state for _, state in found}) == len(found)


def test_header_has_the_start_position_as_the_player_sees_it() -> None:
    batch = BatchedRbc(1, fens="r3k3/8/8/8/3pP3/8/8/4K2R b Kq e3 4 9", max_turns=50)
    for color in chess.COLORS:
        board = batch.board(0) if color else batch.board(0).mirror()
        header = batch.information_states(color)[0, :HEADER_ROWS]
        for square in chess.SQUARES:
            piece = board.piece_at(square)
            expected = 0 if piece is None else piece.piece_type + (0 if piece.color else 6)
            assert header[square >> 3, square & 7] == expected
        rights = [0, 1, 1, 0] if color else [1, 0, 0, 1]
        passed = chess.E3 if color else chess.E6
        first = 0 if color else 1
        numbers = [int(color), 1 - color, 0, 0, 0, first, *rights, passed, 4, 9, 100, 50]
        assert len(numbers) == len(INFORMATION_HEADER)
        assert header[:, 8:].ravel().tolist() == numbers + [-1] * (48 - len(numbers))


def test_header_has_the_progress_and_the_end() -> None:
    batch = BatchedRbc(1, fens="k7/1P6/8/8/8/8/8/K7 w - - 0 1")

    def progress(color: Color) -> list[int]:
        found: list[int] = batch.information_states(color)[0, 0, 8:13].tolist()
        return found

    assert [progress(color) for color in chess.COLORS] == [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]
    batch.sense(np.array([SENSE_PASS]))
    assert [progress(color) for color in chess.COLORS] == [[1, 2, 0, 0, 0], [0, 0, 0, 0, 0]]
    batch.move(np.array([action_of(chess.Move.from_uci("b7a8q"), chess.WHITE)]))
    assert [progress(color) for color in chess.COLORS] == [[1, 3, 1, 1, 1], [0, 3, 1, -1, 1]]


@pytest.mark.parametrize("max_turns", [1, 3])
def test_no_turn_falls_out_of_a_game_with_a_turn_limit(max_turns: int) -> None:
    batch = BatchedRbc(1, max_turns=max_turns, autoreset=False)
    assert batch.recall == max_turns + 1
    for ply in range(2 * max_turns):
        batch.sense(np.array([10 + ply]))
        batch.move(np.array([PASS]))
    assert batch.phases[0] == OVER
    for color, first in ((chess.WHITE, 10), (chess.BLACK, 11)):
        senses = batch.information_states(color)[0, HEADER_ROWS:, 1].tolist()
        assert senses == [*range(first, 10 + 2 * max_turns, 2), -1]


def test_information_state_keeps_the_latest_turns() -> None:
    long, short = (BatchedRbc(2, 3, recall=rows) for rows in (40, 5))
    for _ in range(30):
        for batch in (long, short):
            batch.sense(batch.sample_senses())
            batch.move(batch.sample_moves())
    assert short.information_states(chess.WHITE).shape == (2, HEADER_ROWS + 5, 14)
    for color in chess.COLORS:
        for game in range(2):
            header, rows = np.split(long.information_states(color)[game], [HEADER_ROWS])
            count = (long.plies[game] + (color == long.colors[game]) + (1 if color else 0)) // 2
            kept = rows[max(0, count - 5) : count]
            state = short.information_states(color)[game]
            assert (state[:HEADER_ROWS] == header).all()
            assert (state[HEADER_ROWS : HEADER_ROWS + len(kept)] == kept).all()
