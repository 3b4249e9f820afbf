"""The HTTP side of a daemon that is one of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import trio
from hypercorn.typing import ASGIFramework

from gmd.cluster.link_messages import LinkMessage
from gmd.config import Config
from gmd.http.server import HttpServer
from gmd.http.shortcut import Shortcut
from gmd.proxies import Proxies
from gmd.services import Cluster, Services

from .entry import EntryApp, EntryShortcut
from .owner import OwnerApp, OwnerShortcut
from .peers import ROLE
from .proxy import Proxy

if TYPE_CHECKING:
    from gmd.http.pages.live_hub import LiveHub
    from gmd.http.pages.site import Site

#: Seconds between two looks at lists for their readers: other daemons report games that begin and end, but no moves.
LISTS_SECONDS = 2.0
#: Every address: connections of other daemons carry the requests of many clients, and count for no address.
_EVERYBODY = "0.0.0.0/0,::/0"


class SignedOut(LinkMessage, frozen=True, gc=False):
    """The note that a visitor has signed out, whose streams end."""

    cookie: str


class OtherDaemons:
    """What the HTTP side of a daemon has because there are others.

    :ivar app: the application for clients.
    :ivar shortcut: answers plain requests of clients.
    :ivar proxy: passes requests on.
    :ivar server: the connections of other daemons.
    """

    def __init__(
        self,
        config: Config,
        services: Services,
        cluster: Cluster,
        app: ASGIFramework,
        shortcut: Shortcut,
        site: Site | None,
    ) -> None:
        """:param app: the application of this daemon alone, and ``shortcut`` its shortcut."""
        limits = services.limits
        self.proxy = Proxy(cluster.directory, cluster.links, limits.frame_seconds)
        self.app = cast(ASGIFramework, EntryApp(app, self.proxy, cluster.http_counts))
        self.shortcut = EntryShortcut(shortcut, self.proxy, cluster.http_counts)
        self._owner_app = cast(ASGIFramework, OwnerApp(app, self.proxy))
        self._owner_shortcut = OwnerShortcut(shortcut, self.proxy)
        # All limits of clients' connections are their entry daemon's.
        self.server = HttpServer(
            limits,
            config.http_max_connections,
            services.memory,
            services.patience,
            Proxies.parse(_EVERYBODY),
            scheduler=services.scheduler,
            for_daemons=True,
        )
        cluster.links.on_connection(ROLE, self._serve)
        self._links = cluster.links
        self._live = None if site is None else site.live
        if site is not None:
            live = site.live
            live.tell_others = self._tell_signed_out
            cluster.links.on_note(SignedOut, lambda note, _daemon: live.signed_out(note.cookie))

    async def run(self, connections: trio.Nursery) -> None:
        """Pass requests on, and take those of other daemons, until cancelled.

        :param connections: runs what those connections need until they have ended.
        """
        self.server.begin(connections)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.proxy.run)
            if self._live is not None:
                nursery.start_soon(self._look_at_lists, self._live)

    @staticmethod
    async def _look_at_lists(live: LiveHub) -> None:
        while True:
            await trio.sleep(LISTS_SECONDS)
            live.look_at_lists()

    def _tell_signed_out(self, cookie: str) -> None:
        for daemon, peer in self.proxy.directory.peers().items():
            if peer.http is not None and daemon != self.proxy.directory.me:
                self._links.tell(daemon, SignedOut(cookie))

    async def _serve(self, stream: trio.abc.Stream, _daemon: int) -> None:
        assert isinstance(stream, trio.SocketStream)
        await self.server.serve(stream, self._owner_app, self._owner_shortcut)
