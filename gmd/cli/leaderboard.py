"""``gmd leaderboard``: show the ratings of all players of ranked games."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from gm_protocol.ranked import INTERVAL
from gmd.cli.operator import PATIENCE_SECONDS, ask, directory_options
from gmd.cli.progress import counted
from gmd.cli.settings import Storage, Unusable, data_directory, read_settings, storage

#: OpenSSL's codes for a self-signed certificate, or one whose issuer is not trusted.
UNKNOWN_ISSUER = frozenset({18, 19, 20, 21})

#: Fetches a page of the leaderboard, given the number of rows to skip.
Page = Callable[[int], dict[str, Any]]


@click.command()
@directory_options
@click.option("--server", metavar="URL", help="Ask a daemon on another machine over HTTP: http://HOST:7180.")
@click.option("--ca", metavar="FILE", help="With --server https://...: trust these certificates, not the system's.")
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
    if server is not None and (recompute or data is not None):
        raise click.UsageError("--server cannot be combined with --data or --recompute: those are for this machine")
    if ca is not None and not (server or "").startswith("https://"):
        raise click.UsageError("--ca needs --server https://...")
    if anchors is not None and not recompute:
        raise click.UsageError("--anchors needs --recompute; a running daemon has its own anchors")
    if database is not None and not recompute:
        raise click.UsageError("--database needs --recompute; a running daemon is found by its --data")
    if recompute:
        board = _recomputed(storage(data, database, file), read_settings({"anchors": anchors}, file).anchors)
    else:
        board = _paged(_by_http(server, ca) if server is not None else _by_socket(data_directory(data, file)))
    if as_json:
        click.echo(json.dumps(board, indent=2))
    else:
        _show(board)


def _by_socket(directory: str) -> Page:
    return lambda after: ask(directory, {"kind": "leaderboard", "after": after})


def _by_http(server: str, ca: str | None) -> Page:
    context = _trusting(ca)

    def page(after: int) -> dict[str, Any]:
        url = f"{server.rstrip('/')}/api/leaderboard?after={after}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS, context=context) as response:
                found: dict[str, Any] = json.load(response)
        except urllib.error.HTTPError as error:
            raise Unusable(f"{url}: {_refusal(error)}") from None
        except urllib.error.URLError as error:
            raise Unusable(f"{url}: {_unreached(error)}") from None
        except (OSError, ValueError) as error:
            raise Unusable(f"{url}: {error}") from None
        return found

    return page


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


def _refusal(error: urllib.error.HTTPError) -> str:
    """Return gmd's own error sentence, or another server's status."""
    try:
        return str(json.load(error)["error"])
    except (OSError, ValueError, LookupError, TypeError):
        return f"answered with {error.code} {error.reason}; is this the HTTP port of gmd?"


def _unreached(error: urllib.error.URLError) -> str:
    """Return why the server could not be reached, and what to do."""
    why = error.reason
    if isinstance(why, ssl.SSLCertVerificationError):
        advice = "; name one to trust with --ca FILE" if why.verify_code in UNKNOWN_ISSUER else ""
        return f"the certificate is not trusted: {why.verify_message}{advice}"
    if isinstance(why, ssl.SSLError):
        return f"{why.reason or why}; does this port speak TLS? If not, use an http:// address"
    return f"{why}; start the daemon with `gmd serve`, or name another one"


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
