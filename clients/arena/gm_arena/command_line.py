"""Options that several of the arena's commands share, and their parsers."""

from __future__ import annotations

import os
import re
import shlex
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from gm_client.blocking import DEFAULT_PORT, ConnectionLost, addresses
from gm_protocol.clock_text import CLOCK_TEXTS, read_clock_text
from gm_protocol.messages import Variant

from .pool import LOCAL

#: The variable that may hold a key, to keep it out of the list of running programs; gmcat reads it too.
KEY_VARIABLE = "GM_KEY"

#: A number of seconds above 0.
POSITIVE = click.FloatRange(0, min_open=True)

_MOVES_IN_TIME = re.compile(r"(?P<first>\d+(?:\.\d+)?)/(?P<rest>\d+(?:\.\d+)?)(?P<increment>\+\d+(?:\.\d+)?)?")

#: Every variant.
VARIANTS = click.Choice(get_args(Variant))


def read_clock(ctx: click.Context, param: click.Parameter, text: str | None) -> dict[str, float] | None:
    """Return the ``clock`` field of ``new_game``; empty for no clock, None where the option is not given."""
    try:
        return None if text is None else parse_clock(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is {error}") from None


def parse_clock(text: str) -> dict[str, float]:
    """Parse the clock of an option; empty for no clock.

    Elsewhere ``40/60`` is 60 seconds for 40 moves, which no clock of ours is. It is refused, and so is every clock that
    gives less time to the first move than to each later one.

    :raises ValueError: with what the text is.
    """
    if text == "none":
        return {}
    if (moves := _MOVES_IN_TIME.fullmatch(text)) and (
        moves["increment"] or float(moves["first"]) < float(moves["rest"])
    ):
        raise ValueError(
            f"a time for {moves['first']} moves, which cannot be played: write the time for the whole game, "
            f"{moves['rest']}{moves['increment'] or ''}, or the seconds for the first and each later move, 1/0.05"
        )
    try:
        clock = read_clock_text(text)
    except ValueError:
        clock = {}
    if not clock or not all(seconds or name == "increment" for name, seconds in clock.items()):
        raise ValueError(f"no clock: write {CLOCK_TEXTS}, or none, with times above 0")
    return clock


def read_ray(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """Return the address of a Ray cluster; None where the option is not given."""
    if text is None or text in (LOCAL, "auto") or text.rpartition(":")[2].isdecimal():
        return text
    raise click.BadParameter(f"{text!r} is none of HOST:PORT, auto and local; without a value, --ray comes last")


def who_plays(player: str, key: str | None) -> dict[str, Any]:
    """Return the fields of ``hello`` for a player given by number or by registered name."""
    number = player.removeprefix("-").isdecimal()
    who: dict[str, Any] = {"player": int(player)} if number else {"name": player}
    key = read_key(key, KEY_VARIABLE, "--key")
    return {**who, "key": key} if key else who


def read_key(key: str | None, variable: str, option: str) -> str | None:
    """Return a key given as itself or as @FILE; where it is not given, the value of an environment variable.

    :raises click.UsageError: the file cannot be read, or is empty.
    """
    key = os.environ.get(variable) if key is None else key
    if key is None or not key.startswith("@"):
        return key
    try:
        found = Path(key[1:]).read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise click.UsageError(f"{option}: {key[1:]}: {getattr(error, 'strerror', None) or error}") from None
    if not found:
        raise click.UsageError(f"{option}: {key[1:]}: the file is empty; it should hold the key")
    return found


def read_options(texts: Iterable[str]) -> dict[str, str]:
    """Return the options given as ``--option NAME=VALUE``."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--option: {text!r} is not NAME=VALUE")
        options[name] = value
    return options


# --- Servers -----------------------------------------------------------------------------------------------------


_F = TypeVar("_F", bound=Callable[..., Any])


def server_options(help: str, *, default: str | None = "127.0.0.1") -> Callable[[_F], _F]:
    """Return a decorator that adds the options for a server's address and for TLS.

    :param help: the help text of ``--server``.
    :param default: the address where the option is not given; None where the command can do without a server.
    """
    port = click.option(
        "--port",
        type=click.IntRange(1, 65535),
        default=DEFAULT_PORT,
        show_default=True,
        is_eager=True,
        expose_value=False,
        callback=_remember_port,
        help="The port, if --server names none.",
    )
    server = click.option(
        "--server",
        callback=read_addresses,
        default=default,
        metavar="HOST[:PORT][,...]",
        show_default=default is not None,
        help=help,
    )
    tls = click.option("--tls", is_flag=True, help="Use TLS, and verify the server's certificate against its name.")
    trusted = "With --tls: trust the certificates in this PEM file instead of the system's."
    ca = click.option("--ca", metavar="FILE", help=trusted)
    return lambda command: server(port(tls(ca(command))))


#: Where the context keeps the port for servers without one.
_PORT = f"{__name__}.port"


def _remember_port(ctx: click.Context, param: click.Parameter, port: int) -> None:
    ctx.meta[_PORT] = port


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
        if text is None:
            return None
        return ",".join(address(*each) for each in addresses(text, ctx.meta.get(_PORT, DEFAULT_PORT)))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def address(host: str, port: int) -> str:
    """Return HOST:PORT, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# --- TLS ---------------------------------------------------------------------------------------------------------


def read_tls(tls: bool, ca: str | None) -> bool | ssl.SSLContext:
    """Return the ``tls`` argument for clients of :mod:`gm_client`.

    :param ca: a file of certificates to trust instead of the system's.
    :raises click.UsageError: the file cannot be used.
    """
    if ca is None:
        return tls
    if not tls:
        raise click.UsageError("--ca goes with --tls")
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise click.UsageError(f"--ca: {ca} holds no certificate in PEM") from None
    except OSError as error:
        raise click.UsageError(f"--ca: {ca}: {error.strerror}") from None
