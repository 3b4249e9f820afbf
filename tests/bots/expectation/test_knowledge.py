"""The player knows every possible position, and keeps a guess for a game in which these were too many."""

from __future__ import annotations

import random
import subprocess
import sys

import chess
import pytest
from chess import Board, Move

from gm_bots.expectation import knowledge
from gm_bots.expectation.knowledge import Knowledge, most_kept
from gm_recon import ReconGame
from gm_recon.position_sets import PythonPositions
from gm_recon.possible import SENSE_SQUARES
from tests.bots.expectation.asked import Even
from tests.tools import require_module

#: Black to move, its rook can attack the king on e1 from e8 alone; White has no piece but the king.
ROOK = "r6k/8/8/8/8/8/8/4K3 b - - 0 1"


def known(fen: str = chess.STARTING_FEN, color: chess.Color = chess.WHITE, most: int = 10_000) -> Knowledge:
    return Knowledge(color, fen, random.Random(1), most, Even())


def test_sample_has_all_positions_where_there_are_few() -> None:
    mine = known(color=chess.BLACK)
    mine.opponent_moved(None)
    assert len(mine.sample(100)) == len(mine) == 21  # White has 20 moves, and a pass


def test_dangers_are_searched_with_their_true_probability() -> None:
    """The rook attacks the king from one of its squares: that is in every sample of some positions."""
    mine = known(ROOK)
    mine.opponent_moved(None)
    mine.weigh(1, 0)
    everything = mine.sample(100)
    true = sum(share for board, share in everything if board.is_check())
    assert 0 < true < 0.5
    assert not everything[0][0].is_check(), "a search that time cuts short sees a fair part"
    for count in (2, 3, 4, 4, 4, 4):
        some = mine.sample(count)
        assert len(some) == count < len(everything)
        assert sum(share for _, share in some) == pytest.approx(1)
        assert sum(share for board, share in some if board.is_check()) == pytest.approx(true)
    assert not mine.sample(1)[0][0].is_check()


def test_sense_rules_positions_out() -> None:
    mine = known(ROOK)
    mine.opponent_moved(None)
    before = [board for board, _ in mine.sample(100)]
    cells = [(square, None) for square in (chess.D8, chess.E8, chess.F8)]
    mine.saw(cells)
    left = {board.fen() for board in before if not any(board.piece_at(square) for square, _ in cells)}
    assert 0 < len(left) < len(before)
    assert {board.fen() for board, _ in mine.sample(100)} == left


def test_bits_are_those_of_squares_with_a_whole_window() -> None:
    mine = known(color=chess.BLACK)
    mine.opponent_moved(None)
    bits = mine.bits(list(chess.SQUARES))
    assert list(bits) == SENSE_SQUARES
    assert bits[chess.E7] == 0 < bits[chess.E3] < 5
    assert list(mine.bits([chess.A1])) == [chess.A1]


def test_guess_stands_in_when_no_position_is_left() -> None:
    """With room for few positions the true one is soon dropped, among two players that move at random."""
    game, rng = ReconGame(), random.Random(3)
    mine = known(most=2)
    while not game.is_over():
        if game.turn == chess.WHITE:
            if game.ply:
                mine.opponent_moved(game.opponent_capture)
            mine.saw(game.sense(rng.choice(SENSE_SQUARES)))
            if not len(mine):
                break
        else:
            game.sense(None)
        move = game.move(rng.choice(game.move_actions()))
        if game.turn == chess.BLACK and not game.is_over():  # it was White's
            mine.moved(*move)
    assert len(mine) == 0
    assert mine.bits([chess.C3]) == {chess.C3: 0.0}
    for board, _ in mine.sample(10):
        assert board.is_valid()
        assert board.occupied_co[chess.WHITE] == game.board.own_board(chess.WHITE).occupied


def test_fewer_positions_are_kept_on_a_short_clock_and_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "backend", lambda: PythonPositions)
    assert (most_kept(None), most_kept(900), most_kept(60), most_kept(1)) == (50_000, 45_000, 3_000, 1_000)


@pytest.mark.parametrize(("most", "turns"), [(3, 5), (10_000, 3)], ids=["hardly any", "thousands"])
def test_probabilities_of_a_sample_are_all_there_is(most: int, turns: int) -> None:
    """Where hardly any are kept, those that are not kept lack in it."""
    mine, rng, least = known(most=most), random.Random(5), 0.5 if most == 3 else 1 - 1e-9
    game = ReconGame()
    for _ in range(turns):
        game.sense(None)
        mine.moved(*game.move(rng.choice(game.move_actions())))
        game.sense(None)
        game.move(rng.choice(game.move_actions()))
        mine.opponent_moved(game.opponent_capture)
        mine.weigh(100, 0)
        for count in (30, 10_000):
            shares = [share for _, share in mine.sample(count)]
            assert min(shares) >= 0
            assert least <= sum(shares) <= 1 + 1e-9
        mine.saw([])


def test_nothing_is_compiled_while_a_game_is_played() -> None:
    """In a process of its own: in this one, other tests have compiled it."""
    require_module("numba")
    program = """
import random
from chess import BLACK, STARTING_FEN
from gm_bots.expectation.knowledge import Knowledge, prepare
from gm_env.kernels.jit import KERNELS
from gm_recon import ReconGame
from tests.bots.expectation.asked import Even

def compiled(): return {kernel.name for kernel in KERNELS if "_compiled" in vars(kernel)}

prepare(Even())
before, rng, game = compiled(), random.Random(3), ReconGame()
mine = Knowledge(BLACK, STARTING_FEN, rng, 1_000, Even())
while not game.is_over() and game.ply < 60:
    squares, moves = game.sense_actions(), game.move_actions()
    if game.turn == BLACK:
        mine.opponent_moved(game.opponent_capture)
        mine.weigh(10, 0)
        mine.sample(10)
        square = max(mine.bits(squares).items(), key=lambda each: each[1])[0]
        mine.saw(game.sense(square))
        mine.moved(*game.move(rng.choice(moves)))
    else:
        game.sense(None)
        game.move(rng.choice(moves))
assert before
print(*(compiled() - before))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_own_moves_are_kept_up() -> None:
    mine = known()
    mine.saw([])
    move = Move.from_uci("e2e4")
    mine.moved(move, move, None)
    mine.opponent_moved(None)
    assert all(board.piece_at(chess.E4) == chess.Piece(chess.PAWN, chess.WHITE) for board, _ in mine.sample(5))
    guessed = mine.guess.legal_board()
    assert guessed is not None
    assert guessed.occupied_co[chess.WHITE] == Board("8/8/8/8/4P3/8/PPPP1PPP/RNBQKBNR w - - 0 1").occupied


def test_half_move_clock_counts_from_captures_and_own_pawn_moves() -> None:
    mine = known()
    clocks = []
    for uci in ("g1f3", "b1c3", "e2e4", "f1c4"):
        move = Move.from_uci(uci)
        mine.moved(move, move, None)
        mine.opponent_moved(None)
        clocks.append(mine.sample(1)[0][0].halfmove_clock)
    assert clocks == [2, 4, 1, 3]
