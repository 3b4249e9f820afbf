"""The options and the text form of servers' addresses on a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gm_client.blocking import DEFAULT_PORT, ConnectionLost, addresses

_F = TypeVar("_F", bound=Callable[..., Any])


def server_options(help: str, *, default: str | None = f"127.0.0.1:{DEFAULT_PORT}") -> Callable[[_F], _F]:
    """Return a decorator that adds the options for a server's address and for TLS.

    :param help: the help text of ``--server``.
    :param default: the address where the option is not given; None where the command can do without a server.
    """
    server = click.option(
        "--server",
        callback=read_addresses,
        default=default,
        metavar="HOST:PORT[,...]",
        show_default=default is not None,
        help=help,
    )
    tls = click.option("--tls", is_flag=True, help="Use TLS, and verify the server's certificate against its name.")
    trusted = "With --tls: trust the certificates in this PEM file instead of the system's."
    ca = click.option("--ca", metavar="FILE", help=trusted)
    return lambda command: server(tls(ca(command)))


def unreachable(error: ConnectionLost) -> str:
    """Return the error to show where a server was not reached, with advice where no server answered at all."""
    if error.sent or not str(error).startswith("cannot connect"):
        return str(error)
    return f"{error}\nStart a daemon with `gmd serve`, or name another one with --server HOST:PORT."


def server_arguments(server: str, tls: bool, ca: str | None, path: str | None) -> str:
    """Return the options that make another command ask the same server, quoted for a shell; empty for the default.

    :param path: the path of the operator's socket, used in place of the port.
    """
    if path is not None:
        return f" --socket {shlex.quote(path)}"
    where = "" if server == f"127.0.0.1:{DEFAULT_PORT}" else f" --server {shlex.quote(server)}"
    return where + (" --tls" if tls else "") + (f" --ca {shlex.quote(ca)}" if ca is not None else "")


def read_addresses(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """Return the list with a host and a port for each server; None where the option is not given."""
    try:
        return None if text is None else ",".join(address(*each) for each in addresses(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def address(host: str, port: int) -> str:
    """Return HOST:PORT, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
