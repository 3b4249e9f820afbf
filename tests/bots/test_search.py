"""The search finds what plain minimax finds, mates by the shortest way, and ends on request."""

from __future__ import annotations

from dataclasses import replace

import chess
import pytest

from gm_bots.minimax.engine import Limit, Options, Result, search
from gm_bots.minimax.features import ALL, Features
from gm_bots.minimax.scores import MATE
from tests.bots.plain import minimax
from tests.bots.plain_mates import is_mate_in
from tests.bots.positions import PERFT, mates, random_boards, short
from tests.proofs import cases, in_processes

#: Ways to search that visit other nodes and must find the same score.
WAYS = {
    "all": ALL,
    "minimax": replace(ALL, alpha_beta=False, table=False),
    "no table": replace(ALL, table=False),
    "no hash move": replace(ALL, hash_move=False),
    "captures last": replace(ALL, captures_first=False),
    "no killers": replace(ALL, killers=False),
    "no history": replace(ALL, history=False),
    "bare alpha-beta": Features(True, False, False, False, False, False),
}


def depth(plies: int, fen: str | chess.Board = chess.STARTING_FEN, options: Options | None = None) -> Result:
    board = chess.Board(fen) if isinstance(fen, str) else fen
    return search(board, Limit(depth=plies), options)


def compare(fen: str, plies: int) -> None:
    """Compare a position, at all depths up to one, in all ways, with plain minimax; another process may run this."""
    for until in range(1, plies + 1):
        expected = minimax(chess.Board(fen), until)
        for name, features in WAYS.items():
            assert depth(until, fen, Options(features=features)).score == expected, (fen, until, name)


def test_score_equals_plain_minimax_in_every_way_of_searching() -> None:
    """The depth is two plies, in positions with few enough lines for plain minimax to end."""
    for fen in short()[: cases(5)]:
        compare(fen, 2)


@pytest.mark.nightly
def test_score_equals_plain_minimax_three_plies_deep() -> None:
    jobs = [(fen, 3) for fen in short()]
    assert len(list(in_processes(compare, jobs))) == len(jobs)


def test_score_equals_plain_minimax_in_any_position() -> None:
    """The depth is one ply; captures at its end go on as far as they do."""
    for board in random_boards(cases(4), seed=3):
        compare(board.fen(), 1)


@pytest.mark.slow
def test_all_ways_agree_deeper_than_plain_minimax_gets() -> None:
    for board in random_boards(cases(3), seed=4):
        results = {name: depth(3, board, Options(features=way)) for name, way in WAYS.items() if name != "minimax"}
        assert len({result.score for result in results.values()}) == 1, board.fen()


@pytest.mark.slow
def test_each_omitted_feature_costs_nodes() -> None:
    boards = random_boards(5, seed=9)
    nodes = {
        name: sum(depth(3, board, Options(features=WAYS[name])).nodes for board in boards)
        for name in ("all", "no table", "no hash move", "captures last", "bare alpha-beta")
    }
    assert nodes["all"] < min(nodes["no table"], nodes["no hash move"], nodes["captures last"])
    assert nodes["all"] * 2 < nodes["bare alpha-beta"]


def test_search_of_some_moves_considers_no_others() -> None:
    """Each move alone has the score that it has among all."""
    board = chess.Board()
    best = depth(3)
    scores = {move: search(board, Limit(depth=3), moves=[move]).score for move in board.legal_moves}
    assert (max(scores.values()), scores[best.pv[0]]) == (best.score, best.score)
    with pytest.raises(ValueError, match="e2e5 is not legal"):
        search(board, Limit(depth=1), moves=[chess.Move.from_uci("e2e5")])


# Mates.


def some_mates(moves: int) -> list[str]:
    """Return as many mates as the run has time for: those of three moves take seconds each."""
    return mates(moves)[: longest() if abs(moves) == 3 else cases({1: 12, 2: 3}[abs(moves)])]


def longest() -> int:
    return max(1, cases(1) // 2)


LONGEST = [pytest.param(moves, marks=pytest.mark.slow) for moves in (3, -3)]


@pytest.mark.parametrize("moves", [1, 2, LONGEST[0]])
def test_mates_are_found_at_the_depth_that_suffices(moves: int) -> None:
    """This is twice the moves, less one: the search extends the check that mates, and no smaller depth can see it."""
    for fen in some_mates(moves):
        result = depth(2 * moves - 1, fen)
        assert (result.mate, result.score) == (moves, MATE - (2 * moves - 1)), fen
        assert_played_out(chess.Board(fen), 2 * moves - 1)


def assert_played_out(board: chess.Board, plies: int) -> None:
    """Assert that both sides' best play mates with the last ply, and not before, and that all lines are legal."""
    for left in range(plies, 0, -1):
        assert not board.is_game_over()
        result = depth(left, board)
        assert result.pv
        line = board.copy()
        for move in result.pv:
            assert line.is_legal(move)
            line.push(move)
        board.push(result.pv[0])
    assert board.is_checkmate()


@pytest.mark.parametrize("moves", [1, 2, -1, -2, *LONGEST])
def test_mate_suites_are_right_by_brute_force(moves: int) -> None:
    """There is such a mate, whatever the answers, and no shorter one."""
    for fen in some_mates(moves):
        assert is_mate_in(chess.Board(fen), moves), fen


@pytest.mark.slow
@pytest.mark.parametrize("moves", [-1, -2, -3])
def test_loser_delays_the_mate(moves: int) -> None:
    for fen in mates(moves)[: longest() if moves == -3 else cases(2)]:
        result = depth(-2 * moves, fen)
        assert result.mate == moves, fen
        assert result.move in chess.Board(fen).legal_moves


@pytest.mark.parametrize(
    ("fen", "score"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", -MATE),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0),
    ],
)
def test_finished_game_has_no_move(fen: str, score: int) -> None:
    result = search(chess.Board(fen), Limit(seconds=10))
    assert (result.move, result.score, result.pv, result.depth) == (None, score, [], 0)


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_every_lost_position_still_has_a_move(plies: int) -> None:
    most = cases(3)
    lost = [fen for moves in (-1, -2, -3) for fen in mates(moves)[:most]]
    for fen in [*lost, "7k/8/8/8/8/8/1q6/K7 w - - 0 1", "8/8/8/8/8/1k6/1q6/K7 w - - 0 1"]:
        result = depth(plies, fen)
        assert result.move in chess.Board(fen).legal_moves or chess.Board(fen).is_checkmate()


# Draws.


def test_lost_game_is_drawn_by_perpetual_check() -> None:
    """Black is a rook and a queen ahead; White's queen checks on e8 and h5 for ever."""
    fen = "6k1/6p1/8/7Q/8/1r6/q4PPP/6K1 w - - 0 1"
    assert depth(1, fen).score < -200
    result = depth(3, fen)
    assert (result.score, result.move) == (0, chess.Move.from_uci("h5e8"))


def test_repetition_scores_zero() -> None:
    board = chess.Board("7k/8/8/8/8/8/q7/7K w - - 0 1")
    for _ in range(2):
        for uci in ("h1g1", "h8g8", "g1h1", "g8h8"):
            board.push_uci(uci)
    board.pop()
    assert board.turn == chess.BLACK
    result = depth(1, board)
    assert result.score > 500
    assert result.move != chess.Move.from_uci("g8h8")


def test_fiftieth_move_draws_unless_it_mates() -> None:
    assert depth(1, "7k/8/8/8/8/8/R7/1R5K w - - 99 80").score == 0
    assert depth(1, "7k/R7/8/8/8/8/8/1R5K w - - 99 80").mate == 1
    assert depth(3, "7k/8/8/8/8/8/R7/1R5K w - - 97 80").mate == 2


def test_insufficient_material_scores_zero() -> None:
    assert depth(3, "7k/8/8/8/8/8/N7/7K w - - 0 1").score == 0
    assert depth(3, "8/7k/8/8/p7/8/1B6/7K w - - 0 1").score > 0


# Limits, and randomness.


def test_same_depth_gives_the_same_search() -> None:
    first, second = ([search(chess.Board(fen), Limit(depth=2)) for fen in [*PERFT][:2]] for _ in range(2))
    assert [replace(result, seconds=0) for result in first] == [replace(result, seconds=0) for result in second]


def test_same_number_of_nodes_gives_the_same_search() -> None:
    first, second = (search(chess.Board(), Limit(nodes=3_000)) for _ in range(2))
    assert replace(first, seconds=0) == replace(second, seconds=0)
    assert first.nodes == 3_001


@pytest.mark.parametrize(("margin", "moves"), [(0, 1), (30, 4)])
def test_seed_varies_the_move_within_the_margin(margin: int, moves: int) -> None:
    best = depth(2)
    drawn = {seed: depth(2, options=Options(seed=seed, margin=margin)).move for seed in range(20)}
    assert len(set(drawn.values())) >= moves
    for move in drawn.values():
        assert move is not None
        board = chess.Board()
        board.push(move)
        assert -minimax(board, 1) >= best.score - margin
    assert depth(2, options=Options(seed=7, margin=margin)).move == drawn[7]


def test_no_seed_gives_a_mate_away() -> None:
    for fen in mates(2)[:3]:
        assert {depth(3, fen, Options(seed=seed, margin=300)).mate for seed in range(3)} == {2}


def test_search_stops_on_request() -> None:
    asked: list[None] = []

    def stopped() -> bool:
        asked.append(None)
        return len(asked) > 20

    result = search(chess.Board(), Limit(), stopped=stopped)
    assert result.move in chess.Board().legal_moves
    assert 1 < result.depth < 20


def test_search_without_time_still_gives_a_move() -> None:
    for limit in (Limit(seconds=0), Limit(clock=0), Limit(nodes=1), Limit(clock=0.001, increment=0)):
        assert search(chess.Board(), limit).move in chess.Board().legal_moves


def test_iterations_are_reported_as_they_end() -> None:
    iterations: list[Result] = []
    result = search(chess.Board(), Limit(depth=4), found=iterations.append)
    assert [one.depth for one in iterations] == [1, 2, 3, 4]
    assert iterations[-1] == replace(result, seconds=iterations[-1].seconds)
    assert all(board_after(one.pv) for one in iterations)


def board_after(line: list[chess.Move]) -> chess.Board:
    board = chess.Board()
    for move in line:
        assert board.is_legal(move)
        board.push(move)
    return board


@pytest.mark.slow
def test_small_table_changes_only_the_number_of_nodes() -> None:
    fen = list(PERFT)[1]
    small, large = (depth(4, fen, Options(hash_mebibytes=size)) for size in (1, 64))
    assert (small.score, small.move) == (large.score, large.move)
    assert small.nodes >= large.nodes


@pytest.mark.parametrize(
    ("limit", "soft", "hard"),
    [
        (Limit(), float("inf"), float("inf")),
        (Limit(seconds=2), 2, 2),
        (Limit(clock=60.03), 1.2, 9.6),
        (Limit(clock=60.03, increment=2), 2, 16),
        (Limit(clock=60.03, moves_to_go=10), 3, 24),
        (Limit(clock=10.03, moves_to_go=1), 4.5, 9),
        (Limit(clock=1.03, increment=10), 0.2, 0.4),
        (Limit(clock=60.03, seconds=1), 1, 1),
    ],
)
def test_clock_is_divided_among_moves(limit: Limit, soft: float, hard: float) -> None:
    assert limit.shares() == pytest.approx((soft, hard))
