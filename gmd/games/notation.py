"""Writing of PGN; :mod:`gmd.games.pgn_text` reads it."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import TypeVar

from msgspec import UNSET

from gm_protocol.endings import Ending
from gm_protocol.messages import ClockOption

_T = TypeVar("_T")

#: Lines wrapped between two yields: some hundred microseconds. (textwrap would take ten times as long.)
LINES_A_STEP = 50

#: Width of PGN's export format.
PGN_COLUMNS = 80

#: The text that fits in one line. It never ends within a command such as [%sense e7], or some readers would miss that.
_LINE = re.compile(rf"\S.{{0,{PGN_COLUMNS - 2}}}(?=\s(?!\S*\])|$)")


def write_pgn_steps(headers: Mapping[str, str], movetext: str, result: str) -> Generator[None, None, str]:
    """Write PGN in export format: one tag a line, an empty line, the moves and the result wrapped at 80 columns.

    It yields after every few lines.
    """
    tags = "".join(f'[{name} "{_escape(value)}"]\n' for name, value in headers.items())
    moves = movetext.replace(".", ". ").replace(". . . ", "... ")
    lines: list[str] = []
    for number, line in enumerate(_LINE.finditer(f"{moves} {result}".strip()), 1):
        lines.append(line[0].rstrip())
        if number % LINES_A_STEP == 0:
            yield
    wrapped = "\n".join(lines)
    return f"{tags}\n{wrapped}\n"


def run_through(steps: Generator[None, None, _T]) -> _T:
    """Run a generator to its end in one go, and return its value."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: _T = stop.value
            return result


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def pgn_termination(ending: Ending | None) -> str:
    """Return the value of PGN's Termination tag (9.8.1 of its standard); ``ending`` is None for a game in progress."""
    return "unterminated" if ending is None else ending.cause.value.pgn


def time_control(clock: ClockOption) -> str:
    """Return a time control as PGN writes it (9.6.1 of its standard), in seconds; decimals go beyond the standard."""
    if clock.initial is not UNSET:
        increment = clock.increment or 0
        return _decimal(clock.initial) + (f"+{_decimal(increment)}" if increment else "")
    assert clock.first_move is not UNSET
    assert clock.per_move is not UNSET
    return f"1/{_decimal(clock.first_move)}:1/{_decimal(clock.per_move)}"  # the first move, then each further move


def _decimal(seconds: float) -> str:
    return f"{seconds:.9f}".rstrip("0").rstrip(".")
