"""Joining the daemons that share a database. What needs PostgreSQL's driver is imported only where there is one."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING

import trio

from gmd.cluster.directory import Peer
from gmd.config import Config
from gmd.event_log.directory import DataError
from gmd.link_certificate import link_certificate_of
from gmd.listening import CannotListen, bound, listening
from gmd.web import Web

if TYPE_CHECKING:
    from gmd.cluster.member import Member
    from gmd.cluster.membership import Membership


def membership_of(config: Config) -> Membership | None:
    """Return this daemon's membership, which it has not joined yet; None without a database."""
    if config.database is None:
        return None
    try:
        from gmd.cluster.connecting import plain_url
        from gmd.cluster.membership import Membership
    except ModuleNotFoundError:
        return None  # opening the log says that the driver is missing

    return Membership(plain_url(config.database))


def member_of(config: Config, membership: Membership) -> Member:
    """Return this daemon among the others; block for a moment.

    :raises ConfigError: the certificate of links cannot be used.
    :raises DataError: the database cannot be used.
    """
    import psycopg

    from gmd.cluster.connecting import plain_url
    from gmd.cluster.member import Member

    assert config.database is not None
    certificate = link_certificate_of(config)
    try:
        return Member(membership, plain_url(config.database), certificate, gives_home=gives_home(config))
    except psycopg.Error as error:
        raise DataError(f"database: it cannot be used: {str(error).strip()}") from error


@asynccontextmanager
async def joined(
    member: Member | None,
    config: Config,
    listeners: Sequence[trio.SocketListener],
    web: Web,
    sockets: Sequence[socket.socket] = (),
) -> AsyncIterator[Sequence[trio.SocketListener]]:
    """Join the other daemons, and give the listeners for links; do nothing without a member. :func:`belonging` follows.

    No nursery may be open around it yet, which would wrap its errors in groups.

    :param listeners: the game port's.
    :param sockets: listening sockets for links, in place of the configuration's address.
    :raises DataError: the database cannot be used, or the daemon cannot listen for links.
    """
    if member is None:
        yield ()
        return
    import psycopg

    host = reached_at(config)
    async with _listening_for_links(config, sockets) as links:
        game = listeners[0].socket.getsockname()[1]
        http = None if web.http is None else f"{_bracketed(host)}:{web.http.addresses[0][1]}"
        link = links[0].socket.getsockname()[1]
        peer = Peer(f"{_bracketed(host)}:{link}", f"{_bracketed(host)}:{game}", http)
        try:
            await member.join(peer)
        except psycopg.Error as error:
            raise DataError(f"database: it cannot be used: {str(error).strip()}") from error
        yield links


@asynccontextmanager
async def belonging(member: Member | None, links: Sequence[trio.SocketListener]) -> AsyncIterator[None]:
    """Be one of the daemons, which were :func:`joined`, for as long as the context is open."""
    if member is None:
        yield
        return
    async with member.running(links):
        yield


def reached_at(config: Config) -> str:
    """Return the host by which others reach this daemon."""
    if config.reached_at is not None:
        return config.reached_at
    return socket.gethostname() if _listens_everywhere(config) else config.link_host


def gives_home(config: Config) -> bool:
    """Return whether replies say in ``home`` where the owner of a game is.

    The name of a machine, which may be a container's, is known to the other daemons, but hardly to clients.
    """
    return config.home and (config.reached_at is not None or not _listens_everywhere(config))


def _listens_everywhere(config: Config) -> bool:
    try:
        return ip_address(config.link_host).is_unspecified
    except ValueError:
        return False


@asynccontextmanager
async def _listening_for_links(
    config: Config, sockets: Sequence[socket.socket]
) -> AsyncIterator[Sequence[trio.SocketListener]]:
    try:
        async with listening(config.link_host, config.link_port, sockets) as listeners:
            yield listeners
    except CannotListen as error:
        raise _cannot_listen(config, error) from error


async def bound_links(config: Config) -> list[socket.socket]:
    """Return new listening sockets for links; see :func:`gmd.listening.bound`.

    :raises DataError: listening on the address has failed.
    """
    try:
        return await bound(config.link_host, config.link_port)
    except CannotListen as error:
        raise _cannot_listen(config, error) from error


def _cannot_listen(config: Config, error: CannotListen) -> DataError:
    return DataError(
        f"link_port: cannot listen on {config.link_host}:{config.link_port}: {error.strerror}. Name another port "
        "with --link-port (0 takes a free one), or an address of this machine with --link-host"
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
