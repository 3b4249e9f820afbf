"""The interface of a store of shared matches."""

from __future__ import annotations

from typing import Protocol

from gm_protocol.errors import Internal
from gm_protocol.work import WorkShare

from .claim import Claim, OtherMatch


class MatchesNotWritten(Internal):
    """Raised when shared matches could not be read or written. If the connection to the database was lost, the
    request may have been carried out; the message says so."""


class MatchStore(Protocol):
    """A store of shared matches. Several daemons may call it for one match at the same time."""

    async def work(self, claim: Claim, *, begin: bool) -> WorkShare | OtherMatch | None:
        """Carry out a request, durably; a repeated one changes nothing more.

        :param begin: whether to begin the match if there is none; else the reply is then None, and nothing is done.
        :raises MatchesNotWritten: it failed.
        :raises gm_protocol.errors.Moved: another daemon has the lobby; nothing was done.
        """

    async def sweep(self) -> bool:
        """Remove some games of forgotten matches; return whether there may be more.

        :raises MatchesNotWritten: it failed.
        """
