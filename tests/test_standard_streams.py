"""``gmd serve`` with closed standard descriptors, or with output that cannot be written: it serves all the same."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, SOCK_DGRAM, socket
from tempfile import TemporaryDirectory

import pytest
import trio

from tests.helpers import Client
from tests.serving import SERVE, START_SECONDS, STOP_SECONDS, children_of, environment, reserved_port

pytestmark = pytest.mark.slow


@contextmanager
def mute(redirection: str, *arguments: str, output: int | None = None) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run a daemon that cannot print where it listens, and yield its process and its port.

    :param redirection: what the shell does with its descriptors.
    :param output: the descriptor that it gets as standard output, unless the shell closes that.
    """
    with reserved_port() as port, TemporaryDirectory() as directory, socket(AF_UNIX, SOCK_DGRAM) as notifications:
        notifications.bind(f"{directory}/notify")
        notifications.settimeout(START_SECONDS)
        command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *SERVE, "--port", str(port), *arguments]
        env = environment({"NOTIFY_SOCKET": f"{directory}/notify"})
        with subprocess.Popen(command, env=env, stdout=output, stderr=subprocess.PIPE) as process:
            try:
                assert notifications.recv(100) == b"READY=1"
                yield process, port
            finally:
                process.kill()
                process.communicate()


async def client_of(port: int) -> Client:
    return Client(await trio.open_tcp_stream("127.0.0.1", port))


def standard_files(pid: int) -> list[str]:
    return [os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)]


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", ">&-", "<&- 2>&-"])
async def test_closed_descriptors_become_the_null_device_and_no_file_or_socket_gets_their_numbers(
    closed: str, tmp_path: Path
) -> None:
    with mute(closed, "--data", str(tmp_path)) as (process, port):
        client = await client_of(port)
        await client.ask("hello")
        await client.new_game()
        assert (await client.play(1, "e4"))["ply_index"] == 1
        files = standard_files(process.pid)
        (committer,) = children_of(process.pid)
        of_committer = standard_files(committer)
        await client.aclose()
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_SECONDS) == 0
    for number, redirection in enumerate(("<&-", " >&-", "2>&-")):
        if redirection in f" {closed}":
            assert files[number] == "/dev/null"
    assert [name.partition(":")[0] for name in of_committer] == ["pipe", "pipe", "/dev/null"]
    assert not [name for name in files if name.startswith(("socket", "anon_inode", str(tmp_path)))]


@pytest.fixture(params=["No space left on device", "Broken pipe"])
def failing_output(request: pytest.FixtureRequest) -> Iterator[tuple[int, str]]:
    """Yield a descriptor that cannot be written, and why."""
    if request.param == "Broken pipe":
        read, write = os.pipe()
        os.close(read)
    elif Path("/dev/full").exists():
        write = os.open("/dev/full", os.O_WRONLY)
    else:
        pytest.skip("this system has no /dev/full")
    yield write, request.param
    os.close(write)


async def test_unwritable_output_is_reported_and_the_daemon_serves(
    failing_output: tuple[int, str],
) -> None:
    output, reason = failing_output
    with mute("", output=output) as (process, port):
        client = await client_of(port)
        assert await client.ask("ping") == {"error": None}
        await client.aclose()
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=STOP_SECONDS)[1].decode()
    assert process.returncode == 0
    (line,) = [line for line in said.splitlines() if "standard output" in line]
    assert "standard output cannot be written: the daemon serves, and prints nothing" in line
    assert reason in line
    assert "Traceback" not in said
    assert "cannot listen" not in said
