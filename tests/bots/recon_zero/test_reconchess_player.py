"""recon-zero as a player of reconchess's, loaded and played by reconchess's own programs."""

from __future__ import annotations

import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import chess
import pytest
from reconchess import Player, WinReason, load_player, play_local_game
from reconchess.bots.random_bot import RandomBot

import gm_bots.recon_zero
from gm_arena.bot import BotUnusable
from gm_bots.recon_zero import entry
from gm_bots.recon_zero.reconchess_player import VARIABLE, ReconZero
from tests.bots.recon_zero.learning import checkpoint, needs_torch
from tests.bots.reconchess_programs import wins_by_rc_bot_match, wins_by_rc_connect
from tests.cli.commands import gmd

pytestmark = pytest.mark.slow

MODULE = "gm_bots.recon_zero"
FOLDER = Path(gm_bots.recon_zero.__file__).parent
QUICK = "checkpoint=none,simulations=10,determinisations=2,seed=1"
#: The same as keyword arguments.
QUICKLY = {"checkpoint": "none", "simulations": 10, "determinisations": 2, "seed": 1}


@pytest.fixture(autouse=True)
def no_options_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.parametrize("source", [MODULE, str(FOLDER), str(FOLDER / "reconchess_player.py")])
def test_reconchess_loads_the_player_by_name_folder_and_file(source: str) -> None:
    code = f"""
import sys
from reconchess import load_player
name, player = load_player({source!r})
print(name, player.__name__, "torch" in sys.modules)
player(checkpoint="none")
print("torch" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["ReconZero ReconZero False", "False"]


def test_package_lists_the_player_only_when_reconchess_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_player(MODULE) == ("ReconZero", ReconZero)
    assert "ReconZero" in dir(gm_bots.recon_zero)
    monkeypatch.setitem(sys.modules, "reconchess", None)  # makes its import fail
    assert "ReconZero" not in dir(gm_bots.recon_zero)
    with pytest.raises(AttributeError, match=r"module 'gm_bots\.recon_zero' has no attribute 'ReconOne'"):
        getattr(gm_bots.recon_zero, "ReconOne")  # noqa: B009 - mypy knows that it is not there


@pytest.mark.parametrize("color", chess.COLORS)
def test_player_takes_the_king_of_a_random_mover(color: chess.Color) -> None:
    """Its last move ends the game, and reconchess reports that move to it like any other."""
    random.seed(1)
    players: list[Player] = [RandomBot(), ReconZero(**QUICKLY)]
    winner, reason, history = play_local_game(*(players if color == chess.BLACK else reversed(players)))
    assert (winner, reason) == (color, WinReason.KING_CAPTURE)
    names = (history.get_white_player_name(), history.get_black_player_name())
    assert names == (("ReconZero", "RandomBot") if color else ("RandomBot", "ReconZero"))


def test_player_plays_several_games_and_a_seed_repeats_them() -> None:
    def played() -> list[list[chess.Move | None]]:
        random.seed(1)
        player = ReconZero(**QUICKLY)
        histories = [play_local_game(player, RandomBot())[2] for _ in range(2)]
        return [[history.requested_move(turn) for turn in history.turns(chess.WHITE)] for history in histories]

    first, again = played(), played()
    assert first == again
    assert first[0] != first[1]


def test_player_begins_from_the_given_board() -> None:
    """Black moves first, the opponent has not moved yet, and an en passant capture takes the pawn behind its square."""
    player = ReconZero(**QUICKLY)
    player.handle_game_start(chess.BLACK, chess.Board("4k3/8/8/8/1pP5/8/3K4/8 b - c3 0 1"), "other")
    player.handle_opponent_move_result(False, None)
    assert player.choose_sense(list(chess.SQUARES), [], 900) in chess.SQUARES
    player.handle_sense_result([(chess.C4, chess.Piece.from_symbol("P"))])
    capture = chess.Move.from_uci("b4c3")
    assert player.choose_move([capture], 900) in (capture, None)
    player.handle_move_result(capture, capture, True, chess.C4)
    player.handle_opponent_move_result(True, chess.C3)
    assert player.choose_sense([chess.E4], [], 900) == chess.E4


def test_options_of_the_constructor_override_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "checkpoint=none,simulations=0")
    with pytest.raises(BotUnusable, match=r"^recon-zero: simulations=0 is not from 1"):
        ReconZero()
    ReconZero(simulations=9)
    monkeypatch.setenv(VARIABLE, "simulations")
    with pytest.raises(BotUnusable, match=r"^GM_RECON_ZERO: 'simulations' is not NAME=VALUE$"):
        ReconZero()
    monkeypatch.setenv(VARIABLE, "depth=2")
    with pytest.raises(BotUnusable, match=r"^recon-zero: unknown option depth; known are checkpoint, "):
        ReconZero()


def test_search_ends_when_no_time_is_left() -> None:
    """All of these simulations would take days."""
    player = ReconZero(checkpoint="none", simulations=100_000, determinisations=1_000)
    board = chess.Board()
    player.handle_game_start(chess.WHITE, board, "other")
    player.handle_opponent_move_result(False, None)
    actions = list(board.legal_moves)
    assert player.choose_move(actions, 0.0) in [*actions, None]


@needs_torch
def test_player_plays_with_a_checkpoint(tmp_path: Path) -> None:
    player = ReconZero(checkpoint=checkpoint(tmp_path / "new.pt"), simulations=2, determinisations=1, seed=1)
    random.seed(1)
    _, reason, _ = play_local_game(player, RandomBot())
    assert isinstance(reason, WinReason)


def test_rc_bot_match_plays_the_player(tmp_path: Path) -> None:
    wins_by_rc_bot_match(MODULE, "ReconZero", {VARIABLE: QUICK}, tmp_path)


def test_rc_connect_plays_the_player_on_a_daemon() -> None:
    wins_by_rc_connect(MODULE, {VARIABLE: QUICK})


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let recon-zero find no PyTorch, whether it is installed or not."""
    monkeypatch.setattr(entry, "find_spec", lambda library: None if library == "torch" else find_spec(library))


