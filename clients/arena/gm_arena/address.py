"""Where a server is, as it is written on a command line."""

from __future__ import annotations

import click

from gm_client.blocking import DEFAULT_PORT


def read_address(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[str, int] | None:
    """HOST:PORT, HOST, or :PORT; an IPv6 address stands in brackets. None where nothing is given."""
    if text is None:
        return None
    has_port = ":" in text.rpartition("]")[2]
    host, _, port = text.rpartition(":") if has_port else (text, "", str(DEFAULT_PORT))
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise click.BadParameter(f"{text!r} is not HOST:PORT, with a port from 1 to 65535")
    return host.strip("[]") or "127.0.0.1", int(port)
