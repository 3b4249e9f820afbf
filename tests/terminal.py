"""Commands whose output is a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from tests.serving import environment


def shown(command: Sequence[str], *, output: int | None = None, patience: float = 60, **variables: str) -> str:
    """What a command that succeeds writes to a terminal that is its standard error, and its output unless told apart.

    :param output: a file that is its standard output.
    :param variables: of its environment, beside a terminal's type.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        env={**environment(), "TERM": "xterm", **variables},
        stdout=theirs if output is None else output,
        stderr=theirs,
    )
    os.close(theirs)
    said = rest_of(ours)
    assert process.wait(patience) == 0
    return said


def rest_of(terminal: int) -> str:
    """All that is written to it until nobody has its other end any more; it is closed then."""
    said = b""
    with suppress(OSError):  # how Linux says so
        while some := os.read(terminal, 65_536):
            said += some
    os.close(terminal)
    return said.decode()


def plain(said: str) -> str:
    """Without colours and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
