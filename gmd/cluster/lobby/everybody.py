"""Asking every living daemon, until each has answered or is dead."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import trio

from gm_protocol.errors import GmError
from gmd.cluster.directory import Directory
from gmd.cluster.link_messages import LinkMessage
from gmd.cluster.links import LinkLost, Links
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Seconds between two attempts.
AGAIN_SECONDS = 0.2
#: Seconds after which a daemon that has joined is in the directory, or is not there any more.
JOINING_SECONDS = 10.0


class Everybody:
    """All living daemons. A daemon counts as dead once the directory does not name it: then its lease is over, and it
    can neither write nor answer a client any more. One that lives and cannot be reached is expelled by
    :class:`~gmd.cluster.lobby.reach.Reach`.
    """

    def __init__(self, directory: Directory, links: Links) -> None:
        #: Daemons that have made themselves known and may not be in the directory yet, and until when they count.
        self._joining: dict[int, float] = {}
        self._directory = directory
        self._links = links

    def joins(self, daemon: int) -> None:
        """Count a daemon that the lobby's owner has reached; it may still be joining by the directory."""
        self._joining[daemon] = trio.current_time() + JOINING_SECONDS

    def others(self) -> set[int]:
        """Return all living daemons but this one, and but those that are still joining."""
        living = {daemon for daemon, peer in self._directory.peers().items() if not peer.joining}
        now = trio.current_time()
        self._joining = {
            daemon: until for daemon, until in self._joining.items() if daemon not in living and until > now
        }
        return {*living, *self._joining} - {self._directory.me}

    async def ask(self, message: Callable[[], LinkMessage], daemons: Iterable[int] | None = None) -> None:
        """Ask each daemon, and return once each has answered or is dead.

        :param message: makes the message, again for each attempt.
        :param daemons: whom to ask; None for all others.
        """
        async with trio.open_nursery() as nursery:
            for daemon in self.others() if daemons is None else daemons:
                nursery.start_soon(self._ask_one, daemon, message)

    async def _ask_one(self, daemon: int, message: Callable[[], LinkMessage]) -> None:
        while daemon == self._directory.me or daemon in self.others():
            try:
                await self._links.ask(daemon, message())
                return
            except LinkLost:
                pass
            except GmError as error:
                logger.warning("another daemon could not do what the lobby needs", daemon=daemon, reason=str(error))
            with trio.move_on_after(AGAIN_SECONDS):
                await self._directory.changed()
