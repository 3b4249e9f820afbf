"""The keyboard while something is shown that waits for no keys."""

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
    """Show no key that is pressed, and raise KeyboardInterrupt for ``q``, as for Ctrl-C.

    The terminal sends SIGQUIT for ``q`` meanwhile, so that it works whatever the program waits for. What else was
    pressed is thrown away at the end.

    :returns: whether it does so; not where standard input is no terminal, or another program has it.
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
    """The descriptor of a terminal that this program is in the foreground of."""
    if not sys.stdin.isatty():
        return None
    terminal = sys.stdin.fileno()
    try:
        return terminal if os.tcgetpgrp(terminal) == os.getpgrp() else None
    except OSError:  # it is a terminal, and not that of this session: it would send no signals here
        return None
