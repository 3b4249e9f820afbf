"""``gmd replay --follow`` follows games of a real daemon, as the daemon's spectator settings allow."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gm_client.blocking import Client, connect
from gmd.background import background_daemon
from gmd.config import Config
from tests.cli.commands import gmd
from tests.serving import Served, environment, reserved_port, served
from tests.terminal import Terminal, plain

PATIENCE = 60
HIDDEN = "The moves of this game of blind chess are hidden until it is over; then they are shown here. "


class Watching:
    """A running ``gmd replay --follow`` whose output is a pipe."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def lines(self, count: int) -> list[str]:
        """Return the next lines that it writes."""
        assert self._process.stdout is not None
        return [self._process.stdout.readline().rstrip("\n") for _ in range(count)]

    def ends(self) -> tuple[int, str, str]:
        """Return its exit status and its remaining output."""
        out, err = self._process.communicate(timeout=PATIENCE)
        return self._process.returncode, out, err


@contextmanager
def watching(port: int, *arguments: object, env: dict[str, str] | None = None) -> Iterator[Watching]:
    where = ["--server", f"127.0.0.1:{port}"]
    command = [sys.executable, "-m", "gmd", "replay", "--follow", *where, *map(str, arguments)]
    pipe = subprocess.PIPE
    environ = {**environment(env), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environ) as process:
        try:
            yield Watching(process)
        finally:
            process.kill()


def watched(port: int, game_id: int, *arguments: str) -> list[str]:
    """Return the lines of a finished game, as the command writes them in this process."""
    done = gmd("replay", "--follow", "--server", f"127.0.0.1:{port}", game_id, *arguments)
    assert done.status == 0, done.err
    return done.out.splitlines()


def play(client: Client, game_id: int, *moves: str, ply: int = 0) -> None:
    """Make moves for players 1 and 2, of whom the first is White."""
    for at, move in enumerate(moves, ply):
        client.move(game_id, move, player=1 + at % 2)


