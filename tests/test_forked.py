"""A forked ``gmd`` command is as one that an operator starts."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ended import ended
from tests.fork_server import own_terminal
from tests.forked import HAND_DOWN, ROOT, real_starts
from tests.serving import STOP_SECONDS, environment, served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fork server needs Linux")

GMD = [sys.executable, "-m", "gmd"]
COMMANDS = (["--version"], ["--help"], ["nonsense"], ["players", "--data", "nowhere"], ["serve", "--port", "x"])


#: A bot's process with Python's flags, and one whose output is buffered; the first cannot find its bot.
BOTS = (
    ["-P", "-u", "-m", "gm_arena.reconchess_host", "no.such_bot"],
    ["-P", "-m", "gm_bots.minimax"],
)


def is_forked(process: subprocess.Popen[str]) -> bool:
    return b"tests.fork_server" in Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")


def ran(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run([*GMD, *arguments], env=environment(), cwd=cwd, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_forked_command_says_and_returns_the_same(arguments: list[str], tmp_path: Path) -> None:
    forked = ran(*arguments, cwd=tmp_path)
    with real_starts():
        assert ran(*arguments, cwd=tmp_path) == forked


@pytest.mark.parametrize("words", BOTS, ids=" ".join)
def test_forked_process_of_a_bot_writes_and_returns_the_same(words: list[str]) -> None:
    def played() -> tuple[bool, int, str, str]:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with ended(subprocess.Popen([sys.executable, *words], text=True, **streams)) as process:
            forked = is_forked(process)
            out, err = process.communicate("uci\nisready\nquit\n")
            return forked, process.returncode, out, err

    forked, *written = played()
    assert forked
    with real_starts():
        assert played() == (False, *written)


def test_forked_process_begins_in_the_directory_of_the_one_that_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with served() as daemon:
        assert is_forked(daemon.process)
        assert Path(f"/proc/{daemon.process.pid}/cwd").resolve() == tmp_path


def test_daemon_is_forked_with_its_own_directory_variables_and_mask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with served("--data", "games", env={"GMD_BOTS": "random"}, cwd=tmp_path) as daemon:
            assert is_forked(daemon.process)
            assert os.getpgid(daemon.process.pid) == os.getpgid(0)
            assert (tmp_path / "games" / "games.sqlite").exists()
            assert any("invites them, 2 games at a time: random" in line for line in daemon.lines)
            assert "Umask:\t0027" in Path(f"/proc/{daemon.process.pid}/status").read_text()
    finally:
        os.umask(before)


def test_forked_daemon_has_only_its_own_descriptors() -> None:
    def kinds(pid: int) -> list[str]:
        return sorted(os.readlink(f"/proc/{pid}/fd/{name}").partition(":")[0] for name in os.listdir(f"/proc/{pid}/fd"))

    with served() as forked, real_starts(), served() as started:
        assert kinds(forked.process.pid) == kinds(started.process.pid)
        assert not is_forked(started.process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_signal_that_ends_a_forked_daemon_is_its_status(number: signal.Signals) -> None:
    with served() as daemon:
        assert is_forked(daemon.process)
        assert daemon.stop(number) == -number


@pytest.mark.real_start
def test_marked_test_starts_a_real_program() -> None:
    with served() as daemon:
        assert not is_forked(daemon.process)


def test_variable_of_python_needs_a_real_start() -> None:
    with served(env={"PYTHONHASHSEED": "1"}) as daemon:
        assert not is_forked(daemon.process)


def test_new_session_and_group_are_its_own() -> None:
    for options in ({"start_new_session": True}, {"process_group": 0}):
        command = [*GMD, "serve", "--port", "0"]
        with ended(subprocess.Popen(command, env=environment(), stdout=-1, stderr=-1, **options)) as one:
            assert one.stdout is not None
            one.stdout.readline()
            assert os.getpgid(one.pid) == one.pid
            assert (os.getsid(one.pid) == one.pid) == ("start_new_session" in options)
            one.kill()
            one.communicate()


#: A program that adopts orphans, and whose child forks for it; it prints the exit statuses of its children.
ASKER = """
import ctypes, os, sys
from tests import fork_server

if sys.argv[1] == "no clone":
    fork_server.CLONE.clear()
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
server = os.fork()
if server == 0:
    os._exit(7 if fork_server.fork_for_parent() == 0 else 3)
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)))
"""


@pytest.mark.parametrize("way", ["clone", "no clone"])
def test_fork_server_forks_children_for_its_parent(way: str) -> None:
    done = subprocess.run([sys.executable, "-c", ASKER, way], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3, 7]\n", "")


def test_forked_daemon_is_handed_its_sockets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        numbers = [one.fileno(), other.fileno()]
        prefix = [sys.executable, "-c", HAND_DOWN, "2", *map(str, numbers), "game:game"]
        with served(prefix=prefix, pass_fds=numbers) as daemon:
            assert is_forked(daemon.process)
            ports = [str(each.getsockname()[1]) for each in (one, other)]
            assert [line.rpartition(":")[2] for line in daemon.lines if " listening on " in line] == ports


def test_forked_command_has_its_own_terminal() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "rb"):
        streams = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [*GMD, "serve", "--port", "0"]
        with ended(subprocess.Popen(command, env=environment(), preexec_fn=own_terminal, **streams)) as one:
            assert is_forked(one)
            assert one.stdout is not None
            one.stdout.readline()
            assert os.getsid(one.pid) == one.pid
            assert int(Path(f"/proc/{one.pid}/stat").read_text().split()[6]) == os.stat(theirs).st_rdev
            os.write(ours, b"\x03")
            assert one.wait(STOP_SECONDS) == 0


def test_streams_of_a_forked_command_have_the_encoding_that_a_variable_names(tmp_path: Path) -> None:
    def said() -> tuple[int, bytes]:
        command = [*GMD, "players", "--data", "nowhere: ä, ж"]
        env = {**environment(), "PYTHONIOENCODING": "latin-1"}
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True)
        return done.returncode, done.stderr

    forked = said()
    assert "nowhere: ä, \\u0436".encode("latin-1") in forked[1]
    with real_starts():
        assert said() == forked


async def test_two_forked_daemons_draw_different_keys() -> None:
    keys = []
    for _ in range(2):
        with served() as daemon:
            async with daemon.client() as client:
                keys.append((await client.ask("register", name="one"))["key"])
    assert keys[0] != keys[1]
