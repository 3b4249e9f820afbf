"""The operator's commands' common part: one request to the daemon in a data directory."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from gm_protocol.errors import BadFrame
from gm_protocol.framing import FrameDecoder, encode_frame
from gmd.cli.settings import Unusable, config_option, data_directory
from gmd.net.listening import SOCKET_NAME, short_path

#: Seconds to wait for the daemon's reply. The operator's requests take milliseconds.
PATIENCE_SECONDS = 30.0
#: The most bytes of a reply: a page of players has some ten thousand.
MAX_REPLY = 1 << 24
#: The number of digits of every registered player's id.
ID_DIGITS = 16


#: Where a daemon can be asked.
WHERE = "run this command on the machine of the daemon that serves, with its --data"

#: The player that a command is about; :func:`named` turns it into a field of a request.
player_argument = click.argument("player", metavar="NAME|ID")


def directory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select the daemon in a data directory."""
    help_text = "Data directory of the daemon, which must be running.  [default: the daemon's; or GMD_DATA]"
    return click.option("--data", help=help_text)(config_option(command))


def daemon_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select the daemon to ask: the command gets its directory as ``data``."""

    @directory_options
    @click.option("--database", hidden=True)
    @wraps(command)
    def selected(*arguments: Any, data: str | None, database: str | None, file: Path | None, **others: Any) -> Any:
        if database is not None:
            raise click.UsageError(f"--database: this command asks a running daemon; {WHERE}")
        return command(*arguments, data=data_directory(data, file), **others)

    return selected


def named(player: str) -> dict[str, Any]:
    """Return the field that names a player: a number with as many digits as registered ids have is an id."""
    return {"player": int(player)} if player.isdecimal() and len(player) == ID_DIGITS else {"name": player}


def show_key(reply: dict[str, Any]) -> None:
    """Print the key on standard output, for scripts, and its description on standard error."""
    click.echo(f"{reply['name']} is player {reply['player']}. Keep its key, which is shown only once.", err=True)
    click.echo(reply["key"])


def ask(data: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the daemon and return the reply.

    :param data: the daemon's data directory.
    :raises Unusable: no daemon answers there.
    :raises click.ClickException: the daemon refuses the request.
    """
    path = Path(data).expanduser() / SOCKET_NAME
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            with short_path(path) as address:
                connection.connect(address)
            reply = exchange(connection, _without_none(request))
    except (FileNotFoundError, ConnectionRefusedError):
        raise Unusable(f"no daemon runs in {path.parent}: start one with gmd serve, or {WHERE}") from None
    except PermissionError:
        raise Unusable(f"{path} belongs to another user; run this command as the user that runs the daemon") from None
    except (OSError, BadFrame) as error:
        raise Unusable(f"the daemon in {path.parent} does not answer: {error}") from None
    return checked(reply)


def _without_none(request: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if value is not None}


def checked(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply.

    :raises click.ClickException: it is an error.
    """
    if reply["error"] is not None:
        raise click.ClickException(reply["error"])
    return reply


def exchange(connection: socket.socket, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request on a connection that is only for it, and return the reply.

    :raises OSError, BadFrame: there is none.
    """
    connection.sendall(encode_frame(msgspec.json.encode(request)))
    decoder = FrameDecoder(MAX_REPLY)
    while (body := decoder.next_frame()) is None:
        received = connection.recv(1 << 16)
        if not received:
            raise OSError("it closed the connection")
        decoder.feed(received)
    reply: dict[str, Any] = msgspec.json.decode(body)
    return reply
