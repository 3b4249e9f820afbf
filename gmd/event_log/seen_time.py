"""Where the time is noted by which games were last pruned: a file, or a row of a PostgreSQL database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from gmd.event_log.tables import clocks
from gmd.event_log.utc import read_time, write_time
from gmd.logger import get_logger

if TYPE_CHECKING:
    from gmd.event_log.sql import SqlStore

logger = get_logger(__name__)

#: The file in the data directory.
FILE_NAME = "last-seen"
#: The name of the row.
PRUNED = "pruned"


class SeenTime(Protocol):
    """A time that outlives the daemon, in seconds since 1970."""

    def read(self) -> float | None:
        """Return the time; None if none is noted."""

    def note(self, seconds: float) -> None:
        """Note the time."""


class SeenFile:
    """A file with the time as people write it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> float | None:
        try:
            return read_time(self._file.read_text("utf-8").strip())
        except (OSError, ValueError):
            return None

    def note(self, seconds: float) -> None:
        new = self._file.with_name(f"{self._file.name}.new")
        try:
            new.write_text(f"{write_time(seconds)}\n", "utf-8")
            os.replace(new, self._file)
        except OSError as error:
            logger.warning("the time of pruning cannot be noted", file=str(self._file), reason=error.strerror)


class SeenRow:
    """A row of a PostgreSQL database.

    Errors are the store's, as those of pruning itself.
    """

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def read(self) -> float | None:
        query = select(clocks.c.seen).where(clocks.c.name == PRUNED)
        return self._store.read(lambda connection: connection.execute(query).scalar())

    def note(self, seconds: float) -> None:
        row = insert(clocks).values(name=PRUNED, seen=seconds)
        row = row.on_conflict_do_update(index_elements=["name"], set_={"seen": seconds})
        self._store.write_beside(lambda connection: connection.execute(row))
