"""Plays a match to its end, and writes its record and its other files."""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import trio

from gm_client.blocking import VERSION, ConnectionLost

from ..address import address
from ..bridge import Server
from ..command_line import who_plays
from ..contest import reporting
from ..sprt import Sprt
from ..stopping import Stopped, unless_stopped
from ..tls import read_tls
from . import settings
from .contest import MatchContest, Status
from .game import Contestant, MatchError, Playing, Terms
from .outputs import Outputs
from .pace import Pace
from .plan import Fixture
from .record import Record, RecordFile
from .report import Report
from .runner import Play, Runner
from .settings import Entrant
from .summary import meeting, summary
from .text import summary_text
from .trial import try_out
from .verdict import verdict

#: Parts of a game that are only written to files and then dropped: the largest, where there may be ten thousand games.
IN_FILES_ONLY = ("pgn", "history")

#: The type of a function that returns the result as text: from the games, the bots' labels and the test.
Text = Callable[[Sequence[Record], Sequence[str], Sprt | None], str]


def play_match(
    texts: Sequence[str],
    entrants: Sequence[Entrant],
    variant: str,
    given: dict[str, Any],
    *,
    sprt: Sprt | None = None,
    text: Text = summary_text,
) -> int:
    """Play a match, and print its result; return the exit status.

    :param texts: the bots as they are recorded: a match continues only with the same.
    :param given: the options of ``gmd match``, by name.
    :param text: returns the text that is printed at the end.
    :raises RecordUnusable: the record cannot be written, or belongs to another match.
    """
    terms = settings.terms_of(variant, given, all_here=all(entrant.bots is not None for entrant in entrants))
    plan = settings.plan_of(entrants, terms, given)
    record = _record(given, settings.arguments_of(texts, variant, given))
    match = Match(entrants, terms, plan, sprt, record, given, text)
    try:
        match.play()
    except Stopped as stopped:
        return stopped.status
    finally:
        if record is not None:
            record.close()
    return 0


def _record(given: dict[str, Any], arguments: dict[str, Any]) -> RecordFile | None:
    path: Path | None = given["json_out"]
    if path is None:
        return None
    return RecordFile.resume(path, arguments) if given["resume"] else RecordFile.begin(path, arguments)


class Match:
    """A match, and the files that it writes."""

    def __init__(
        self,
        entrants: Sequence[Entrant],
        terms: Terms,
        plan: Sequence[Fixture],
        sprt: Sprt | None,
        record: RecordFile | None,
        given: dict[str, Any],
        text: Text,
    ) -> None:
        self._entrants, self._terms, self._plan, self._sprt = entrants, terms, plan, sprt
        self._record, self._given, self._text = record, given, text
        self._labels = [entrant.label for entrant in entrants]
        self._records: list[Record] = [] if record is None else record.records
        self._first_two = meeting(self._records, *self._labels[:2])
        self._note: Callable[[Record], None] = lambda game: None

    def play(self) -> None:
        """Play the remaining games, and print the result, even after an error.

        :raises Stopped: a signal came.
        """
        error: Exception | None = None
        with Outputs.of(self._given, self._records) as outputs:
            try:
                trio.run(unless_stopped, partial(self._play, outputs))
            except Exception as raised:
                error = raised
            outputs.finish(self._records, self._labels)
        if error is None or self._records or isinstance(error, Stopped):
            click.echo(self._text(self._records, self._labels, self._sprt), nl=False)
        if error is not None:
            raise error
        if self._record is not None:
            found = verdict(self._records, self._labels, self._sprt)
            self._record.finish({**summary(self._records, self._labels, self._sprt), "verdict": found.text})

    async def _play(self, outputs: Outputs) -> None:
        error: Exception | None = None
        quiet, verbose = self._given["quiet"], self._given["verbose"]
        pace = Pace(self._given["concurrency"])
        with Report(self._labels, len(self._plan), self._sprt, pace, quiet=quiet, verbose=verbose) as report:
            report.resumed(self._records)
            left = self._plan[len(self._records) :]
            if left:
                here = [(entrant.label, entrant.bots) for entrant in self._entrants if entrant.bots is not None]
                await try_out(here, self._terms.variant)
            async with _served(self._given) as where:
                try:
                    server, contestants = await _seated(self._entrants, where, self._given)
                    playing = Playing(server, contestants, self._terms)
                    async with self._reported(server, contestants):
                        runner = Runner(_timed(playing.play, pace), partial(self._keep, outputs, report), self._decided)
                        await runner.run(left, self._given["concurrency"])
                except Exception as raised:  # raised after the daemon has closed, since it is not the daemon's
                    error = raised
        if error is not None:
            raise error

    def _keep(self, outputs: Outputs, report: Report, game: Record) -> None:
        if self._record is None:
            self._records.append(game)
        else:
            self._record.add(game)
        self._first_two.add(game)
        outputs.add(game)
        report.played(game)
        self._note(game)
        for name in IN_FILES_ONLY:
            game.pop(name, None)

    @asynccontextmanager
    async def _reported(
        self, server: Callable[[int | str | None], Server], contestants: Sequence[Contestant]
    ) -> AsyncIterator[None]:
        """Report the match to the server as long as the context is open, if it is somebody's server."""
        if self._given["server"] is None:
            yield
            return
        players = [contestant.player for contestant in contestants]
        contest = MatchContest(self._labels, players, self._terms.variant, len(self._plan), self._sprt)
        for record in self._records:
            contest.add(record)
        token = secrets.token_hex(16) if self._record is None else self._record.contest
        async with reporting(server(None).client(), token, contest.report) as reporter:

            def note(game: Record) -> None:
                contest.add(game)
                reporter.changed()

            self._note = note
            reporter.changed()
            status: Status = "stopped"
            try:
                yield
                status = "over"
            finally:
                contest.end(self._records, status)

    def _decided(self) -> bool:
        if self._sprt is None or self._first_two.games.size == 0:
            return False
        return self._sprt.verdict(self._first_two.sample) is not None


