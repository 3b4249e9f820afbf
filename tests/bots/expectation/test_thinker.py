"""The thought of expectation by itself: what it senses and moves."""

from __future__ import annotations

import random

import chess
import pytest
from chess import Color, Move

from gm_bots.expectation.results import Engine
from gm_bots.expectation.settings import Settings
from gm_bots.expectation.thinker import Thinker
from gm_recon import ReconGame
from tests.bots.expectation.asked import Counted, Scored, Unasked, stockfish

QUICK = Settings(positions=12, depth=2, refined=4)


def thinker(engine: Engine, fen: str, color: Color = chess.WHITE, settings: Settings = QUICK) -> Thinker:
    return Thinker(color, engine, settings, random.Random(1), most=10_000, fen=fen)


def actions(fen: str) -> list[Move]:
    return ReconGame(fen).move_actions()


def test_king_that_is_seen_is_captured() -> None:
    fen = "4k3/8/8/8/8/8/8/4RK2 w - - 0 1"
    with stockfish() as engine:
        mine = thinker(engine, fen)
        mine.choose_sense(chess.SQUARES, actions(fen))
        mine.saw([])
        assert mine.choose_move(actions(fen)) == Move.from_uci("e1e8")


def test_hanging_queen_is_captured_and_the_score_says_so() -> None:
    fen = "4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1"
    with stockfish() as engine:
        mine = thinker(engine, fen)
        taking = mine.choose_move(actions(fen))
        assert taking is not None
        assert chess.square_file(taking.to_square) == 3
        assert mine.score is not None
        assert mine.score > 3


def test_sense_looks_where_the_decision_depends_on_it() -> None:
    """Black's rook has moved; only on the e-file does it attack the king, which then must move."""
    fen = "r6k/8/8/8/8/8/8/4K3 b - - 0 1"
    with stockfish() as engine:
        mine = thinker(engine, fen, settings=Settings(positions=40, depth=4, information=0))
        mine.opponent_moved(None)
        square = mine.choose_sense(chess.SQUARES, actions("7k/8/8/8/8/8/8/4K3 w - - 0 1"))
    assert chess.square_rank(square) >= 5 or chess.square_file(square) <= 2


def test_engine_is_not_asked_for_a_sense_if_the_position_is_known() -> None:
    mine = Thinker(chess.WHITE, Unasked(), QUICK, random.Random(1), most=1_000)
    assert mine.choose_sense([chess.C3, chess.D4], actions(chess.STARTING_FEN)) == chess.C3


