"""expectation as a player of reconchess's, loaded and played by reconchess's own programs."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import chess
import pytest
from reconchess import Player, WinReason, load_player, play_local_game
from reconchess.bots.random_bot import RandomBot

import gm_bots.expectation
from gm_arena.bot import BotUnusable
from gm_bots.expectation.reconchess_player import VARIABLE, Expectation
from tests.bots.reconchess_programs import wins_by_rc_bot_match
from tests.tools import require_tool

MODULE = "gm_bots.expectation"
QUICK = "positions=10,depth=2,refined=4,seed=1"
#: The same as keyword arguments.
QUICKLY = {"positions": 10, "depth": 2, "refined": 4, "seed": 1}


@pytest.fixture(autouse=True)
def no_options_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_package_lists_the_player_only_when_reconchess_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_player(MODULE) == ("Expectation", Expectation)
    assert "Expectation" in dir(gm_bots.expectation)
    monkeypatch.setitem(sys.modules, "reconchess", None)  # makes its import fail
    assert "Expectation" not in dir(gm_bots.expectation)
    with pytest.raises(AttributeError, match=r"module 'gm_bots\.expectation' has no attribute 'Hope'"):
        getattr(gm_bots.expectation, "Hope")  # noqa: B009 - mypy knows that it is not there


@pytest.mark.slow
@pytest.mark.parametrize("color", chess.COLORS)
def test_player_takes_the_king_of_a_random_mover(color: chess.Color) -> None:
    """Its last move ends the game, and reconchess reports that move to it like any other."""
    require_tool("stockfish")
    random.seed(1)
    players: list[Player] = [RandomBot(), Expectation(**QUICKLY)]
    winner, reason, _ = play_local_game(*(players if color == chess.BLACK else reversed(players)))
    assert (winner, reason) == (color, WinReason.KING_CAPTURE)


def test_player_begins_from_the_given_board() -> None:
    """Black moves first, the opponent has not moved yet, and an en passant capture takes the pawn behind its square."""
    require_tool("stockfish")
    player = Expectation(**QUICKLY)
    player.handle_game_start(chess.BLACK, chess.Board("4k3/8/8/8/1pP5/8/3K4/8 b - c3 0 1"), "other")
    player.handle_opponent_move_result(False, None)
    capture = chess.Move.from_uci("b4c3")
    assert player.choose_sense(list(chess.SQUARES), [capture], 900) in chess.SQUARES
    player.handle_sense_result([(chess.C4, chess.Piece.from_symbol("P"))])
    assert player.choose_move([capture], 900) in (capture, None)
    player.handle_move_result(capture, capture, True, chess.C4)
    player.handle_opponent_move_result(True, chess.C3)
    assert player.choose_sense([chess.E4], [], 900) == chess.E4


def test_options_of_the_constructor_override_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    require_tool("stockfish")
    monkeypatch.setenv(VARIABLE, "positions=0")
    with pytest.raises(BotUnusable, match=r"^expectation: positions=0 is not from 1 to 10000$"):
        Expectation()
    Expectation(positions=9)
    monkeypatch.setenv(VARIABLE, "nodes=2")
    with pytest.raises(BotUnusable, match=r"^expectation: unknown option nodes; known are positions, "):
        Expectation()


@pytest.mark.slow
def test_rc_bot_match_plays_the_player(tmp_path: Path) -> None:
    require_tool("stockfish")
    wins_by_rc_bot_match(MODULE, "Expectation", {VARIABLE: QUICK}, tmp_path)
