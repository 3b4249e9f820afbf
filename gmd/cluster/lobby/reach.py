"""Whom the lobby's owner reaches. It needs the answers of all, so it keeps none that it cannot reach.

A daemon may live by its lease in the database while the others cannot connect to it: its address is wrong, or there is
a firewall or a cut between them.
"""

from __future__ import annotations

from collections.abc import Collection

import trio

from gmd.cluster.directory import CannotExpel, Directory
from gmd.cluster.link_messages import Done
from gmd.cluster.links import LinkLost, Links
from gmd.logger import get_logger

from .everybody import Everybody
from .messages import AreYouThere

logger = get_logger(__name__)

#: Seconds for a daemon that joins to be reached, and between two attempts.
JOINING_SECONDS = 3.0
AGAIN_SECONDS = 0.2
#: Seconds after which a daemon to which there is no link is expelled; and between two looks.
UNREACHABLE_SECONDS = 10.0
LOOK_SECONDS = 1.0
#: What to do, for operators.
ADVICE = "name an address at which the other servers reach this port with --reached-at"


class Reach:
    """The reach of one daemon as the lobby's owner."""

    def __init__(self, directory: Directory, links: Links, everybody: Everybody) -> None:
        self._directory = directory
        self._links = links
        self._everybody = everybody
        links.on_ask(AreYouThere, self._on_question)

    async def can_reach(self, daemon: int) -> bool:
        """Return whether a daemon that joins answers over a link to it, within seconds."""
        with trio.move_on_after(JOINING_SECONDS):
            while True:
                try:
                    await self._links.ask(daemon, AreYouThere())
                    return True
                except LinkLost:  # it may not be in the directory yet
                    with trio.move_on_after(AGAIN_SECONDS):
                        await self._directory.changed()
        return False

    async def watch(self) -> None:
        """Expel daemons that live and cannot be reached for long, until cancelled."""
        since: dict[int, float] = {}
        looked = trio.current_time()
        while True:
            await trio.sleep(LOOK_SECONDS)
            now, others = trio.current_time(), self._everybody.others()
            if now > looked + 2 * LOOK_SECONDS:
                since = {}  # this process stood still
            looked = now
            since = {daemon: since.get(daemon, now) for daemon in others if not self._links.reaches(daemon)}
            lost = [daemon for daemon, began in since.items() if now >= began + UNREACHABLE_SECONDS]
            if lost:
                await self._part(lost, len(others), len(since))

    async def _part(self, lost: Collection[int], others: int, unreached: int) -> None:
        """Expel daemons; or leave, if it is rather this one that has lost the others."""
        if others > 1 and 2 * (others - unreached) < others:
            logger.error(
                "this server has the lobby, and reaches fewer than half of the others: it joins anew",
                others=others,
                reached=others - unreached,
            )
            lost = [self._directory.me]
        else:
            for daemon in lost:
                peer = self._directory.peers().get(daemon)
                address = "" if peer is None else peer.link
                logger.error("another server cannot be reached and is expelled", address=address, advice=ADVICE)
        try:
            await self._directory.expel(lost)
        except CannotExpel as error:
            logger.warning("it could not be expelled", reason=str(error))

    async def _on_question(self, _ask: AreYouThere, _daemon: int) -> Done:
        return Done()
