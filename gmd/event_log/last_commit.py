"""What was last committed, in a file of its own: it tells what is lost where a write-ahead log is after a crash.

It is written after a commit and not synced, which takes a microsecond: so it is never ahead of the log, and after a
power cut perhaps some seconds behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from .store import GameAppend

#: The file in the data directory.
FILE_NAME = "last-commit"
_WIDTH = 20


class LastCommit(NamedTuple):
    """A game of the last commit, how many events it had, and the highest id of a game by then."""

    game_id: int
    events: int
    newest: int

    def encoded(self) -> bytes:
        """Return it as the file has it; always of the same length."""
        return f"{' '.join(f'{number:{_WIDTH}}' for number in self)}\n".encode()


class Committed:
    """Says what a batch leaves behind, as :class:`LastCommit` has it."""

    def __init__(self) -> None:
        self._newest = 0

    def by(self, appends: Sequence[GameAppend]) -> bytes:
        """Return the content of the file once these are committed; empty where it stays as it is."""
        if not appends:
            return b""
        self._newest = max(self._newest, max(append.game_id for append in appends))
        last = appends[-1]
        return LastCommit(last.game_id, last.expected + len(last.events), self._newest).encoded()


def read_last_commit(directory: Path) -> LastCommit | None:
    """Return what was last committed in a directory; None where nothing says so."""
    try:
        numbers = [int(word) for word in (directory / FILE_NAME).read_text("ascii").split()]
    except (OSError, ValueError):
        return None
    return LastCommit(*numbers) if len(numbers) == len(LastCommit._fields) else None


def what_is_missing(last: LastCommit | None, events_of: Callable[[int], int | None]) -> str | None:
    """Return what a log does not have of the last commit; None where it has that.

    :param events_of: how many events the log has of a game; None where it was removed, 0 where there is no such game.
    """
    if last is None or (events := events_of(last.game_id)) is None or events >= last.events:
        return None
    return f"game {last.game_id} had {last.events} events on disk, and the log has {events or 'no such game'}"


def opened(directory: Path) -> int:
    """Return a descriptor to write the file with.

    :raises OSError: it cannot be made.
    """
    return os.open(directory / FILE_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
