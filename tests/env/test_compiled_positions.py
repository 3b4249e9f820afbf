"""``gm_env.CompiledPositions``: the same positions as those in Python, by every observation of whole games."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import chess
import numpy as np
import pytest
from chess import Board, Color, Move, Square

from gm_client.tracker import Tracker
from gm_env import CompiledPositions
from gm_env.kernels import expanding, sets
from gm_recon import ReconGame
from gm_recon.belief import marginals
from gm_recon.position_sets import Evidence, PositionSet, PythonPositions, finish
from gm_recon.possible import SENSE_SQUARES, PossiblePositions
from tests.clients.test_tracker import RARE, BruteForce, Key, key
from tests.proofs import cases, in_processes

pytestmark = pytest.mark.slow

FENS = [chess.STARTING_FEN, *RARE]

#: A move as requested and as made, and the square of its capture.
Decision = tuple[Move | None, Move | None, Square | None]


def pair(color: Color, fen: str = chess.STARTING_FEN, cap: int = 10**6) -> tuple[PossiblePositions, PossiblePositions]:
    """Return the positions of a player in Python, and compiled."""
    backends: tuple[type[PositionSet], ...] = (PythonPositions, CompiledPositions)
    one, other = (PossiblePositions(color, fen, cap=cap, rng=random.Random(1), backend=each) for each in backends)
    return one, other


def placed(positions: PossiblePositions) -> set[Key]:
    return {key(board) for board in positions}


def assert_same(python: PossiblePositions, compiled: PossiblePositions) -> None:
    """Compare all positions where they are few, and otherwise how often each piece is on each square."""
    assert len(compiled) == len(python)
    assert compiled.occupied() == python.occupied()
    if len(python) <= 300:
        assert placed(compiled) == placed(python)
    else:
        assert marginals(compiled) == marginals(python)


def assert_same_answers(python: PossiblePositions, compiled: PossiblePositions) -> None:
    assert marginals(compiled) == marginals(python)
    for square in chess.SQUARES:
        assert compiled.pieces_at(square) == python.pieces_at(square)
    if len(python) <= 1_000:
        assert compiled.best_sense() == python.best_sense()
        for square in (0, 27, 63):
            assert compiled.expected_after(square) == python.expected_after(square)


def follow(seed: int) -> int:
    """Follow a game of random moves by both; return the number of positions compared.

    :raises AssertionError: they differ, or the true position is not among them.
    """
    rng, fen, compared = random.Random(seed), FENS[seed % len(FENS)], 0
    game, players = ReconGame(fen), {color: pair(color, fen) for color in chess.COLORS}
    while not game.is_over() and game.ply < 60:
        python, compiled = players[game.turn]
        if game.ply:
            for each in (python, compiled):
                each.opponent_moved(game.opponent_capture)
            assert_same(python, compiled)
            compared += len(python)
        cells = game.sense(python.best_sense() if rng.random() < 0.9 else rng.choice(chess.SQUARES))
        for each in (python, compiled):
            each.saw(cells)
        assert_same(python, compiled)
        assert game.board.as_chess() in compiled
        if len(python) > 5_000:
            break
        assert_same_answers(python, compiled)
        decision = game.move(rng.choice([None, *game.move_actions()]))
        if not game.is_over():
            for each in (python, compiled):
                each.player_moved(*decision)
            assert_same(python, compiled)
    return compared


def test_compiled_positions_are_those_in_python_in_whole_games() -> None:
    games = cases(3)
    compared = sum(in_processes(follow, [(seed,) for seed in range(games)]))
    assert compared > 300 * games
    print(f"{games} games, {compared:,} positions after moves of opponents compared")


def short_games(color: Color, seed: int) -> Iterator[tuple[PossiblePositions, BruteForce, Board]]:
    """Play short games; yield the compiled positions, those by brute force and the true one after each step."""
    rng, fen = random.Random(f"{color} {seed}"), FENS[seed % len(FENS)]
    game, compiled, brute = ReconGame(fen), pair(color, fen)[1], BruteForce(color, fen)
    for _ in range(3 if fen == chess.STARTING_FEN else 6):
        square = rng.choice(SENSE_SQUARES)
        cells = game.sense(square)
        if game.turn == color:
            compiled.saw(cells)
            brute.saw(square, cells)
            yield compiled, brute, game.board.as_chess()
        mover, decision = game.turn, game.move(rng.choice([None, *game.move_actions()]))
        if game.is_over() or len(brute.boards) > 2_000:
            return
        for each in (compiled, brute):
            each.player_moved(*decision) if mover == color else each.opponent_moved(decision[2])
        yield compiled, brute, game.board.as_chess()


@pytest.mark.parametrize("color", chess.COLORS, ids=["black", "white"])
def test_compiled_positions_equal_brute_force_in_short_games(color: Color) -> None:
    compared = 0
    for seed in range(cases(9)):
        for compiled, brute, truth in short_games(color, seed):
            boards = list(compiled)
            assert {key(board) for board in boards} == brute.keys()
            assert len(boards) == len(compiled) == len(brute.boards)
            assert truth in compiled
            compared += 1
    assert compared > 20


def test_same_observations_give_the_same_order() -> None:
    def found(seed: int) -> list[Key]:
        compiled = PossiblePositions(chess.BLACK, cap=100, rng=random.Random(seed), backend=CompiledPositions)
        for _ in range(2):
            compiled.opponent_moved(None)
            compiled.player_moved(None, None, None)
        return [key(board) for board in compiled]

    assert found(3) == found(3)
    assert found(3) != found(4)


# The cap.


@pytest.mark.parametrize(("cap", "is_whole"), [(1, False), (20, False), (300, True), (5_000, True)])
def test_part_under_a_cap_belongs_to_the_whole_which_a_sense_brings_back(cap: int, is_whole: bool) -> None:
    whole, part = (pair(chess.BLACK, cap=each)[1] for each in (10**6, cap))
    for _ in range(3):
        for each in (whole, part):
            each.opponent_moved(None)
        assert len(part) <= cap < len(whole) or placed(part) == placed(whole)
        assert placed(part) <= placed(whole)
        for each in (whole, part):
            each.saw(ReconGame().board.window(chess.E2) + ReconGame().board.window(chess.B2))
        assert placed(part) <= placed(whole)
        assert part.complete <= (len(part) == len(whole))
        for each in (whole, part):
            each.player_moved(None, None, None)
    assert part.complete == is_whole
    assert 20 < len(whole) <= 300


def test_kept_positions_are_drawn_uniformly() -> None:
    """Each of the twenty-one positions after a first turn is kept equally often."""
    kept: Counter[Key] = Counter()
    for seed in range(2_000):
        compiled = PossiblePositions(chess.BLACK, cap=7, rng=random.Random(seed), backend=CompiledPositions)
        compiled.opponent_moved(None)
        assert (len(compiled), compiled.complete) == (7, False)
        kept.update(map(key, compiled))
    assert len(kept) == 21
    # 667 on average; the bounds are more than five standard deviations away
    assert all(550 < count < 790 for count in kept.values())


def test_lost_positions_continue_as_none() -> None:
    compiled = pair(chess.BLACK, cap=1)[1]
    compiled.opponent_moved(None)
    absent = next(square for square in (chess.E4, chess.D4) if not next(iter(compiled)).piece_at(square))
    compiled.player_moved(None, None, None)
    compiled.opponent_moved(None)
    pawn = chess.Piece(chess.PAWN, chess.WHITE)
    compiled.saw([(absent, pawn), (absent - 16, pawn), (chess.A3, pawn)])
    assert (len(compiled), compiled.lost, compiled.sample(3), compiled.pieces_at(absent)) == (0, True, [], {})
    assert compiled.best_sense() in SENSE_SQUARES
    compiled.player_moved(None, None, None)
    compiled.opponent_moved(None)
    assert compiled.lost


# The kernels.


def rows_at_random(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    return np.random.default_rng(1).integers(0, 4, (count, expanding.ROW), np.uint64)


@pytest.mark.parametrize("keys", [[0] * 4, [1] * 4, [2**63 + 1] * 4])
def test_equal_hashes_neither_lose_nor_merge_positions(keys: list[int]) -> None:
    """By these keys all rows, or many, have the same hash."""
    rows = rows_at_random(400)
    found, table = np.empty_like(rows), np.zeros(1_024, np.uint64)
    zero = np.uint64(0)
    count = sets.clear(rows, zero, zero, found, table, np.array(keys, np.uint64))
    assert list(map(tuple, found[:count])) == list(dict.fromkeys(map(tuple, rows)))
    assert 100 < count < 256 + 1


@pytest.mark.parametrize("seed", range(20))
def test_no_position_has_more_results_than_there_is_room_for(seed: int) -> None:
    """Queens have the most moves, pawns the most results of a move; nothing is in their way."""
    rng, board = random.Random(seed), Board(None)
    for square in rng.sample(chess.SQUARES, rng.randrange(1, 48)):
        board.set_piece_at(square, chess.Piece(rng.choice([1, 5, 5]) if square > 7 else 5, chess.WHITE))
    lanes = [int(board.pieces(each, chess.WHITE)) for each in chess.PIECE_TYPES]
    pawns, queens = lanes[0], lanes[4]
    rows, turn = np.array([[pawns | queens, 0, queens, 3]], np.uint64), np.zeros(expanding.TURN, np.uint64)
    found, table = np.empty((expanding.MOST_RESULTS, expanding.ROW), np.uint64), np.zeros(4_096, np.uint64)
    known = np.zeros((sets.EVIDENCE, sets.LANES), np.uint64)
    keys, last = np.array([1, 3, 5, 7], np.uint64), np.uint64(2**64 - 1)
    room = np.empty_like(found), np.empty((expanding.MOST_RESULTS, 2), np.uint64)
    arguments = (rows, 0, 1, turn, known, False, found, 0, table, keys, last, 10**6, *room)
    assert sets.expand(*arguments)[0] == 1, "there was no room"


@pytest.mark.parametrize("color", chess.COLORS)
def test_positions_come_out_as_they_went_in(color: Color) -> None:
    for fen in FENS:
        board = Board(fen)
        positions = PossiblePositions(not color, fen, rng=random.Random(0), backend=CompiledPositions)
        python = PossiblePositions(not color, fen, rng=random.Random(0))
        assert [each.fen() for each in positions] == [each.fen() for each in python]
        assert board in positions


def test_empty_observation_changes_nothing() -> None:
    positions = CompiledPositions.gathered(chess.WHITE, [2**65 | 2])
    assert finish(positions.fitting_steps(Evidence())) is positions
    assert finish(positions.without_steps(1 << 7)) is positions


def test_tracker_follows_replies_with_compiled_positions() -> None:
    state = {"turn": "black", "start_fen": chess.STARTING_FEN, "ply_index": 1, "opponent_capture": None}
    tracker = Tracker.of(state, backend=CompiledPositions)  # type: ignore[arg-type]
    tracker.begin(state)  # type: ignore[arg-type]
    assert len(tracker) == 21
