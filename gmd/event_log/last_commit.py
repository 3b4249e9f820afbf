"""A record of the last commit, in its own file: it reveals what is lost if the write-ahead log is lost.

It is written after a commit and not synced, which takes a microsecond. So it is never ahead of the log, and after a
power cut it may be some seconds behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from gmd.event_log.store import LAST_GAME_ID, GameAppend
from gmd.logger import get_logger

logger = get_logger(__name__)

#: The file in the data directory.
FILE_NAME = "last-commit"
_WIDTH = 20


class LastCommit(NamedTuple):
    """A game of the last commit, its number of events, and the highest id of a game at that time."""

    game_id: int
    events: int
    newest: int

    def encoded(self) -> bytes:
        """Return the content of the file, always of the same length."""
        return f"{' '.join(f'{number:{_WIDTH}}' for number in self)}\n".encode()


class Committed:
    """The source of each batch's :class:`LastCommit`."""

    def __init__(self) -> None:
        self._newest = 0

    def by(self, appends: Sequence[GameAppend]) -> bytes:
        """Return the content of the file after a commit of these appends; empty if it does not change."""
        if not appends:
            return b""
        self._newest = max(self._newest, max(append.game_id for append in appends))
        last = appends[-1]
        return LastCommit(last.game_id, last.expected + len(last.events), self._newest).encoded()


def read_last_commit(directory: Path) -> LastCommit | None:
    """Return the last commit in a directory; None if there is no valid record. Log one with impossible numbers."""
    try:
        numbers = [int(word) for word in (directory / FILE_NAME).read_text("ascii").split()]
    except (OSError, ValueError):
        return None
    if len(numbers) != len(LastCommit._fields):
        return None
    last = LastCommit(*numbers)
    if last.events > 0 and 0 < last.game_id <= last.newest < LAST_GAME_ID:
        return last
    logger.error(
        "the record of the last commit is damaged and ignored",
        file=str(directory / FILE_NAME),
        reason=f"no log has game {last.game_id} with {last.events} events, and {last.newest} as its newest game",
        advice="run gmd check: other files may be damaged, too",
    )
    return None


def what_is_missing(last: LastCommit | None, events_of: Callable[[int], int | None]) -> str | None:
    """Return what a log lacks of the last commit; None if it lacks nothing.

    :param events_of: returns the number of a game's events in the log; None if it was removed, 0 if it does not exist.
    """
    if last is None or (events := events_of(last.game_id)) is None or events >= last.events:
        return None
    return f"game {last.game_id} had {last.events} events on disk, and the log has {events or 'no such game'}"


def opened(directory: Path) -> int:
    """Return a descriptor to write the file with.

    :raises OSError: it cannot be created.
    """
    return os.open(directory / FILE_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
