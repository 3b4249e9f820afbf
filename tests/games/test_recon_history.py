"""A game's history as reconchess's GameHistory: reconchess itself loads it, and its rc-replay shows it.

``test_recon_side_by_side.py`` compares it with LocalGame's own history in every accessor.
"""

from __future__ import annotations

import random
from pathlib import Path

import chess
import pytest
from chess import BLACK, WHITE, Move
from reconchess import GameHistory
from reconchess.history import Turn

from gm_recon import ReconBoard, ReconGame
from tests.replaying import rc_replay


def saved(game: ReconGame, folder: Path) -> Path:
    path = folder / "game.json"
    path.write_text(game.history().to_json("one", "another"), "utf-8")
    return path


def played_game(seed: int, fen: str = chess.STARTING_FEN, turns: int = 1_000) -> ReconGame:
    """Return a random game, resigned in the middle of a turn after this many turns."""
    rng = random.Random(seed)
    game = ReconGame(fen)
    while not game.is_over():
        game.sense(rng.choice([*game.sense_actions(), None]))
        if game.ply == turns:
            game.resign()
            break
        game.move(rng.choice([*game.move_actions(), None]))
    return game


def test_reconchess_loads_the_file(tmp_path: Path) -> None:
    game = played_game(1)
    history = GameHistory.from_file(str(saved(game, tmp_path)))
    assert history.get_white_player_name() == "one"
    assert history.get_black_player_name() == "another"
    assert history.num_turns() == game.ply
    assert history.get_winner_color() == game.winner
    assert list(history.collect(history.taken_move, history.turns())) == [turn.taken for turn in game.history().turns]


def test_unfinished_turn_has_a_sense_and_no_move(tmp_path: Path) -> None:
    game = ReconGame()
    game.sense(chess.E2)
    game.move(Move.from_uci("e2e4"))
    game.sense(chess.E2)
    game.resign()
    history = GameHistory.from_file(str(saved(game, tmp_path)))
    assert history.has_sense(Turn(BLACK, 0))
    assert not history.has_move(Turn(BLACK, 0))
    pawn = chess.Piece(chess.PAWN, WHITE)
    assert (chess.E2, None) in history.sense_result(Turn(BLACK, 0))
    assert (chess.D2, pawn) in history.sense_result(Turn(BLACK, 0))


def test_game_without_turns_has_an_empty_history(tmp_path: Path) -> None:
    game = ReconGame()
    game.lose_on_time()
    history = GameHistory.from_file(str(saved(game, tmp_path)))
    assert history.is_empty()
    assert history.get_winner_color() == BLACK
    assert history.get_win_reason().name == "TIMEOUT"


def test_live_game_has_no_result(tmp_path: Path) -> None:
    history = GameHistory.from_file(str(saved(ReconGame(), tmp_path)))
    assert (history.get_winner_color(), history.get_win_reason()) == (None, None)


def test_fens_are_the_start_and_the_position_after_each_move() -> None:
    game = ReconGame()
    for uci in ("e2e4", "e7e5"):
        game.sense(None)
        game.move(Move.from_uci(uci))
    history = game.history()
    assert history.fens() == [
        chess.STARTING_FEN,
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2",
    ]
    assert history.board().fen() == game.board.fen()


@pytest.mark.slow
def test_rc_replay_shows_the_game(tmp_path: Path) -> None:
    game = played_game(2, turns=20)
    assert rc_replay(saved(game, tmp_path)) == (2 * game.ply + 1, ReconBoard.as_chess(game.board).fen())
