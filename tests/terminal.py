"""Commands whose output is a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from tests.serving import environment


def own_terminal() -> None:
    """Make the standard input the controlling terminal of a new session, as a shell does, so that Ctrl-C interrupts."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def shown(command: Sequence[str], *, output: int | None = None, patience: float = 60, **variables: str) -> str:
    """Return what a successful command writes to a terminal, which is its standard error and, unless given, its output.

    :param output: a file that is its standard output.
    :param variables: further variables of its environment, in addition to a terminal's type.
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


#: Seconds of silence from a command before Ctrl-C is pressed again.
_PRESS_AGAIN_AFTER = 2.0


class Terminal:
    """A ``gmd`` command at a terminal of 80 columns and 40 lines: what it shows, and what is typed.

    :ivar status: its exit status, set when the ``with`` block has ended.
    """

    def __init__(self, *arguments: str, patience: float = 60, cwd: str | None = None, **variables: str) -> None:
        self._ours, theirs = pty.openpty()
        size = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40", "PYTHONIOENCODING": "utf-8"}
        self._patience = patience
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gmd", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment(), **size, **variables},
            cwd=cwd,
            preexec_fn=own_terminal,
        )
        os.close(theirs)
        self.status: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._process.kill()
        self.status = self._process.wait(self._patience)
        os.close(self._ours)

    def type(self, text: str) -> None:
        """Type a line."""
        self.press(f"{text}\n")

    def press(self, keys: str) -> None:
        """Press keys; ``\\x03`` is Ctrl-C, where the terminal is the command's own."""
        os.write(self._ours, keys.encode())

    def until(self, text: str) -> str:
        """Return what it shows up to a text, whatever its colours; bytes after it in the same read are included."""
        said = b""
        while text.encode() not in said and text not in plain(said.decode("utf-8", "replace")):
            assert self._shows_more(self._patience), said
            said += os.read(self._ours, 65_536)
        return said.decode()

    def rest(self) -> str:
        """Return what it shows until it has ended."""
        said = b""
        with suppress(OSError):  # Linux reports the closed end so
            while some := os.read(self._ours, 65_536):
                said += some
        return said.decode()

    def interrupt_until(self, text: str) -> str:
        """Press Ctrl-C and return what it shows, up to a text; press again while it shows nothing, as a person would.

        If an interrupt arrives between a prompt and the reading of a line, Python notices it only at the next key.
        """
        said = b""
        for _ in range(int(self._patience / _PRESS_AGAIN_AFTER)):
            self.press("\x03")
            while self._shows_more(_PRESS_AGAIN_AFTER):
                said += os.read(self._ours, 65_536)
                if text.encode() in said:
                    return said.decode()
        raise AssertionError(said)

    def _shows_more(self, within: float) -> bool:
        return bool(select.select([self._ours], [], [], within)[0])


def rest_of(terminal: int) -> str:
    """Return all that is written to a terminal until its other end is closed; close it then."""
    said = b""
    with suppress(OSError):  # Linux reports the closed end so
        while some := os.read(terminal, 65_536):
            said += some
    os.close(terminal)
    return said.decode()


def plain(said: str) -> str:
    """Return a text without colours and cursor movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
