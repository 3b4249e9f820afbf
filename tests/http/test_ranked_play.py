"""reconchess's rc-connect from PyPI plays ranked games in separate processes; and the leaderboard of these games."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.commands import gmd
from tests.http.test_rc_connect import BIN, PASSWORD, PATIENCE_SECONDS
from tests.serving import reserved_port, served

pytestmark = pytest.mark.slow  # a daemon and bots in processes of their own

#: Rating that is given to RandomBot.
ANCHOR = 1000.0


class Arena:
    """A daemon that may be killed and restarted with the same data, and the bots that play there."""

    def __init__(self, data: Path, port: int) -> None:
        """:param port: for HTTP."""
        self.data = data
        self.url = f"http://127.0.0.1:{port}"
        self._arguments = ("--data", str(data), "--anchors", f"random={ANCHOR}")

    @contextmanager
    def daemon(self) -> Iterator[None]:
        """Run a daemon, which is killed at the end."""
        port = self.url.rpartition(":")[2]
        with served(*self._arguments, "--http", "--http-port", port, "--invitation-timeout", "30"):
            yield

    def register(self, name: str) -> None:
        registration = {"username": name, "password": PASSWORD, "email": "a@example.org", "affiliation": "none"}
        assert httpx.post(f"{self.url}/api/users/", json=registration, timeout=30).status_code == 200

    @contextmanager
    def rc_connect(self, name: str, at_once: int, env: dict[str, str] | None = None) -> Iterator[Bot]:
        """Run a bot of reconchess, which plays so many ranked games at a time."""
        command = [sys.executable, "-u", str(BIN / "rc-connect"), module_of(name)]
        command += ["--server-url", self.url, "--username", name, "--password", PASSWORD]
        command += ["--ranked", "--keep-version", "--max-concurrent-games", str(at_once)]
        said = self.data.parent / f"{name}.log"
        with (
            said.open("w") as out,
            subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}, process_group=0
            ) as process,
        ):
            try:
                yield Bot(process, said)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # together with the processes of its games

    def leaderboard(self) -> dict[str, Any]:
        board: dict[str, Any] = httpx.get(f"{self.url}/api/leaderboard", timeout=30).json()
        return board

    def gmd(self, *arguments: str) -> str:
        ran = gmd(*arguments, "--data", self.data)
        assert ran.status == 0, ran.err
        return ran.out

    def games(self) -> list[dict[str, Any]]:
        """Return all games of the log."""
        return [json.loads(line) for line in self.gmd("export", "--format", "jsonl").splitlines()]


def module_of(name: str) -> str:
    """Return the module of the bot that plays under a name.

    Games of RandomBot last hundreds of turns: AttackerBot, whose games end soon, plays in its place.
    """
    return f"reconchess.bots.{name.replace('random', 'attacker')}_bot"


class Bot:
    """A running rc-connect.

    :ivar said: the file with its output.
    """

    def __init__(self, process: subprocess.Popen[bytes], said: Path) -> None:
        self.process, self.said = process, said

    def await_said(self, what: str, times: int) -> None:
        """Wait until its output contains a text this many times."""
        until(lambda: self.said.read_text().count(what) >= times, f"{what}, {times} times")

    def drain(self) -> None:
        """Send Ctrl-C to this one process; a terminal would also signal the others, which ignore it."""
        self.process.send_signal(signal.SIGINT)

    def finish(self) -> str:
        """Wait until it has played its games, and return its output."""
        assert self.process.wait(PATIENCE_SECONDS) == 0, self.said.read_text()
        return self.said.read_text()


def until(done: Callable[[], bool], what: str) -> None:
    """Wait for something that other processes do."""
    patience = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < patience, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.1)


def check_leaderboard(arena: Arena, names: Sequence[str]) -> None:
    """Assert that the leaderboard agrees with the games of the log, however it is requested."""
    games = [game for game in arena.games() if game["result"] != "*"]
    until(lambda: bool(arena.leaderboard()["games"] == len(games)), "the ratings are of all games")
    board = arena.leaderboard()
    rows = {row["name"]: row for row in board["leaderboard"]}
    assert rows.keys() == set(names)
    assert {row["version"] for row in rows.values()} == {1}
    players = {row["player"]: name for name, row in rows.items()}
    wins, played = Counter[str](), Counter[str]()
    for game in games:
        created = game["events"][0]
        assert (created["ranked"], created["versions"]) == (True, [1, 1])
        white, black = players[created["player_white"]], players[created["player_black"]]
        wins[{"1-0": white, "0-1": black}.get(game["result"], "")] += 1
        played.update((white, black))
    for name, row in rows.items():
        assert (row["games"], row["wins"]) == (played[name], wins[name])
        assert row["games"] == row["wins"] + row["draws"] + row["losses"]
    assert (rows["random"]["rating"], rows["random"]["deviation"], rows["random"]["anchor"]) == (ANCHOR, 0, True)
    ratings = [row["rating"] for row in board["leaderboard"]]
    assert ratings == sorted(ratings, reverse=True)
    del board["after"]
    assert json.loads(arena.gmd("leaderboard", "--json")) == board
    assert json.loads(arena.gmd("leaderboard", "--json", "--recompute", "--anchors", f"random={ANCHOR}")) == board


def test_concurrent_ranked_games_survive_a_kill_and_make_the_leaderboard(tmp_path: Path) -> None:
    names, at_once = ("random", "attacker"), 3
    with ExitStack() as stack:
        arena = Arena(tmp_path / "data", stack.enter_context(reserved_port()))
        with arena.daemon():
            for name in names:
                arena.register(name)
            bots = [stack.enter_context(arena.rc_connect(name, at_once)) for name in names]
            for bot in bots:
                bot.await_said("Playing game", at_once)
        with arena.daemon():  # the first daemon was killed
            for bot in bots:
                bot.drain()
            for bot in bots:
                said = bot.finish()
                assert "Received terminate signal" in said
                assert "Fatal error" not in said
            until(lambda: all(game["result"] != "*" or "ended" in game for game in arena.games()), "all games are over")
            games = Counter(game["result"] for game in arena.games())
            assert games["1-0"] + games["0-1"] + games["1/2-1/2"] >= at_once
            check_leaderboard(arena, names)
