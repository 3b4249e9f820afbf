"""The keyboard while a display runs that reads no keys."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

#: Indices of what ``termios.tcgetattr`` returns.
_LOCAL, _CHARACTERS = 3, 6


@contextmanager
def q_leaves() -> Iterator[bool]:
    """Turn off the echo of keys, and raise KeyboardInterrupt for ``q``, as for Ctrl-C.

    The terminal sends SIGQUIT for ``q`` meanwhile, so that ``q`` works whatever the program waits for. Other keys are
    discarded at the end.

    :returns: whether ``q`` works; False where standard input is no terminal, or another program is in the foreground.
    """
    terminal = _terminal()
    if terminal is None:
        yield False
        return
    handler = signal.signal(signal.SIGQUIT, signal.default_int_handler)
    before, quiet = termios.tcgetattr(terminal), termios.tcgetattr(terminal)
    quiet[_LOCAL] &= ~termios.ECHO
    quiet[_CHARACTERS][termios.VQUIT] = b"q"
    try:
        termios.tcsetattr(terminal, termios.TCSADRAIN, quiet)
        yield True
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
        signal.signal(signal.SIGQUIT, handler)


def _terminal() -> int | None:
    """Return the descriptor of the terminal, if this program is in its foreground."""
    if not sys.stdin.isatty():
        return None
    terminal = sys.stdin.fileno()
    try:
        return terminal if os.tcgetpgrp(terminal) == os.getpgrp() else None
    except OSError:  # a terminal of another session, which sends no signals here
        return None
