"""``gm_env.Beliefs``: equal to brute force in short games, and never without the truth in long ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import chess
import numpy as np
import pytest
from chess import Board, Color, Move

from gm_env import OVER, BatchedRbc, Beliefs, action_of, sense_of
from gm_env.belief import Belief
from gm_recon import Cell, ReconGame
from gm_recon.belief import PIECES
from tests.env.beside import FENS
from tests.env.test_information import drawn
from tests.proofs import cases, in_processes

pytestmark = pytest.mark.slow

#: Few pieces, with a pawn about to be promoted, one that may be taken en passant, and castling.
SMALL = "r3k3/2p4P/8/1P6/8/8/8/4K2R w Kq - 0 1"


def placed(board: Board) -> str:
    """Return what tells positions apart for the player to move next, or its opponent."""
    copy = board.copy(stack=False)
    if copy.ep_square is not None and not any(copy.generate_pseudo_legal_ep()):
        copy.ep_square = None
    return " ".join(copy.fen(en_passant="fen").split()[:4])


class Shown(NamedTuple):
    """What a turn shows to the player who takes it: its sense, and the move made with its capture."""

    cells: list[Cell]
    decision: tuple[Move | None, Move | None, int | None]


def pushed(board: Board, act: tuple[int | None, Move | None]) -> tuple[Shown, Board] | None:
    """Return what a turn shows, and the position after it; None if it ends the game."""
    game = ReconGame(board.fen(en_passant="fen"), reversible_moves=None)
    cells = game.sense(act[0])
    decision = game.move(act[1])
    return None if game.is_over() else (Shown(cells, decision), game.board.as_chess())


def by_hand(fen: str, acts: list[tuple[int | None, Move | None]], color: Color) -> Iterator[set[str]]:
    """Yield the possible positions of a player after each turn: all games of its opponent's that fit are played."""
    truth, boards = Board(fen), {placed(Board(fen)): Board(fen)}
    for act in acts:
        shown = pushed(truth, act)
        if shown is None:
            return
        found: dict[str, Board] = {}
        for board in boards.values():
            moves = [act[1]] if truth.turn == color else [None, *ReconGame(board.fen(en_passant="fen")).move_actions()]
            for move in moves:
                after = pushed(board, (act[0] if truth.turn == color else None, move))
                if after is None:
                    continue
                seen, wanted = after[0], shown[0]
                if seen == wanted or (truth.turn != color and seen.decision[2] == wanted.decision[2]):
                    found[placed(after[1])] = after[1]
        boards, truth = found, shown[1]
        yield set(boards)


def acts_at_random(seed: int, fen: str, turns: int) -> list[tuple[int | None, Move | None]]:
    rng, game = random.Random(seed), ReconGame(fen)
    acts: list[tuple[int | None, Move | None]] = []
    while len(acts) < turns and not game.is_over():
        acts.append((rng.choice([None, *chess.SQUARES]), rng.choice([None, *game.move_actions()])))
        game.sense(acts[-1][0])
        game.move(acts[-1][1])
    return acts


def play(batch: BatchedRbc, act: tuple[int | None, Move | None]) -> None:
    color = bool(batch.colors[0])
    batch.sense(np.full(batch.n, sense_of(act[0], color)))
    batch.move(np.full(batch.n, action_of(act[1], color)))


@pytest.mark.parametrize("color", chess.COLORS)
@pytest.mark.parametrize(("fen", "turns"), [(chess.STARTING_FEN, 3), (SMALL, 4), (FENS[0], 3)])
@pytest.mark.parametrize("seed", range(2))
def test_belief_equals_brute_force_in_short_games(seed: int, fen: str, turns: int, color: Color) -> None:
    acts = acts_at_random(seed, fen, turns)
    batch = BatchedRbc(1, fens=fen)
    belief = Beliefs(batch).of(0, color)
    compared = 0
    for act, expected in zip(acts, by_hand(fen, acts, color), strict=False):
        play(batch, act)
        assert belief.exact
        assert {placed(board) for board in belief.sample(10**6)} == expected
        assert belief.count() == len(expected)
        compared += 1
    assert compared


def test_marginals_and_weights_are_of_the_positions() -> None:
    batch = BatchedRbc(1)
    belief = Beliefs(batch).of(0, chess.BLACK)
    play(batch, (None, Move.from_uci("e2e4")))
    boards = belief.sample(100)
    assert belief.count() == len(boards) == 21
    assert belief.weights.tolist() == [1 / 21] * 21
    marginals = belief.marginals()
    assert (marginals.shape, marginals.dtype) == ((12, 64), np.float64)
    for piece, row in zip(PIECES, marginals, strict=True):
        shares = [sum(board.piece_at(square) == piece for board in boards) / 21 for square in chess.SQUARES]
        assert row.tolist() == pytest.approx(shares)


def test_same_seed_gives_the_same_particles_and_samples() -> None:
    def answers(seed: int) -> object:
        batch = BatchedRbc(2)
        beliefs = Beliefs(batch, cap=8, seed=seed)
        play(batch, (None, None))
        found = []
        for game in range(2):
            belief = beliefs.of(game, chess.BLACK)
            assert (belief.count(), belief.exact) == (8, False)
            found.append([board.fen() for board in belief.sample(3)])
        return found

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)


def test_sense_brings_back_what_the_cap_left_out() -> None:
    batch = BatchedRbc(1)
    belief = Beliefs(batch, cap=8).of(0, chess.BLACK)
    play(batch, (None, Move.from_uci("e2e4")))
    assert not belief.exact
    batch.sense(np.array([sense_of(chess.E3, chess.BLACK)]))
    assert (belief.exact, belief.count()) == (True, 1)
    assert batch.board(0) in belief


