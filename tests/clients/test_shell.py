"""The bot in bash, and the README next to it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from signal import SIGKILL

import pytest

from tests.clients.other_languages import ROOT, examples_of
from tests.clients.running import PATIENCE, gmcat, replies
from tests.ended import ended
from tests.serving import Served, reserved_port, served
from tests.tools import require_tool

pytestmark = pytest.mark.slow

SHELL = ROOT / "clients" / "shell"
BOT = SHELL / "rbc_bot.sh"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(autouse=True)
def _tools() -> None:
    for tool in ("bash", "jq"):
        require_tool(tool)


def bot(*arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([BOT, *arguments], env={**os.environ, "PATH": PATH}, stdout=pipe, stderr=pipe, text=True)


def test_two_bots_play_a_game_to_its_end(daemon_process: Served) -> None:
    new = '{"kind":"new_game","player_white":31,"player_black":32,"variant":"rbc","max_turns":6}'
    game = str(replies(gmcat(daemon_process, new))[0]["game_id"])
    port = ["--port", str(daemon_process.port)]
    bots = [bot(*port, "--player", player, "--game", game) for player in ("31", "32")]
    outputs = [each.communicate(timeout=4 * PATIENCE) for each in bots]
    assert [each.returncode for each in bots] == [0, 0]
    (first, errors), second = outputs
    assert (first, errors) == second
    assert errors == ""
    assert re.fullmatch(rf"game {game}\n(1-0 victory_white|0-1 victory_black|1/2-1/2 draw_turn_limit)\n", first)


def test_game_goes_on_at_a_daemon_on_the_second_port(tmp_path: Path) -> None:
    """The first daemon is killed while White waits for Black's first turn."""
    data = ("--data", str(tmp_path), "--port")
    with reserved_port() as one, reserved_port() as two:
        servers = ["--server", f"127.0.0.1:{one},127.0.0.1:{two}", "--timeout", "100"]
        with served(*data, str(one)) as daemon:
            new = '{"kind":"new_game","player_white":1,"player_black":2,"variant":"rbc","max_turns":3}'
            game = str(replies(gmcat(daemon, new))[0]["game_id"])
            first = bot(*servers, "--player", "1", "--game", game)
            gmcat(daemon, "--player", "2", f'{{"kind":"wait","game_id":{game}}}')
            daemon.stop(SIGKILL)
        with served(*data, str(two)), ended(first), ended(bot(*servers, "--player", "2", "--game", game)) as second:
            outputs = [each.communicate(timeout=PATIENCE) for each in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0]
    assert outputs[0] == outputs[1]
    assert outputs[0][1] == ""


def test_missing_game_and_absent_server_are_errors(daemon_process: Served) -> None:
    for port, error in (
        (daemon_process.port, "rbc_bot: game_id: there is no game 9999999\n"),
        (1, "gmcat: cannot reach port 1 of 127.0.0.1"),
    ):
        with ended(bot("--port", str(port), "--player", "1", "--game", "9999999")) as process:
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1
        assert error in err


def test_missing_option_is_named(daemon_process: Served) -> None:
    for arguments in ([], ["--player", "1", "--game", "1", "--opponent", "2"]):
        with ended(bot(*arguments)) as process:
            _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (2, "rbc_bot: give --player ID, and either --opponent ID or --game ID\n")
    with ended(bot("--port", str(daemon_process.port), "--player", "my-bot", "--opponent", "2")) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (2, "rbc_bot: --player my-bot: with --opponent, give the player's number\n")


def test_readme_commands_run(daemon_process: Served, tmp_path: Path) -> None:
    (commands,) = examples_of(SHELL / "README.md", "sh")
    *printed, listed = run_example(commands, daemon_process, tmp_path)
    lines = sorted(printed)
    assert len(lines) == 4
    assert lines[0::2] == lines[1::2]
    termination = max(lines).split()[1] if "victory" in max(lines) else "draw_turn_limit"
    assert listed == f'["over","{termination}"]'
    assert (tmp_path / "my-bot.key").stat().st_mode & 0o077 == 0


def run_example(commands: str, daemon: Served, directory: Path) -> list[str]:
    text = commands.replace("7100", str(daemon.port)).replace("./rbc_bot.sh", str(BOT))
    command = ["bash", "-euc", text]
    done = subprocess.run(command, cwd=directory, env={**os.environ, "PATH": PATH}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_bot_creates_a_game_and_notices_its_end(daemon_process: Served) -> None:
    with ended(bot("--port", str(daemon_process.port), "--player", "33", "--opponent", "34")) as process:
        assert process.stdout is not None
        game = process.stdout.readline().split()[1]
        resign = f'{{"kind":"end_game","game_id":{game},"termination":"resignation_black"}}'
        assert gmcat(daemon_process, "--player", "34", resign).returncode == 0
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "1-0 resignation_black\n")
    assert err in {"", f"rbc_bot: game {game} is over: resignation_black\n"}  # the bot may have been about to act
