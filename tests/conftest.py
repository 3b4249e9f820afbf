"""What the tests of every room share."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import settings

# A busy machine is not a failure, and two ordinary runs of one commit try the same examples. The full proofs,
# run by hand and for long, try new ones each time; what they find they print, to be tried again.
settings.register_profile("ordinary", deadline=None, derandomize=True)
settings.register_profile("full", deadline=None, print_blob=True)
settings.load_profile("full" if os.environ.get("GMD_PROOF") == "full" else "ordinary")

#: Seconds a daemon may take to start on a loaded machine.
START_SECONDS = 30

#: Seconds a daemon may take to end after SIGTERM; it promises this much.
STOP_SECONDS = 5


@dataclass(frozen=True)
class DaemonProcess:
    """A daemon that runs in a process of its own, and where it listens."""

    host: str
    port: int
    process: subprocess.Popen[str]


@pytest.fixture(scope="session")
def daemon_process() -> Iterator[DaemonProcess]:
    """One daemon for the whole run, on a free port; tests are told apart by the games they make."""
    command = [sys.executable, "-m", "gmd", "serve", "--port", "0", "--data", ":memory:"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GMD_")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            host, port = _listening_address(process)
            yield DaemonProcess(host, port, process)
            process.terminate()
            assert process.wait(STOP_SECONDS) == 0
        finally:
            process.kill()  # does nothing to a process that has ended


def _listening_address(process: subprocess.Popen[str]) -> tuple[str, int]:
    """Host and port from the daemon's first line."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
    assert ready, f"gmd serve printed nothing in {START_SECONDS} seconds"
    line = process.stdout.readline()
    match = re.fullmatch(r"gmd \S+ listening on (\S+):(\d+)\n", line)
    assert match, f"gmd serve began with {line!r}"
    return match[1], int(match[2])