def test_belief_begins_anew_with_its_game() -> None:
    batch = BatchedRbc(1, fens="4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1")
    beliefs = Beliefs(batch)
    batch.sense(np.array([64]))
    before = [beliefs.of(0, color).count() for color in chess.COLORS]
    batch.move(np.array([action_of(Move.from_uci("e2e8"), chess.WHITE)]))
    assert batch.phases[0] == OVER
    assert [beliefs.of(0, color).count() for color in chess.COLORS] == before, "a king's capture is left out"
    for step in (batch.sense, batch.move):
        step(np.zeros(1, np.int64))
    play(batch, (None, None))
    assert beliefs.of(0, chess.WHITE).count() == 1
    assert beliefs.of(0, chess.BLACK).count() > 5


def test_loaded_game_has_the_belief_of_the_one_that_was_played() -> None:
    batch, other = BatchedRbc(1), BatchedRbc(1)
    belief, loaded = Beliefs(batch).of(0, chess.WHITE), Beliefs(other).of(0, chess.WHITE)
    play(other, (None, Move.from_uci("a2a4")))
    assert loaded.count() == 1
    for act in acts_at_random(3, chess.STARTING_FEN, 3):
        play(batch, act)
    other.load(0, batch.history(0))
    assert {placed(board) for board in loaded.sample(10**6)} == {placed(board) for board in belief.sample(10**6)}
    assert loaded.count() == belief.count() > 1


def same_beliefs(seed: int) -> bool:
    """Return whether a player has the same belief, turn by turn, in two games that it cannot tell apart."""
    pair = drawn(seed)
    answers = []
    for game in range(2):
        one = BatchedRbc(1, fens=pair.fen)
        belief = Beliefs(one, cap=200).of(0, pair.viewer)
        found = []
        for act in pair.acts[game]:
            play(one, act)
            found.append((belief.count(), belief.exact, belief.marginals().tobytes(), str(belief.sample(2))))
        answers.append(found)
    return answers[0] == answers[1]


@pytest.mark.parametrize("seed", range(12))
def test_games_that_a_player_cannot_tell_apart_have_the_same_belief(seed: int) -> None:
    assert same_beliefs(seed)


def test_belief_that_knows_more_than_the_player_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    all_observed = Belief._all_observed

    def with_the_centre(self: Belief) -> Any:
        """Return what the player observed, and the true pieces around d4."""
        board, cells = self._batch.board(self._game), []
        for square in (chess.square(file, rank) for rank in (2, 3, 4) for file in (2, 3, 4)):
            piece = board.piece_at(square if self._color else square ^ 56)
            cells.append(0 if piece is None else piece.piece_type + 6 * (piece.color != self._color))
        return [*all_observed(self), ("s", [chess.D4, *cells])]

    monkeypatch.setattr(Belief, "_all_observed", with_the_centre)
    assert not all(same_beliefs(seed) for seed in range(12))


def follow_long_game(seed: int) -> tuple[int, int]:
    """Play a game of random moves and informed senses; return the turns, and those in which a belief was exact.

    :raises AssertionError: an exact belief lacks the true position.
    """
    batch = BatchedRbc(1, seed=seed, autoreset=False)
    beliefs = Beliefs(batch, cap=100_000)
    exact = 0
    while batch.phases[0] != OVER and batch.plies[0] < 80:
        color = bool(batch.colors[0])
        belief = beliefs.of(0, color)
        batch.sense(np.array([sense_of(belief.best_sense(), color)]))
        exact += belief.exact
        assert not belief.exact or batch.board(0) in belief
        batch.move(batch.sample_moves())
    return int(batch.plies[0]), exact


def test_belief_contains_the_truth_in_long_games() -> None:
    games = cases(1)
    played = list(in_processes(follow_long_game, [(seed,) for seed in range(games)]))
    turns, exact = (sum(each) for each in zip(*played, strict=True))
    assert exact > 0.97 * turns
    print(f"{games} games, {turns} turns, in {exact} of which the belief was exact")


def test_samples_do_not_decide_which_positions_are_kept() -> None:
    def kept(asks: bool) -> bytes:
        batch = BatchedRbc(1, seed=1)
        belief = Beliefs(batch, cap=50, seed=3).of(0, chess.WHITE)
        for _ in range(7):
            belief.count()
            if asks:
                belief.sample(2)
                belief.best_sense()
            batch.sense(np.full(1, 28))
            batch.move(batch.sample_moves())
        assert not belief.exact
        return belief.marginals().tobytes()

    assert kept(False) == kept(True)


def test_bad_arguments_of_beliefs_are_named() -> None:
    batch = BatchedRbc(1)
    with pytest.raises(ValueError, match="seed: -1 is not from 0"):
        Beliefs(batch, seed=-1)
    with pytest.raises(ValueError, match="cap: 0"):
        Beliefs(batch, cap=0)
    with pytest.raises(IndexError, match="no game 1"):
        Beliefs(batch).of(1, chess.WHITE)
    with pytest.raises(TypeError, match=r"cap: 2\.5 is not an integer"):
        Beliefs(batch, cap=2.5)  # type: ignore[arg-type]
    belief = Beliefs(batch).of(0, chess.WHITE)
    with pytest.raises(ValueError, match="k: -1 is less than 0"):
        belief.sample(-1)
