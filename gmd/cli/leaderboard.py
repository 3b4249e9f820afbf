"""``gmd leaderboard``: show the ratings of all players of ranked games."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from gm_protocol.errors import BadFrame
from gm_protocol.framing import DEFAULT_PORT
from gm_protocol.ranked import INTERVAL
from gmd.cli.operator import PATIENCE_SECONDS, ask, checked, directory_options, exchange
from gmd.cli.progress import counted
from gmd.cli.settings import Storage, Unusable, data_directory, read_settings, storage

#: What the column "version" is.
VERSIONS = "A new version of a bot (gmd connect --ranked --new-version) has a row and a rating of its own."

#: OpenSSL's codes for a self-signed certificate, or one whose issuer is not trusted.
UNKNOWN_ISSUER = frozenset({18, 19, 20, 21})

#: Fetches a page of the leaderboard, given the number of rows to skip.
Page = Callable[[int], dict[str, Any]]


@click.command()
@directory_options
@click.option("--server", metavar="HOST[:PORT][,...]", help="Ask a daemon on another machine.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"The port, if --server names none.  [default: {DEFAULT_PORT}]",
)
@click.option("--tls", is_flag=True, help="Use TLS, and verify the server's certificate against its name.")
@click.option(
    "--ca", metavar="FILE", help="With --tls: trust the certificates in this PEM file instead of the system's."
)
@click.option("--recompute", is_flag=True, help="Compute it from the event log; needs no daemon.")
@click.option(
    "--database", metavar="URL", help="With --recompute: the database with the games.  [default: GMD_DATABASE]"
)
@click.option("--anchors", help="With --recompute: as for gmd serve.  [default: GMD_ANCHORS, or the file's]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with standard deviations, instead of a table.")
def leaderboard(
    data: str | None,
    file: Path | None,
    server: str | None,
    port: int | None,
    tls: bool,
    ca: str | None,
    recompute: bool,
    database: str | None,
    anchors: str | None,
    as_json: bool,
) -> None:
    """\b
    Example: gmd leaderboard

    Show the leaderboard: every version of every player's bot that has played ranked games, the strongest first.

    Ratings are on the Elo scale. The true rating lies within the ± given with it with a probability of 95 %.
    """
    by_server = server is not None or port is not None
    if by_server and (recompute or data is not None):
        raise click.UsageError("--server cannot be combined with --data or --recompute: those are for this machine")
    if tls and not by_server:
        raise click.UsageError("--tls goes with --server")
    if ca is not None and not tls:
        raise click.UsageError("--ca goes with --tls")
    if anchors is not None and not recompute:
        raise click.UsageError("--anchors needs --recompute; a running daemon has its own anchors")
    if database is not None and not recompute:
        raise click.UsageError("--database needs --recompute; a running daemon is found by its --data")
    if by_server:
        board = _paged(_by_server(server or "127.0.0.1", port or DEFAULT_PORT, _trusting(ca) if tls else None))
    elif recompute:
        board = _recomputed(storage(data, database, file), read_settings({"anchors": anchors}, file).anchors)
    else:
        board = _paged(_by_socket(data_directory(data, file)))
    if as_json:
        click.echo(json.dumps(board, indent=2))
    else:
        _show(board)


def _by_socket(directory: str) -> Page:
    return lambda after: ask(directory, {"kind": "leaderboard", "after": after})


def _by_server(server: str, port: int, tls: ssl.SSLContext | None) -> Page:
    """Return what fetches a page from one of some servers, the first that can be reached."""

    def page(after: int) -> dict[str, Any]:
        error: Unusable | None = None
        for host, number in _addresses(server, port):
            try:
                with _connected(host, number, tls) as connection:
                    return checked(exchange(connection, {"kind": "leaderboard", "after": after}))
            except (OSError, BadFrame) as reason:
                error = Unusable(f"{host}:{number}: {_unreached(reason)}")
        assert error is not None  # there is at least one server
        raise error

    return page


@contextmanager
def _connected(host: str, port: int, tls: ssl.SSLContext | None) -> Iterator[socket.socket]:
    with socket.create_connection((host, port), timeout=PATIENCE_SECONDS) as bare:
        if tls is None:
            yield bare
        else:
            with tls.wrap_socket(bare, server_hostname=host) as secure:
                yield secure


def _addresses(servers: str, port: int) -> list[tuple[str, int]]:
    """Return the hosts and ports in a list; ``port`` is for those without one."""
    try:
        parts = [urlsplit(f"//{each}") for each in servers.split(",")]
        return [(part.hostname or "127.0.0.1", port if part.port is None else part.port) for part in parts]
    except ValueError:
        raise click.UsageError(f"--server: {servers!r} is not HOST:PORT, with a port from 1 to 65535") from None


def _trusting(ca: str | None) -> ssl.SSLContext:
    """Return the TLS context for checking certificates.

    :param ca: a file of certificates to trust instead of the system's.
    :raises click.UsageError: the file cannot be used.
    """
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise click.UsageError(f"--ca: {ca} holds no certificate in PEM") from None
    except OSError as error:
        raise click.UsageError(f"--ca: {ca}: {error.strerror}") from None


def _unreached(error: Exception) -> str:
    """Return why a server could not be asked, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        advice = "; name one to trust with --ca FILE" if error.verify_code in UNKNOWN_ISSUER else ""
        return f"the certificate is not trusted: {error.verify_message}{advice}"
    if isinstance(error, ssl.SSLError):
        return f"{error.reason or error}; does this port speak TLS? If not, leave out --tls"
    return f"{error}; start the daemon with `gmd serve`, or name another one"


def _paged(page: Page) -> dict[str, Any]:
    """Return all pages joined. A recomputation in between may move a row from one page to the next."""

    def pages() -> Iterator[dict[str, Any]]:
        after: int | None = 0
        while after is not None:
            yield (found := page(after))
            after = found["after"]

    found = list(pages())
    return {"leaderboard": [row for each in found for row in each["leaderboard"]], "games": found[-1]["games"]}


def _recomputed(place: Storage, anchors: str | None) -> dict[str, Any]:
    import msgspec

    from gmd.event_log.directory import DataError
    from gmd.event_log.opening import open_reader
    from gmd.lobby.leaderboard import recompute
    from gmd.lobby.ratings import BadAnchors, read_anchors

    try:
        given = read_anchors(anchors)
        with open_reader(*place) as engine:
            board: dict[str, Any] = msgspec.to_builtins(recompute(engine, given))
    except BadAnchors as error:
        raise click.UsageError(str(error)) from None
    except DataError as error:
        raise Unusable(str(error)) from None
    return board


def _show(board: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, caption=f"{counted(board['games'], 'ranked game')}", caption_justify="left")
    table.add_column("", justify="right")
    table.add_column("player")
    for name in ("version", "rating", "± 95 %", "games", "wins", "draws", "losses"):
        table.add_column(name, justify="right")
    for row in board["leaderboard"]:
        within = "anchor" if row["anchor"] else f"{INTERVAL * row['deviation']:.0f}"
        score = (str(row[name]) for name in ("games", "wins", "draws", "losses"))
        table.add_row(str(row["place"]), row["name"], f"v{row['version']}", f"{row['rating']:.0f}", within, *score)
    Console(markup=False, highlight=False).print(table)
    click.echo(VERSIONS)
