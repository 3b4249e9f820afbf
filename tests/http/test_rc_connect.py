"""reconchess's own programs from PyPI, in separate processes: rc-register, rc-connect and rc-play-on-server.

The server class of rc-play-on-server lists active players and invites them.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess
import pytest
import requests
from reconchess import GameHistory, RemoteGame, play_remote_game
from reconchess.bots.random_bot import RandomBot
from reconchess.scripts.rc_connect import RBCServer

from tests.serving import served

pytestmark = pytest.mark.slow  # each starts several programs

BIN = Path(sys.executable).parent
HTTP_PAGE = (Path(__file__).parents[2] / "docs/reference/reconchess-http.md").read_text("utf-8")
PROGRAMS = (Path(__file__).parents[2] / "docs/how-to/from-reconchess.md").read_text("utf-8")
PATIENCE_SECONDS = 120
PASSWORD = "correct horse"
#: A bot of reconchess whose games end soon.
ATTACKER = "attacker_bot"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Yield the URL at which a daemon serves HTTP."""
    with served("--data", str(tmp_path), "--http", "--http-port", "0") as daemon:
        yield daemon.http
        assert daemon.stop(signal.SIGTERM) == 0


def as_the_readme_has_it(program: str, url: str, name: str) -> list[str]:
    """Return a command of the manual with our player and server, and with the password that it would ask for."""
    match = re.search(rf"^    {program} (.*)$", PROGRAMS, re.MULTILINE)
    assert match is not None
    words = shlex.split(match[1])
    arguments = [word.replace("http://127.0.0.1:7180", url).replace("rc-bot", name) for word in words]
    assert {url, name} <= set(arguments)
    return [sys.executable, "-u", str(BIN / program), *arguments, "--password", PASSWORD]


def rc_register(url: str, name: str) -> str:
    """Run rc-register and return its output."""
    command = as_the_readme_has_it("rc-register", url, name)
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout


@contextmanager
def rc_connect(url: str, name: str, bot: str = "random_bot", *flags: str) -> Iterator[subprocess.Popen[str]]:
    """Run rc-connect with one of reconchess's bots; the manual's bot plays at random."""
    command = [part.replace("random_bot", bot) for part in as_the_readme_has_it("rc-connect", url, name)]
    command += flags
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()  # this does nothing to a process that has ended


class GivesUp(RandomBot):
    """Bot that plays two turns at random and gives up in the third, because random games last hundreds of turns."""

    def __init__(self, server: RBCServer, game_id: int) -> None:
        self._server, self._game_id, self._turns = server, game_id, 0

    def choose_move(self, move_actions: list[chess.Move], seconds_left: float) -> chess.Move | None:
        self._turns += 1
        if self._turns == 3:
            self._server.error_resign(self._game_id)
            return None
        return random.choice(move_actions)


def test_bot_registers_connects_is_invited_and_plays_to_the_end(url: str) -> None:
    for name in ("bot", "guest"):
        assert rc_register(url, name) == f'Successfully registered with username "{name}".\n'
    assert rc_register(url, "bot") == 'Unsuccessful... "bot" is already in use! Choose a different name.\n'
    with rc_connect(url, "bot") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Connected successfully" in line:
                break
        guest = RBCServer(url, ("guest", PASSWORD))
        assert guest.get_active_users() == ["bot", "guest"]
        game_id = guest.send_invitation("bot", False)
        winner, _, history = play_remote_game(url, game_id, ("guest", PASSWORD), GivesUp(guest, game_id))
        assert winner is True
        assert isinstance(history, GameHistory)
        assert (history.get_white_player_name(), history.get_black_player_name()) == ("bot", "guest")
        for line in process.stdout:
            assert "rror" not in line
            if f"Finished game {game_id}" in line:
                break
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)  # rc-connect waits for its games
        assert "Received terminate signal" in output
        assert "rror" not in output
        assert process.returncode == 0
        assert RBCServer(url, ("bot", PASSWORD)).get_invitations() == []


