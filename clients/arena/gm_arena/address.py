"""Where a server is, as it is written on a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gm_client.blocking import DEFAULT_PORT, ConnectionLost

_F = TypeVar("_F", bound=Callable[..., Any])


def server_options(help: str, *, default: str | None = f"127.0.0.1:{DEFAULT_PORT}") -> Callable[[_F], _F]:
    """The options that say where a server is, and how it is spoken to.

    :param help: what ``--server`` is for.
    :param default: where it is if nobody says so; None where a command does without.
    """
    server = click.option(
        "--server",
        callback=read_address,
        default=default,
        metavar="HOST:PORT",
        show_default=default is not None,
        help=help,
    )
    tls = click.option("--tls", is_flag=True, help="Speak TLS, and check that the server is the one named.")
    trusted = "With --tls: trust these certificates, in place of the system's."
    ca = click.option("--ca", metavar="FILE", help=trusted)
    return lambda command: server(tls(ca(command)))


def unreachable(error: ConnectionLost) -> str:
    """Return what to say where a server was not reached: what to do, if there is none at all."""
    if error.sent or not str(error).startswith("cannot connect"):
        return str(error)
    return f"{error}\nStart a daemon with `gmd serve`, or name another one with --server HOST:PORT."


def server_arguments(server: tuple[str, int], tls: bool, ca: str | None, path: str | None) -> str:
    """Return the options behind another command that is to ask the same server, for a shell; empty for the default.

    :param path: of the operator's socket, in place of the port.
    """
    if path is not None:
        return f" --socket {shlex.quote(path)}"
    host, port = server
    named = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    where = "" if named == f"127.0.0.1:{DEFAULT_PORT}" else f" --server {shlex.quote(named)}"
    return where + (" --tls" if tls else "") + (f" --ca {shlex.quote(ca)}" if ca is not None else "")


def read_address(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[str, int] | None:
    """HOST:PORT, HOST, or :PORT; an IPv6 address stands in brackets. None where nothing is given."""
    if text is None:
        return None
    has_port = ":" in text.rpartition("]")[2]
    host, _, port = text.rpartition(":") if has_port else (text, "", str(DEFAULT_PORT))
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise click.BadParameter(f"{text!r} is not HOST:PORT, with a port from 1 to 65535")
    return host.strip("[]") or "127.0.0.1", int(port)
