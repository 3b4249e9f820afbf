"""The operator's commands' common part: one request to the daemon in a data directory, or to one on a database."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from gm_protocol.errors import BadFrame
from gm_protocol.framing import FrameDecoder, encode_frame
from gmd.config import Config, ConfigError
from gmd.event_log.directory import DataError
from gmd.event_log.opening import IN_MEMORY
from gmd.link_certificate import link_certificate_of
from gmd.unix_socket import SOCKET_NAME, short_path

from .settings import Unusable, config_option, read_settings

#: Seconds to wait for the daemon's reply. The operator's requests take milliseconds.
PATIENCE_SECONDS = 30.0
#: The most bytes of a reply: a page of players has some ten thousand.
MAX_REPLY = 1 << 24
#: The number of digits of every registered player's id.
ID_DIGITS = 16


#: The player that a command is about; :func:`named` turns it into a field of a request.
player_argument = click.argument("player", metavar="NAME|ID")


class Asked(NamedTuple):
    """The daemon to ask: that in a data directory, or any on a database.

    :ivar config: the settings that such a daemon would have; with a database it names the files of TLS on links, too.
    :ivar by_socket: whether to ask over the socket in the data directory, where a daemon listens there.
    :ivar by_database: whether to ask a daemon on the database, where there is one.
    """

    config: Config
    by_socket: bool
    by_database: bool

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the reply.

        :raises Unusable: no daemon answers.
        :raises click.ClickException: the daemon refuses the request.
        """
        if not self.by_database or (self.by_socket and _has_daemon(self.config.data)):
            if self.config.data == IN_MEMORY:
                raise click.UsageError(f"data: {IN_MEMORY} has no files; name a directory with --data")
            return ask(self.config.data, request)
        return ask_database(self.config, request)


def directory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select the daemon in a data directory."""
    help_text = "Data directory of the daemon, which must be running.  [default: the daemon's; or GMD_DATA]"
    return click.option("--data", help=help_text)(config_option(command))


def daemon_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select the daemon to ask: the command gets them as ``daemon``."""
    help_text = (
        "Ask any daemon on this PostgreSQL database, over its port for links; so this machine must reach that.  "
        "[or GMD_DATABASE, where no daemon runs in the data directory]"
    )

    @directory_options
    @click.option("--database", metavar="URL", help=help_text)
    @wraps(command)
    def selected(*arguments: Any, data: str | None, database: str | None, file: Path | None, **others: Any) -> Any:
        return command(*arguments, daemon=_asked(data, database, file), **others)

    return selected


def _asked(data: str | None, database: str | None, file: Path | None) -> Asked:
    if data is not None and database is not None:
        raise click.UsageError("--data and --database name two daemons; leave one of them out")
    config = read_settings({"data": data, "database": database}, file)
    return Asked(config, database is None, data is None and config.database is not None)


def named(player: str) -> dict[str, Any]:
    """Return the field that names a player: a number with as many digits as registered ids have is an id."""
    return {"player": int(player)} if player.isdecimal() and len(player) == ID_DIGITS else {"name": player}


def show_key(reply: dict[str, Any]) -> None:
    """Print the key on standard output, for scripts, and its description on standard error."""
    click.echo(f"{reply['name']} is player {reply['player']}. Its key, which is not shown again:", err=True)
    click.echo(reply["key"])


def ask(data: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the daemon and return the reply.

    :param data: the daemon's data directory.
    :raises Unusable: no daemon answers there.
    :raises click.ClickException: the daemon refuses the request.
    """
    path = Path(data).expanduser() / SOCKET_NAME
    try:
        reply = _exchange(path, _without_none(request))
    except (FileNotFoundError, ConnectionRefusedError):
        raise Unusable(
            f"no daemon runs in {path.parent}: start one with gmd serve, name its directory with --data, or a database "
            "with --database"
        ) from None
    except PermissionError:
        raise Unusable(f"{path} belongs to another user; run this command as the user that runs the daemon") from None
    except (OSError, BadFrame) as error:
        raise Unusable(f"the daemon in {path.parent} does not answer: {error}") from None
    return _checked(reply)


def ask_database(config: Config, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to any daemon on a database and return the reply.

    :param config: names the database, and the files of TLS on links.
    :raises Unusable: no daemon answers.
    :raises click.ClickException: the daemon refuses the request.
    """
    assert config.database is not None
    try:
        import psycopg

        from gmd.cluster.connecting import plain_url
        from gmd.cluster.operator_request import NoAnswer, NoDaemon, ask_a_daemon
        from gmd.event_log.postgres_engine import open_engine, shown_url
    except ModuleNotFoundError as error:
        raise Unusable(
            f"--database needs the module {error.name}; install gmd with its extra: "
            "pip install 'grandmasterd[postgres]'"
        ) from None
    body = msgspec.json.encode(_without_none(request))
    try:
        open_engine(config.database).dispose()  # says what is wrong with the URL
        url, certificate = plain_url(config.database), link_certificate_of(config)
        reply = msgspec.json.decode(ask_a_daemon(url, body, MAX_REPLY, PATIENCE_SECONDS, certificate))
    except (DataError, ConfigError) as error:
        raise Unusable(str(error)) from None
    except psycopg.Error as error:
        reason = " ".join(str(error).split())  # libpq's have several lines
        raise Unusable(f"database: {shown_url(config.database)} cannot be read: {reason}") from None
    except NoDaemon as error:
        raise Unusable(f"database: {shown_url(config.database)}: {error}") from None
    except NoAnswer as error:
        raise Unusable(
            f"{error}; nobody knows whether the request was carried out: look before you repeat it"
        ) from None
    return _checked(reply)


def _has_daemon(data: str) -> bool:
    """Return whether a daemon listens in a data directory, as far as this user can find out."""
    if data == IN_MEMORY:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            with short_path(Path(data).expanduser() / SOCKET_NAME) as address:
                connection.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # asking it says what is wrong
    return True


def _without_none(request: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if value is not None}


def _checked(reply: dict[str, Any]) -> dict[str, Any]:
    if reply["error"] is not None:
        raise click.ClickException(reply["error"])
    return reply


def _exchange(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        with short_path(path) as address:
            connection.connect(address)
        connection.sendall(encode_frame(msgspec.json.encode(request)))
        decoder = FrameDecoder(MAX_REPLY)
        while (body := decoder.next_frame()) is None:
            received = connection.recv(1 << 16)
            if not received:
                raise OSError(f"it closed the connection ({os.fspath(path)})")
            decoder.feed(received)
    reply: dict[str, Any] = msgspec.json.decode(body)
    return reply
