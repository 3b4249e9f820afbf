"""gmcat and the shell around it: pipes, signals, options."""

from __future__ import annotations

import signal
import subprocess
import threading

import pytest

from tests.clients.running import GMCAT, PATIENCE, PING, address, ask, complaint, conversation
from tests.clients.scripted import Peer, answer_all, serving
from tests.ended import ended


def test_closed_output_pipe_ends_gmcat_quietly() -> None:
    """As with `gmcat ... | head -1`. A shell reports the status 141 for a program that SIGPIPE ended."""
    with serving(answer_all) as server, ended(conversation(server)) as process:
        assert process.stdout is not None
        ask(process, kind="ping")
        process.stdout.close()
        _, errors = process.communicate(PING.encode() + b"\n", timeout=PATIENCE)
    assert (process.returncode, errors) == (-signal.SIGPIPE, b"")


def test_interrupt_ends_gmcat_quietly() -> None:
    """A shell reports the status 130 for a program that SIGINT ended, and stops its own loop."""
    asked = threading.Event()

    def never_answer(peer: Peer, requests: list[bytes]) -> None:
        peer.read()
        asked.set()
        peer.read()

    with serving(never_answer) as server:
        command = [*GMCAT, *address(server), PING]
        with ended(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)) as process:
            assert asked.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (-signal.SIGINT, b"", b"")


def test_full_disk_exits_with_2() -> None:
    with serving(answer_all) as server, open("/dev/full", "wb") as full:
        run = subprocess.run([*GMCAT, *address(server), PING], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert complaint(run) == "standard input or output failed: No space left on device"


@pytest.mark.parametrize(
    "arguments",
    [["--port", "0"], ["--port", "65536"], ["--port", "x"], ["--timeout", "0"], ["--timeout", "nan"]],
)
def test_option_out_of_range_exits_with_2(arguments: list[str]) -> None:
    run = subprocess.run([*GMCAT, *arguments, PING], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].startswith(f"gmcat: error: argument {arguments[0]}: '{arguments[1]}' is not")