def _timed(play: Play, pace: Pace) -> Play:
    """Return a function that plays a game and measures its duration."""

    async def timed(fixture: Fixture) -> Record:
        with pace.game(fixture.number):
            return await play(fixture)

    return timed


@asynccontextmanager
async def _served(given: dict[str, Any]) -> AsyncIterator[str]:
    """Yield the address to play on: the server given, or a daemon in this process."""
    if given["server"] is not None:
        yield given["server"]
        return
    from gmd.cli.own_commands import import_structlog

    import_structlog()
    from gmd import Config, DataError, open_daemon
    from gmd.cli.process import prepare_process

    try:
        config = Config(port=given["port"], data=given["data"] or ":memory:", spectate="live")
        async with open_daemon(config) as daemon:
            prepare_process()  # the whole process belongs to the match
            if given["port"]:
                click.echo(f"the games can be watched on {daemon.addresses[0][0]}:{daemon.port}", err=True)
            yield address(*daemon.addresses[0])
    except ConnectionLost:  # an OSError, of the games
        raise
    except (DataError, OSError) as error:
        raise MatchError(f"the daemon cannot be started: {error}") from None


async def _seated(
    entrants: Sequence[Entrant], where: str, given: dict[str, Any]
) -> tuple[Callable[[int | str | None], Server], list[Contestant]]:
    """Return a function from a player to its connection, and the contestants with their players."""
    who = who_plays(given["player"], given["key"]) if given["player"] is not None else None
    server = _servers(where, given, who)
    async with server(None).client() as client:
        await client.open()
        me = client.player
    first = random.randrange(1, settings.OPEN_PLAYERS) if given["server"] is not None else 1
    contestants = [
        entrant.contestant(first + number if me is None else me, given["player"])
        for number, entrant in enumerate(entrants)
    ]
    return server, contestants


def _servers(where: str, given: dict[str, Any], who: dict[str, Any] | None) -> Callable[[int | str | None], Server]:
    """Return a function from a player to its connection; bots of a registered player always connect as that player."""
    tls = read_tls(given["tls"], given["ca"])
    hello = {"client": f"gmd-match/{VERSION}"}

    def server(player: int | str | None) -> Server:
        named = who if who is not None else {} if player is None else {"player": player}
        return Server(where, tls=tls, patience=given["patience"], hello={**hello, **named})

    return server
