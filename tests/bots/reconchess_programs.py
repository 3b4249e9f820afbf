"""reconchess's own programs with a bot of ours, which they load by its module."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import chess
import pytest
from reconchess import GameHistory, WinReason, play_remote_game
from reconchess.bots.random_bot import RandomBot
from reconchess.scripts.rc_connect import RBCServer

from tests.http.test_rc_connect import BIN, PASSWORD, rc_register
from tests.http.test_rc_connect import PATIENCE_SECONDS as PATIENCE
from tests.serving import served


def wins_by_rc_bot_match(module: str, name: str, environment: dict[str, str], folder: Path) -> None:
    """Let rc-bot-match play the bot as White against reconchess's random mover, whose king it must capture.

    The random mover has a seed, which Python reads before the program: without, it wins one game in some fifty.
    """
    seeded = folder / "seeded"
    seeded.mkdir()
    (seeded / "sitecustomize.py").write_text("import random\nrandom.seed(1)\n")
    path = os.pathsep.join(filter(None, (str(seeded), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, str(BIN / "rc-bot-match"), module, "reconchess.bots.random_bot"]
    run = subprocess.run(
        command,
        env=os.environ | environment | {"PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert run.stdout.splitlines()[:2] == ["Game Over!", "Winner: white!"]
    (saved,) = folder.glob(f"{name}-RandomBot-white-*.json")
    assert GameHistory.from_file(saved).get_win_reason() == WinReason.KING_CAPTURE


def wins_by_rc_connect(module: str, environment: dict[str, str]) -> None:
    """Let rc-connect play the bot on a daemon, against a guest's random mover."""
    with served("--http", "--http-port", "0") as daemon:
        url = daemon.http
        for name in ("bot", "guest"):
            rc_register(url, name)
        command = [sys.executable, "-u", str(BIN / "rc-connect"), module, "--server-url", url]
        command += ["--username", "bot", "--password", PASSWORD]
        with subprocess.Popen(
            command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                _play_as_guest(url, process)
            finally:
                process.kill()  # does nothing to a process that has ended


def _play_as_guest(url: str, process: subprocess.Popen[str]) -> None:
    """Invite rc-connect's bot, lose to it, and let rc-connect end."""
    _read_until(process, "Connected successfully")
    game_id = RBCServer(url, ("guest", PASSWORD)).send_invitation("bot", True)
    random.seed(1)
    winner, reason, _ = play_remote_game(url, game_id, ("guest", PASSWORD), RandomBot())
    assert (winner, reason) == (chess.BLACK, WinReason.KING_CAPTURE)
    _read_until(process, f"Finished game {game_id}")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert "rror" not in output
    assert process.returncode == 0


def _read_until(process: subprocess.Popen[str], text: str) -> None:
    """Read what a process prints, up to a line that contains a text."""
    assert process.stdout is not None
    for line in process.stdout:
        assert "rror" not in line, line
        if text in line:
            return
    pytest.fail(f"it ended before it printed {text!r}")