def test_no_time_left_still_gives_a_move_from_few_positions() -> None:
    with stockfish() as stockfish_itself:
        engine = Counted(stockfish_itself)
        mine = thinker(engine, chess.STARTING_FEN, chess.BLACK, Settings(positions=10_000, depth=2, refined=30))
        mine.opponent_moved(None)
        allowed = actions("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
        assert mine.choose_sense(chess.SQUARES, allowed, 0.0) in chess.SQUARES
        assert len(engine.asked) == 3, "the opponent's moves from the one position before, and two positions"
        assert mine.choose_move(allowed, 0.0) in [*allowed, None]
        assert len(engine.asked) <= 5


def test_time_goes_into_positions_and_then_into_depth_until_the_choice_is_clear() -> None:
    engine = Scored(lambda depth, uci: {"e7e5": 300, "d7d5": 200 if depth < 14 else 900}.get(uci, 0))
    mine = Thinker(chess.BLACK, engine, Settings(positions=5), random.Random(1), most=10_000)
    mine.opponent_moved(None)
    allowed = actions("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    assert mine.choose_move(allowed, 1_000.0) == Move.from_uci("d7d5")
    assert engine.depths == [depth for depth in (8, 10, 12, 14, 16) for _ in range(21)]


@pytest.mark.parametrize(("seconds", "most"), [(8.0, 4.0), (0.0, 0.02), (None, None)])
def test_no_search_takes_longer_than_the_time_for_it(seconds: float | None, most: float | None) -> None:
    engine = Scored(lambda depth, uci: 0)
    mine = thinker(engine, chess.STARTING_FEN, settings=Settings(depth=30, fixed=True))
    mine.choose_move(actions(chess.STARTING_FEN), seconds)
    (limit,) = engine.limits
    assert (limit is None) == (most is None)
    assert (limit or 0) <= (most or 0)


def test_check_that_was_answered_counts_for_what_is_searched_ahead() -> None:
    check, scores = Move.from_uci("h2h8"), []
    for ponders in (False, True):
        fen, settings = "4k3/8/8/8/8/8/7R/4K3 w - - 0 1", Settings(positions=12, candidates=1)
        mine = thinker(Scored(lambda depth, uci: 0), fen, settings=settings)
        assert mine.choose_move([check]) == check
        mine.moved(check, check, None)
        if ponders:
            mine.ponder(lambda: False)
        mine.opponent_moved(None)
        mine.saw([(chess.E7, chess.Piece.from_symbol("k"))])
        mine.choose_move(actions("7R/4k3/8/8/8/8/8/4K3 w - - 0 1"))
        scores.append(mine.score)
    assert scores[0] == scores[1]


def test_what_is_searched_in_the_opponents_time_is_not_searched_again() -> None:
    fen, reply = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/4P3/8/4K3 b - - 0 1"
    with stockfish() as stockfish_itself:
        engine = Counted(stockfish_itself)
        mine = thinker(engine, fen)
        move = Move.from_uci("e2e3")
        mine.moved(move, move, None)
        mine.ponder(lambda: False)
        before = set(engine.asked)
        assert before
        mine.opponent_moved(None)
        mine.choose_sense(chess.SQUARES, actions(reply.replace(" b ", " w ")))
        assert engine.asked == before


def test_thought_in_the_opponents_time_ends_when_it_is_told_to() -> None:
    with stockfish() as stockfish_itself:
        engine = Counted(stockfish_itself)
        mine = thinker(engine, chess.STARTING_FEN)
        move = Move.from_uci("e2e3")
        mine.moved(move, move, None)
        mine.ponder(lambda: len(engine.asked) > 3)
        assert len(engine.asked) <= 5


@pytest.mark.parametrize("run", ["b1c3 c3b5 b5d6 d6e8", "g1h3 h3f4 f4h5 h5f6 f6e8"])
def test_knight_that_runs_at_the_king_is_met(run: str) -> None:
    """As reconchess's AttackerBot runs: unseen, and in the first moves."""
    game, moves = ReconGame(), list(map(Move.from_uci, run.split()))
    with stockfish() as engine:
        mine = Thinker(chess.BLACK, engine, QUICK, random.Random(9), most=10_000)
        while not game.is_over() and game.ply < 12:
            if game.turn == chess.WHITE:
                game.sense(None)
                game.move(moves.pop(0) if moves and moves[0] in game.move_actions() else None)
                continue
            mine.opponent_moved(game.opponent_capture)
            mine.saw(game.sense(mine.choose_sense(game.sense_actions(), game.move_actions())))
            outcome = game.move(mine.choose_move(game.move_actions()))
            if not game.is_over():
                mine.moved(*outcome)
    assert game.board.as_chess().king(chess.BLACK) is not None


@pytest.mark.slow
@pytest.mark.parametrize("most", [10_000, 3], ids=["all positions", "hardly any"])
def test_game_of_two_players_has_no_illegal_action_and_repeats_by_its_seed(most: int) -> None:
    assert played(5, most) == played(5, most)


def played(seed: int, most: int) -> list[str]:
    """Return the senses and moves of a game of 8 half-moves; illegal ones would raise an exception."""
    game, done = ReconGame(), list[str]()
    with stockfish() as white, stockfish() as black:
        players = {
            color: Thinker(color, engine, QUICK, random.Random(f"{seed} {color}"), most=most)
            for color, engine in ((chess.WHITE, white), (chess.BLACK, black))
        }
        while not game.is_over() and game.ply < 8:
            mine = players[game.turn]
            if game.ply:
                mine.opponent_moved(game.opponent_capture)
            square = mine.choose_sense(game.sense_actions(), game.move_actions())
            mine.saw(game.sense(square))
            move = mine.choose_move(game.move_actions())
            done += [chess.square_name(square), str(move)]
            outcome = game.move(move)
            if not game.is_over():
                mine.moved(*outcome)
    return done
