"""The operator's request to any daemon of a database, over the port for links (:mod:`gmd.cluster.operating`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import trio

from gm_protocol.errors import BadFrame
from gm_protocol.framing import FrameDecoder, encode_frame

from .connecting import connected
from .handshake import HandshakeRefused, greet
from .leases import new_daemon_id
from .link_tls import Contexts, tls_refusal, under_tls
from .operating import ROLE

#: Seconds to connect to a daemon.
CONNECT_SECONDS = 3.0

_DAEMONS = """
    SELECT daemon, link FROM daemons WHERE until > clock_timestamp() AND NOT (joining OR draining OR expelled)
    ORDER BY began, daemon
"""


class NoDaemon(Exception):
    """An error: no daemon on a database can be asked; the request was not sent."""


class NoAnswer(Exception):
    """An error: the connection ended before the reply; nobody knows whether the request was carried out."""


class Port(NamedTuple):
    """A daemon's port for links.

    :ivar link: its address as host:port.
    """

    daemon: int
    link: str


def ask_a_daemon(url: str, request: bytes, max_reply: int, patience: float, certificate: Contexts | None) -> bytes:
    """Send the operator's request to a living daemon of a database, and return the body of its reply; block.

    :param url: the database's, as psycopg takes it.
    :param request: the body of the request.
    :param max_reply: the most bytes of the reply.
    :param patience: seconds to wait for it.
    :param certificate: puts TLS on the connection; None for plaintext, as between the daemons.
    :raises psycopg.Error: the database cannot be read.
    :raises NoDaemon: there is no daemon, or none can be reached.
    :raises NoAnswer: it is not known whether the request was carried out.
    """
    secret, ports = _read(url)
    if secret is None or not ports:
        raise NoDaemon("no daemon runs on it; start one with gmd serve --database")
    return trio.run(_ask, secret, ports, request, max_reply, patience, certificate)


def _read(url: str) -> tuple[bytes | None, list[Port]]:
    """Return the daemons' secret, and the ports of those that serve, the one that joined first at the top."""
    with connected(url, "gmd operator") as connection:
        found = connection.execute("SELECT value FROM secrets WHERE name = 'links'").fetchone()
        return None if found is None else bytes(found[0]), [Port(*row) for row in connection.execute(_DAEMONS)]


async def _ask(
    secret: bytes,
    ports: Sequence[Port],
    request: bytes,
    max_reply: int,
    patience: float,
    certificate: Contexts | None,
) -> bytes:
    stream = await _connected(secret, ports, certificate)
    try:
        with trio.move_on_after(patience):
            await stream.send_all(encode_frame(request))
            decoder = FrameDecoder(max_reply)
            while (body := decoder.next_frame()) is None:
                received = await stream.receive_some(1 << 16)
                if not received:
                    raise NoAnswer("the daemon closed the connection")
                decoder.feed(received)
            return bytes(body)
        raise NoAnswer(f"the daemon did not answer within {patience:g} seconds")
    except (trio.BrokenResourceError, BadFrame) as error:
        raise NoAnswer(f"the connection to the daemon broke: {error}") from error
    finally:
        await trio.aclose_forcefully(stream)


async def _connected(secret: bytes, ports: Sequence[Port], certificate: Contexts | None) -> trio.abc.Stream:
    """Return a connection to the first of some daemons that can be reached.

    :raises NoDaemon: none can; the message says why for each.
    """
    reasons = []
    for port in ports:
        try:
            with trio.fail_after(CONNECT_SECONDS):
                return await _greeted(secret, port, certificate)
        except trio.TooSlowError:
            reasons.append(f"{port.link}: no answer within {CONNECT_SECONDS:g} seconds")
        except (OSError, trio.BrokenResourceError, HandshakeRefused) as error:
            refused = tls_refusal(error) if isinstance(error, trio.BrokenResourceError) else None
            reasons.append(f"{port.link}: {refused or error}")
    raise NoDaemon(f"no daemon on it can be reached at its port for links: {'; '.join(reasons)}")


async def _greeted(secret: bytes, port: Port, certificate: Contexts | None) -> trio.abc.Stream:
    host, _, number = port.link.rpartition(":")
    stream: trio.abc.Stream = await trio.open_tcp_stream(host.strip("[]"), int(number))
    try:
        if certificate is not None:
            stream = await under_tls(stream, certificate.client, server_side=False)
        await greet(stream, secret, new_daemon_id(), port.daemon, ROLE)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return stream