def read_until(process: subprocess.Popen[str], text: str) -> list[str]:
    """Return the lines of a process up to one that contains a text."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"{text!r} is not in {lines}")


def test_two_rc_connects_play_by_one_invitation_made_by_hand(url: str) -> None:
    for name in ("my-bot", "other-bot"):
        rc_register(url, name)
    with rc_connect(url, "my-bot", ATTACKER) as mine, rc_connect(url, "other-bot", ATTACKER) as other:
        for process in (mine, other):
            read_until(process, "Connected successfully")
        game_id = requests.post(**readme_invitation(url)).json()["game_id"]
        for process in (mine, other):
            lines = read_until(process, f"Finished game {game_id}")
            assert f"Received invitation {game_id}." in "".join(lines)
            assert "rror" not in "".join(lines)


def test_two_rc_connects_are_paired_for_ranked_games_and_rated(url: str) -> None:
    names, flags = ("my-bot", "other-bot"), ("--ranked", "--keep-version", "--max-concurrent-games", "2")
    for name in names:
        rc_register(url, name)
    with rc_connect(url, names[0], ATTACKER, *flags) as mine, rc_connect(url, names[1], ATTACKER, *flags) as other:
        for process in (mine, other):
            read_until(process, "Finished game")
        for process in (mine, other):
            process.send_signal(signal.SIGINT)
        for process in (mine, other):
            output, _ = process.communicate(timeout=PATIENCE_SECONDS)
            assert "Received terminate signal" in output
            assert "Fatal error" not in output
    while (board := requests.get(f"{url}/api/leaderboard", timeout=PATIENCE_SECONDS).json())["games"] < 2:
        pass
    rows = board["leaderboard"]
    assert {(row["name"], row["version"]) for row in rows} == {(name, 1) for name in names}
    assert sum(row["games"] for row in rows) == 2 * board["games"]


def readme_invitation(url: str) -> dict[str, Any]:
    """Return the request that the reference makes by curl."""
    match = re.search(r"^ +curl -u (\S+):PASSWORD (\S+) \\\n +-d '(.*)'$", HTTP_PAGE, re.MULTILINE)
    assert match is not None
    assert match[2] == "http://127.0.0.1:7180/api/invitations/"
    return {"url": f"{url}/api/invitations/", "auth": (match[1], PASSWORD), "data": match[3]}


def test_person_sees_active_players_and_invites_one(url: str, tmp_path: Path) -> None:
    for name in ("bot", "person"):
        rc_register(url, name)
    bot = RBCServer(url, ("bot", PASSWORD))
    assert bot.get_invitations() == []  # this makes the bot active
    with rc_play_on_server(url, tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"person\n{PASSWORD}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "Username: [0] bot\n"  # and nobody else, not even the person itself
        process.stdin.write("0\n")
        process.stdin.flush()
        while not (invitations := bot.get_invitations()):
            assert process.poll() is None
        game_id = bot.accept_invitation(*invitations)
        game = RemoteGame(url, game_id, ("bot", PASSWORD))
        assert (game.get_player_color(), game.get_opponent_name()) == (True, "person")
        bot.error_resign(game_id)
        assert process.wait(PATIENCE_SECONDS) == 0
    (saved,) = tmp_path.glob(f"*_{game_id}_black.json")
    history = GameHistory.from_file(saved)
    assert (history.get_white_player_name(), history.get_black_player_name()) == ("bot", "person")


@contextmanager
def rc_play_on_server(url: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run rc-play-on-server in a folder, where it saves its game, with an invisible window."""
    command = [sys.executable, "-u", str(BIN / "rc-play-on-server"), "--server-url", url, "--color", "black"]
    env = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYTHONWARNINGS": "ignore"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,  # otherwise it would ask for the password on the terminal, if there is one
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()  # this does nothing to a process that has ended
