"""The interface of a store of contests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gm_protocol.errors import Internal

from .contest import Contest


class ContestsNotWritten(Internal):
    """Raised when contests could not be made durable. If the connection to the database was lost, they
    may have been written; the message says so."""


class ContestStore(Protocol):
    """A store of contests. A call returns once its change is durable; calls are made one at a time."""

    async def load(self) -> list[Contest]:
        """Return every contest, in the order of their ids; damaged rows are logged and left out."""

    async def newest_id(self) -> int:
        """Return the highest id of any contest, even one with a damaged row; 0 without contests."""

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        """Store contests, new ones and changed ones, and remove others, all or nothing.

        :raises ContestsNotWritten: it failed; nothing was written, or nobody knows.
        """
