"""recon-zero as a player of reconchess's, loaded and played by reconchess's own programs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import chess
import pytest
from reconchess import Player, WinReason, load_player, play_local_game
from reconchess.bots.random_bot import RandomBot

import gm_bots.recon_zero
from gm_arena.bot import BotUnusable
from gm_bots.recon_zero.reconchess_player import VARIABLE, ReconZero
from tests.bots.recon_zero.learning import checkpoint, needs_torch
from tests.bots.reconchess_programs import wins_by_rc_bot_match, wins_by_rc_connect
from tests.http.test_rc_connect import BIN
from tests.http.test_rc_connect import PATIENCE_SECONDS as PATIENCE

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
    monkeypatch.setenv(VARIABLE, "checkpoint=none,simulations=7,movetime=0.5")
    bots = ReconZero(simulations=9)._bots
    assert (bots.checkpoint, bots.settings.simulations, bots.seconds) == (None, 9, 0.5)
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


@pytest.mark.slow
def test_rc_connect_plays_the_player_on_a_daemon() -> None:
    wins_by_rc_connect(MODULE, {VARIABLE: QUICK})


def without_torch(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which no program finds PyTorch, whether it is installed or not."""
    hiding = """
import importlib.util

find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *package: None if name == "torch" else find_spec(name, *package)
"""
    (tmp_path / "sitecustomize.py").write_text(hiding)
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


@pytest.mark.slow
def test_rc_bot_match_without_torch_names_the_variable_that_avoids_it(tmp_path: Path) -> None:
    command = [sys.executable, str(BIN / "rc-bot-match"), MODULE, "reconchess.bots.random_bot"]
    env = without_torch(tmp_path)
    env.pop(VARIABLE, None)
    run = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert run.stderr.splitlines()[-1] == (
        "gm_bots.recon_zero.entry.LibraryMissing: recon-zero reads checkpoints with torch, which is not installed: run "
        ".venv/bin/pip install -e '.[train]' in the clone of gmd, or play without one: GM_RECON_ZERO=checkpoint=none"
    )
    assert "During handling" not in run.stderr
    env[VARIABLE] = QUICK
    run = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert run.stdout.splitlines()[:2] == ["Game Over!", "Winner: white!"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "recon-zero"],
        ["connect", "recon-zero", "--player", "1", "--server", "127.0.0.1:1"],
        ["evaluate", "--smoke"],
        ["evaluate", "--games", "2"],
    ],
)
def test_command_without_torch_names_the_option_that_avoids_it(arguments: list[str], tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "gmd", *arguments],
        env=without_torch(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    without = "--option checkpoint=none" if arguments[0] == "evaluate" else "recon-zero:checkpoint=none"
    assert (run.returncode, run.stdout) == (2, "")
    assert "Traceback" not in run.stderr
    assert run.stderr.splitlines()[-1] == (
        "Error: recon-zero reads checkpoints with torch, which is not installed: run .venv/bin/pip install -e "
        f"'.[train]' in the clone of gmd, or play without one: {without}"
    )


def test_checkpoint_cannot_be_played_without_torch(tmp_path: Path) -> None:
    (tmp_path / "mine.pt").touch()
    for options in (["--smoke"], ["--games", "2"]):
        command = [sys.executable, "-m", "gmd", "evaluate", str(tmp_path / "mine.pt"), *options]
        run = subprocess.run(command, env=without_torch(tmp_path), capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode == 2
        assert run.stderr.splitlines()[-1].endswith("'.[train]' in the clone of gmd")


def test_smoke_test_passes_without_torch_and_without_a_network(tmp_path: Path) -> None:
    options = ["checkpoint=none", "simulations=2", "determinisations=2"]
    command = [sys.executable, "-m", "gmd", "evaluate", "--smoke", "--max-moves", "3"]
    command += [part for option in options for part in ("--option", option)]
    run = subprocess.run(command, env=without_torch(tmp_path), capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr
