"""minimax as a player of reconchess's, loaded and played by reconchess's own programs."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import chess
import pytest
from reconchess import Player, WinReason, load_player, play_local_game
from reconchess.bots.random_bot import RandomBot

import gm_bots.minimax
from gm_arena.bot import BotUnusable
from gm_bots.minimax.reconchess_player import VARIABLE, Minimax
from tests.bots.reconchess_programs import wins_by_rc_bot_match, wins_by_rc_connect

MODULE = "gm_bots.minimax"
FOLDER = Path(gm_bots.minimax.__file__).parent
QUICK = "depth=1,seed=1"


@pytest.fixture(autouse=True)
def no_options_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.parametrize("source", [MODULE, str(FOLDER), str(FOLDER / "reconchess_player.py")])
def test_reconchess_loads_the_player_by_name_folder_and_file(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # reconchess adds the folder
    name, player = load_player(source)
    assert (name, type(player()).__name__) == ("Minimax", "Minimax")


def test_package_lists_the_player_only_when_reconchess_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_player(MODULE) == ("Minimax", Minimax)
    assert "Minimax" in dir(gm_bots.minimax)
    monkeypatch.setitem(sys.modules, "reconchess", None)  # makes its import fail
    assert "Minimax" not in dir(gm_bots.minimax)
    with pytest.raises(AttributeError, match=r"module 'gm_bots\.minimax' has no attribute 'Maximin'"):
        getattr(gm_bots.minimax, "Maximin")  # noqa: B009 - mypy knows that it is not there


@pytest.mark.parametrize("color", chess.COLORS)
def test_player_takes_the_king_of_a_random_mover(color: chess.Color) -> None:
    random.seed(1)
    players: list[Player] = [RandomBot(), Minimax(depth=2)]
    winner, reason, history = play_local_game(*(players if color == chess.BLACK else reversed(players)))
    assert (winner, reason) == (color, WinReason.KING_CAPTURE)
    names = (history.get_white_player_name(), history.get_black_player_name())
    assert names == (("Minimax", "RandomBot") if color else ("RandomBot", "Minimax"))


@pytest.mark.slow
def test_player_plays_several_games_and_a_seed_repeats_them() -> None:
    def played() -> list[list[chess.Move | None]]:
        random.seed(1)
        player = Minimax(depth=1, seed=3, margin=100)
        histories = [play_local_game(player, RandomBot())[2] for _ in range(2)]
        return [[history.requested_move(turn) for turn in history.turns(chess.WHITE)] for history in histories]

    first, again = played(), played()
    assert first == again
    assert first[0] != first[1]


def test_player_begins_from_the_given_board() -> None:
    """Black moves first, and the opponent's king can be captured."""
    player = Minimax(depth=1)
    player.handle_game_start(chess.BLACK, chess.Board("4k3/8/8/8/1p6/r7/8/3K4 b - - 0 1"), "other")
    player.handle_opponent_move_result(False, None)
    assert player.choose_sense(list(chess.SQUARES), [], 900) in chess.SQUARES
    player.handle_sense_result([(chess.A1, chess.Piece.from_symbol("K"))])
    takes = chess.Move.from_uci("a3a1")
    assert player.choose_move([takes, chess.Move.from_uci("a3a2")], 900) == takes


def test_options_of_the_constructor_override_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "depth=0")
    with pytest.raises(BotUnusable, match=r"^minimax: depth=0 is not from 1 to 60$"):
        Minimax()
    Minimax(depth=3)
    monkeypatch.setenv(VARIABLE, "depth")
    with pytest.raises(BotUnusable, match=r"^GM_MINIMAX: 'depth' is not NAME=VALUE$"):
        Minimax()
    monkeypatch.setenv(VARIABLE, "simulations=2")
    with pytest.raises(BotUnusable, match=r"^minimax: unknown option simulations; known are depth, "):
        Minimax()


@pytest.mark.parametrize("seconds", [0.0, 0.05, float("inf"), 10_000_000])
def test_player_moves_in_time_whatever_its_clock_says(seconds: float) -> None:
    """reconchess gives infinity without a clock, and gmd over HTTP a large number."""
    player = Minimax(movetime=0.05)
    player.handle_game_start(chess.WHITE, chess.Board(), "other")
    player.handle_opponent_move_result(False, None)
    allowed = list(chess.Board().legal_moves)
    assert player.choose_move(allowed, seconds) in allowed


@pytest.mark.slow
def test_rc_bot_match_plays_the_player(tmp_path: Path) -> None:
    wins_by_rc_bot_match(MODULE, "Minimax", {VARIABLE: QUICK}, tmp_path)


@pytest.mark.slow
def test_rc_connect_plays_the_player_on_a_daemon() -> None:
    wins_by_rc_connect(MODULE, {VARIABLE: QUICK})
