"""The operator's commands over the port for links, for anybody who can read the daemons' secret in the database.

That gives nobody a new right: with the secret one can be a daemon, which forwards the operator's requests as well.
"""

from __future__ import annotations

import trio

from gmd.logger import get_logger
from gmd.tcp.listener import SessionServer, peer_of

from .links import Links

logger = get_logger(__name__)

#: The role of such a connection in the handshake of links. Behind it are the frames of the game protocol.
ROLE = "operator"


def serve_operators(links: Links, operators: SessionServer) -> None:
    """Serve the operator's commands that come in over the port for links. Call it before the links run.

    :param operators: serves the operator's socket.
    """

    async def serve(stream: trio.abc.Stream, _sender: int) -> None:
        logger.info("an operator's command has connected to the port for links", peer=peer_of(stream))
        await operators.handle(trio.StapledStream(stream, stream))  # no limit by address applies to the operator

    links.on_connection(ROLE, serve)