@pytest.mark.usefixtures("without_torch")
def test_player_without_torch_names_the_variable_that_avoids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BotUnusable, match=r"torch, which is not installed: .* GM_RECON_ZERO=checkpoint=none$"):
        ReconZero()
    monkeypatch.setenv(VARIABLE, QUICK)
    ReconZero()


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "recon-zero"],
        ["connect", "recon-zero", "--player", "1", "--server", "127.0.0.1:1"],
        ["evaluate", "--smoke"],
        ["evaluate", "--games", "2"],
    ],
)
def test_command_without_torch_names_the_option_that_avoids_it(arguments: list[str]) -> None:
    run = gmd(*arguments)
    without = "--option checkpoint=none" if arguments[0] == "evaluate" else "recon-zero:checkpoint=none"
    assert (run.status, run.out) == (2, "")
    assert run.err.splitlines()[-1] == (
        "Error: recon-zero reads checkpoints with torch, which is not installed: run .venv/bin/pip install -e "
        f"'.[train]' in the clone of gmd, or play without one: {without}"
    )


@pytest.mark.usefixtures("without_torch")
def test_checkpoint_cannot_be_played_without_torch(tmp_path: Path) -> None:
    (tmp_path / "mine.pt").touch()
    for options in (["--smoke"], ["--games", "2"]):
        run = gmd("evaluate", tmp_path / "mine.pt", *options)
        assert run.status == 2
        assert run.err.splitlines()[-1].endswith("'.[train]' in the clone of gmd")


@pytest.mark.usefixtures("without_torch")
def test_smoke_test_passes_without_torch_and_without_a_network() -> None:
    options = [part for option in QUICK.split(",")[:3] for part in ("--option", option)]
    run = gmd("evaluate", "--smoke", "--max-moves", "3", *options)
    assert run.status == 0, run.out + run.err
