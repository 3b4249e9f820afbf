"""Reports of a match or a tournament to the server, which shows them on its pages.

A report is sent at most once a second, in the background: no game waits for it. If the server refuses reports, one
message says so, and the games go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import click
import trio

from gm_client.blocking import BadReply, ConnectionLost, ContestReport, GmError
from gm_client.trio_client import Client

#: Seconds between two reports, and after which one is repeated, so that the server knows that the contest still runs.
REPORT_SECONDS, REPEAT_SECONDS = 1.0, 120.0
#: Seconds for the last report.
LAST_SECONDS = 5.0
#: The most bytes of a report, and the most characters of a name and of a sentence.
MOST_BYTES, LONGEST_NAME, LONGEST_NOTE = 65_536, 100, 1_000
#: The most players, columns, points of a curve, and games of a report.
MOST_PLAYERS, MOST_COLUMNS, MOST_POINTS, MOST_GAMES = 100, 120, 200, 20
#: Codes of refusals after which a later report may be taken.
PASSING = ("too_many", "internal", "shutting_down")
#: Characters that the protocol does not take in names.
_STRANGE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200e\u200f]+")

Build = Callable[[], ContestReport]


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text as the protocol takes it: without control characters, and cut if it is long."""
    text = _STRANGE.sub(" ", text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def fitting(report: ContestReport) -> ContestReport:
    """Shorten a report to the server's limits: drop its cells and games, and cut long tables."""
    if _fits(report):
        return report
    rows = report["players"][:MOST_PLAYERS]
    for row in rows:
        row.pop("cells", None)
    kept = report.copy()
    kept["players"], kept["columns"], kept["latest"] = rows, [], []
    return kept


def _fits(report: ContestReport) -> bool:
    size = len(json.dumps(report, ensure_ascii=False, separators=(",", ":")).encode())
    return (
        size <= MOST_BYTES and len(report["players"]) <= MOST_PLAYERS and len(report.get("columns", ())) <= MOST_COLUMNS
    )


class Reporter:
    """Reports one contest.

    :ivar contest_id: its number on the server; None before the first report.
    """

    def __init__(self, client: Client, token: str, build: Build) -> None:
        """:param client: a client of its own, which opens when it is used.
        :param build: returns the present report; called when one is sent.
        """
        self._client, self._token, self._build = client, token, build
        self._changed = trio.Event()
        self._begun = self._refused = self._mentioned = False
        self.contest_id: int | None = None

    def changed(self) -> None:
        """Report soon: the contest has begun, or its standings have changed."""
        self._begun = True
        self._changed.set()

    @trio.lowlevel.enable_ki_protection  # Ctrl-C belongs to the contest's own task
    async def run(self) -> None:
        """Send reports once the contest has begun, until cancelled, or until the server refuses them for good."""
        await self._changed.wait()
        while True:
            self._changed = trio.Event()
            await self._send()
            if self._refused:
                return
            await trio.sleep(REPORT_SECONDS)
            with trio.move_on_after(REPEAT_SECONDS):
                await self._changed.wait()

    async def last(self) -> None:
        """Send the last report of a contest that has begun, if the server is reachable at once."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(LAST_SECONDS):
                if self._begun and not self._refused:
                    await self._send()
            await self._client.aclose()

    async def _send(self) -> None:
        try:
            reply = await self._client.contest(self._token, fitting(self._build()))
            self.contest_id = reply["contest_id"]
        except GmError as error:
            self._refused = error.code not in PASSING
            self._mention(error)
        except (ConnectionLost, BadReply) as error:
            self._mention(error)
        except Exception as error:  # a mistake of ours must not end anybody's match
            self._refused = True
            self._mention(error)

    def _mention(self, error: Exception) -> None:
        if not self._mentioned:
            click.echo(f"the server does not show this on its pages, and the games go on: {error}", err=True)
        self._mentioned = True


@asynccontextmanager
async def reporting(client: Client, token: str, build: Build) -> AsyncIterator[Reporter]:
    """Report a contest as long as the context is open, and a last time at its end, whatever ends it.

    :param build: returns the present report.
    """
    reporter, error = Reporter(client, token, build), None
    try:
        async with trio.open_nursery() as background:
            background.start_soon(reporter.run)
            try:
                yield reporter
            except BaseException as raised:  # raised outside the nursery, which would wrap it in a group
                error = raised
            background.cancel_scope.cancel()
    finally:
        await reporter.last()
    if error is not None:
        raise error
