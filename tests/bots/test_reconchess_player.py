"""minimax as a player of reconchess's, loaded and played by reconchess's own programs."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import chess
import pytest
from reconchess import Player, WinReason, load_player, play_local_game
from reconchess.bots.random_bot import RandomBot

import gm_bots.minimax
from gm_arena.bot import BotUnusable
from gm_bots.minimax.engine import Limit
from gm_bots.minimax.reconchess_player import VARIABLE, Minimax
from gm_recon import ReconBoard, read_json
from tests.bots.reconchess_programs import wins_by_rc_bot_match, wins_by_rc_connect

MODULE = "gm_bots.minimax"
FOLDER = Path(gm_bots.minimax.__file__).parent
QUICK = "depth=1,seed=1"


@pytest.fixture(autouse=True)
def no_options_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.parametrize("source", [MODULE, str(FOLDER), str(FOLDER / "reconchess_player.py")])
def test_reconchess_loads_the_player_by_name_folder_and_file(source: str) -> None:
    code = f"from reconchess import load_player; name, player = load_player({source!r}); player(); print(name)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "Minimax\n"


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


class Watched(Minimax):
    """A player that records its knowledge of its own pieces before each of its turns."""

    def handle_game_start(self, color: chess.Color, board: chess.Board, opponent_name: str) -> None:
        super().handle_game_start(color, board, opponent_name)
        self.knew: list[str] = []

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: chess.Square | None) -> None:
        super().handle_opponent_move_result(captured_my_piece, capture_square)
        self.knew.append(f"{self._own.board_fen()} {self._own.castling_xfen()}")


@pytest.mark.parametrize("color", chess.COLORS)
def test_player_knows_its_own_pieces_and_castling_rights_all_game_long(color: chess.Color, tmp_path: Path) -> None:
    random.seed(4)
    watched = Watched(depth=1, seed=2)
    players: list[Player] = [RandomBot(), watched]
    _, _, history = play_local_game(*(players if color == chess.BLACK else reversed(players)))
    history.save(str(tmp_path / "game.json"))
    turns = read_json((tmp_path / "game.json").read_text()).history.replay()
    boards = [ReconBoard(turn.fen_before).own_board(color) for turn in turns if turn.color == color]
    assert len(boards) > 5
    assert watched.knew == [f"{board.board_fen()} {board.castling_xfen()}" for board in boards]


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
    monkeypatch.setenv(VARIABLE, "depth=2,check_extension=off")
    settings = Minimax(depth=3)._settings
    assert (settings.depth, settings.check_extension) == (3, False)
    monkeypatch.setenv(VARIABLE, "depth")
    with pytest.raises(BotUnusable, match=r"^GM_MINIMAX: 'depth' is not NAME=VALUE$"):
        Minimax()
    monkeypatch.setenv(VARIABLE, "simulations=2")
    with pytest.raises(BotUnusable, match=r"^minimax: unknown option simulations; known are depth, "):
        Minimax()


def test_move_takes_a_second_by_default_and_never_more_than_the_clock_allows() -> None:
    assert Minimax()._limit(900.0) == Limit(seconds=1.0, clock=900.0)
    assert Minimax(depth=4)._limit(900.0) == Limit(depth=4, clock=900.0)
    assert Minimax(depth=4, movetime=2)._limit(900.0) == Limit(depth=4, seconds=2.0, clock=900.0)
    assert Minimax()._limit(float("inf")) == Limit(seconds=1.0)  # LocalGame(seconds_per_player=None)
    assert Minimax()._limit(10_000_000) == Limit(seconds=1.0)  # gmd over HTTP, where there is no clock


def test_rc_bot_match_plays_the_player(tmp_path: Path) -> None:
    wins_by_rc_bot_match(MODULE, "Minimax", {VARIABLE: QUICK}, tmp_path)


@pytest.mark.slow
def test_rc_connect_plays_the_player_on_a_daemon() -> None:
    wins_by_rc_connect(MODULE, {VARIABLE: QUICK})