@pytest.mark.slow
def test_game_has_a_line_for_each_move(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        game_id = client.new_game(1, 2)["game_id"]
        play(client, game_id, "f3", "e5")
        with watching(daemon_process.port, game_id) as spectator:
            assert spectator.lines(4) == [f"game {game_id}: 1 – 2", "in progress", "1. f3", "1... e5"]
            client.move(game_id, "g4", player=1)
            assert spectator.lines(1) == ["2. g4"]
            client.move(game_id, "Qh4#", player=2)
            assert spectator.ends() == (0, "2... Qh4#\n0-1 checkmate\n", "")


@pytest.mark.slow
def test_game_begun_by_black_is_numbered_correctly(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        fen = "4k3/8/8/8/8/8/8/R3K3 b Q - 5 9"
        game_id = client.new_game(2, 1, fen=fen, clock={"initial": 7200, "increment": 60})["game_id"]
        for player in (1, 2):
            client.state(game_id, player=player)
        with watching(daemon_process.port, game_id) as spectator:
            assert spectator.lines(2) == [f"game {game_id}: 2 – 1", "in progress"]
            for number, (move, player) in enumerate([("Kd7", 1), ("O-O-O+", 2)]):
                client.move(game_id, move, player=player)
                (shown,) = spectator.lines(1)
                assert shown == ["9... Kd7", "10. O-O-O+"][number]
            client.end_game(game_id, "resignation_black", player=1)
            assert spectator.ends() == (0, "1-0 resignation\n", "")


@pytest.mark.slow
def test_following_without_an_id_shows_the_newest_live_game_and_names_its_players() -> None:
    with background_daemon(Config(port=0, data=":memory:")) as daemon, connect(port=daemon.port) as client:
        none = gmd("replay", "--follow", "--server", f"127.0.0.1:{daemon.port}")
        replay = f"gmd replay GAME --server 127.0.0.1:{daemon.port}"
        assert (none.status, none.out) == (1, "")
        assert none.err.endswith(f"Error: the server has no live game; {replay} shows a finished one\n")
        ada = client.register("ada")
        client.new_game(1, 2)
        newest = client.new_game(ada["player"], 5, player=ada["player"], key=ada["key"])["game_id"]
        over = client.new_game(1, 2)["game_id"]
        client.end_game(over, "resignation_white", player=1)
        with watching(daemon.port) as spectator:
            assert spectator.lines(2) == [f"game {newest}: ada – 5", "in progress"]


def blind_game(client: Client) -> int:
    return client.new_game(1, 2, variant="rbc", clock=None)["game_id"]


def blind_moves(client: Client, game_id: int) -> None:
    client.sense(game_id, "e7", player=1)
    client.move(game_id, "e2e4", player=1)
    client.sense(game_id, None, player=2)
    client.move(game_id, "d7d5", player=2)
    client.sense(game_id, "d5", player=1)
    client.move(game_id, "e4d5", player=1)


@pytest.mark.slow
def test_blind_chess_is_hidden_until_its_end(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        game_id = blind_game(client)
        with watching(daemon_process.port, game_id) as spectator:
            assert spectator.lines(2) == [f"game {game_id}: 1 – 2", "in progress, blind chess"]
            assert spectator.lines(1)[0].startswith(HIDDEN)
            blind_moves(client, game_id)
            client.end_game(game_id, "resignation_black", player=2)
            status, out, err = spectator.ends()
        assert (status, err) == (0, "")
        assert out.splitlines() == [
            "1. White senses e7",
            "1. White moves e4",
            "1... Black senses nothing",
            "1... Black moves d5",
            "2. White senses d5",
            "2. White moves exd5, and captures on d5  [1-0 resignation]",
            "1-0 resignation",
            f"gmd replay {game_id} --server 127.0.0.1:{daemon_process.port} "
            "steps through it, with what each player knew.",
        ]


@pytest.mark.slow
def test_spectator_must_show_the_key_when_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sesame\n")
    config = Config(port=0, data=":memory:", spectate="live", spectator_key="sesame", require_registration=True)
    with background_daemon(config) as daemon, connect(port=daemon.port) as client:
        ada = client.register("ada")
        own = {"player": ada["player"], "key": ada["key"]}
        game_id = client.new_game(own["player"], own["player"], variant="rbc", clock=None, **own)["game_id"]
        client.sense(game_id, "e7", seat="white", **own)
        client.move(game_id, "e2e4", seat="white", **own)
        with watching(daemon.port, game_id) as spectator:
            assert spectator.lines(3)[2].startswith(HIDDEN)
        for arguments, env in (((f"--spectator-key=@{tmp_path / 'key'}",), {}), ((), {"GM_SPECTATOR_KEY": "sesame"})):
            with watching(daemon.port, game_id, *arguments, env=env) as spectator:
                assert spectator.lines(3) == [f"game {game_id}: ada – ada", "in progress, blind chess", "1. e4"]
        wrong = gmd("replay", "--follow", "--server", f"127.0.0.1:{daemon.port}", game_id, "--spectator-key", "wrong")
        assert (wrong.status, wrong.out) == (2, "")
        words = "Error: spectator_key: the key is wrong, or this server has none; ask the operator for it\n"
        assert wrong.err.endswith(words)


@pytest.mark.slow
def test_following_survives_a_restart_of_the_daemon(tmp_path: Path) -> None:
    with reserved_port() as port:
        settings = ("--data", str(tmp_path), "--port", str(port))
        with served(*settings) as daemon:
            with connect(port=port) as client:
                game_id = client.new_game(1, 2)["game_id"]
                play(client, game_id, "e4")
            with watching(daemon.port, game_id) as spectator:
                assert spectator.lines(3) == [f"game {game_id}: 1 – 2", "in progress", "1. e4"]
                daemon.process.kill()
                daemon.process.wait(PATIENCE)
                with served(*settings), connect(port=port) as client:
                    play(client, game_id, "e5", ply=1)
                    assert spectator.lines(1) == ["1... e5"]


def test_last_line_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    data = tmp_path / "its data"
    with background_daemon(Config(port=0, data=str(data))) as daemon, connect(port=daemon.port) as client:
        game_id = blind_game(client)
        blind_moves(client, game_id)
        client.end_game(game_id, "resignation_black", player=2)
        for where in ([], ["--socket", str(data / "operator.sock")]):
            pasted = shlex.split(watched(daemon.port, game_id, *where)[-1].partition(" steps through it")[0])
            assert pasted[:3] == ["gmd", "replay", str(game_id)]
            done = gmd(*pasted[1:])
            assert done.status == 0, done.err
            assert done.out.startswith(f"game {game_id}: 1 – 2\n1-0 resignation, blind chess")


@pytest.mark.parametrize("command", [["replay", "--follow"], ["replay", "--follow", "3"], ["replay", "3"]])
def test_unreachable_server_is_reported_with_how_to_start_one(command: list[str]) -> None:
    done = gmd(*command, "--server", "127.0.0.1:1")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("Error: cannot connect to 127.0.0.1:1: ")
    assert done.err.endswith("\nStart a daemon with `gmd serve`, or name another one with --server HOST:PORT.\n")


def test_missing_game_or_key_file_is_reported(daemon_process: Served, tmp_path: Path) -> None:
    where = ("replay", "--follow", "--server", f"127.0.0.1:{daemon_process.port}")
    assert gmd(*where, 10**6) == (2, "", f"Error: game_id: there is no game {10**6}\n")
    done = gmd(*where, "--spectator-key", f"@{tmp_path / 'none'}")
    words = f"Error: --spectator-key: {tmp_path / 'none'}: No such file or directory"
    assert (done.status, done.err.splitlines()[-1]) == (2, words)


# In a terminal.


def on_terminal(daemon: Served, game_id: int) -> Terminal:
    where = ("--server", f"127.0.0.1:{daemon.port}")
    return Terminal("replay", "--follow", str(game_id), *where, COLUMNS="80", TERM="xterm-256color")


@pytest.mark.slow
def test_terminal_shows_a_coloured_board_with_the_last_move_and_the_clocks(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        game_id = client.new_game(1, 2, clock={"initial": 7200})["game_id"]
        for player in (1, 2):
            client.state(game_id, player=player)
        with on_terminal(daemon_process, game_id) as terminal:
            assert "\x1b[1;38;5;231;48;5;94m ♜ " in terminal.until("White to move")  # a white rook on a dark square
            play(client, game_id, "f3", "e5", "g4")
            assert re.search(r"White \d:\d\d:\d\d   Black \d:\d\d:\d\d", plain(terminal.until("2. g4")))
            client.move(game_id, "Qh4#", player=2)
            said = terminal.rest()
    assert terminal.status == 0
    assert "2... Qh4#" in plain(said)
    assert "0-1 checkmate" in plain(said)
    assert "\x1b[1;38;5;231;48;5;131m ♚ " in said, "the king in check, on red"
    assert not set("♔♕♖♗♘♙") & set(plain(said))


@pytest.mark.slow
def test_terminal_shows_the_end_of_blind_chess_from_all_three_views(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        game_id = blind_game(client)
        with on_terminal(daemon_process, game_id) as terminal:
            assert "♜" not in terminal.until("White to move")
            blind_moves(client, game_id)
            client.end_game(game_id, "resignation_black", player=2)
            said = plain(terminal.rest())
    assert "the truth" in said
    assert "2. White moves exd5, and captures on d5  [1-0 resignation]" in said


@pytest.mark.slow
def test_ctrl_c_leaves_the_watch(daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        game_id = client.new_game(1, 2)["game_id"]
    with on_terminal(daemon_process, game_id) as terminal:
        said = terminal.until("White to move")
        terminal.press("\x03")
        said += terminal.rest()
    assert terminal.status == 0
    assert "Traceback" not in said
