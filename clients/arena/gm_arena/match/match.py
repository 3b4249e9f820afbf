"""Plays a match to its end, and writes its record and its other files."""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import trio

from ..bridge import Server
from ..command_line import who_plays
from ..contest import reporting
from ..in_step import BotsInStep
from ..pool import open_pool, result_of
from ..sprt import Sprt
from ..stopping import Stopped, background, unless_stopped
from . import settings
from .contest import MatchContest, Status
from .game import Contestant, Playing, Terms, try_out
from .in_progress import GameInProgress, games_in_progress
from .outputs import Outputs
from .plan import Fixture, Play, Runner
from .record import Record, RecordFile
from .report import Report
from .settings import Entrant
from .summary import meeting, summary
from .verdict import summary_text, verdict
from .workers import Setup, play_game, play_in_step, served, servers

#: Parts of a game that are only written to files and then dropped: the largest, where there may be ten thousand games.
IN_FILES_ONLY = ("pgn", "history")


def play_match(
    texts: Sequence[str],
    entrants: Sequence[Entrant],
    variant: str,
    given: dict[str, Any],
    *,
    sprt: Sprt | None = None,
) -> int:
    """Play a match, and print its result; return the exit status.

    :param texts: the bots as the command line has them: a match continues only with the same.
    :param given: the options of ``gmd match``, by name.
    :raises RecordUnusable: the record cannot be written, or belongs to another match.
    """
    terms = settings.terms_of(variant, given, all_here=all(entrant.bots is not None for entrant in entrants))
    plan = settings.plan_of(entrants, terms, given)
    recorded = [identified(text, entrant) for text, entrant in zip(texts, entrants, strict=True)]
    record = _record(given, settings.arguments_of(recorded, variant, given))
    match = Match(texts, entrants, terms, plan, sprt, record, given)
    try:
        match.play()
    except Stopped as stopped:
        return stopped.status
    finally:
        if record is not None:
            record.close()
    return 0


def identified(text: str, entrant: Entrant) -> str:
    """Return a bot's text as the record has it, with the hash of its network, if it has one."""
    identity = entrant.bots.identity if isinstance(entrant.bots, BotsInStep) else ""
    return f"{text} {identity}".rstrip()


def _record(given: dict[str, Any], arguments: dict[str, Any]) -> RecordFile | None:
    path: Path | None = given["json_out"]
    if path is None:
        return None
    return RecordFile.resume(path, arguments) if given["resume"] else RecordFile.begin(path, arguments)


class Match:
    """A match, and the files that it writes."""

    def __init__(
        self,
        texts: Sequence[str],
        entrants: Sequence[Entrant],
        terms: Terms,
        plan: Sequence[Fixture],
        sprt: Sprt | None,
        record: RecordFile | None,
        given: dict[str, Any],
    ) -> None:
        self._texts, self._entrants, self._terms, self._plan, self._sprt = tuple(texts), entrants, terms, plan, sprt
        self._record, self._given = record, given
        self._labels = [entrant.label for entrant in entrants]
        self._records: list[Record] = [] if record is None else record.records
        self._first_two = meeting(self._records, *self._labels[:2])
        self._note: Callable[[Record], None] = lambda game: None
        self._token = secrets.token_hex(16) if record is None else record.contest

    def play(self) -> None:
        """Play the remaining games, and print the result, even after an error.

        :raises Stopped: a signal came.
        """
        error: Exception | None = None
        with Outputs(self._given["pgn_out"], self._given["csv_out"], self._records) as outputs:
            try:
                trio.run(unless_stopped, partial(self._play, outputs))
            except Exception as raised:
                error = raised
        if error is None or self._records or isinstance(error, Stopped):
            click.echo(summary_text(self._records, self._labels, self._sprt), nl=False)
        if error is not None:
            raise error
        if self._record is not None:
            found = verdict(self._records, self._labels, self._sprt)
            self._record.finish({**summary(self._records, self._labels, self._sprt), "verdict": found.text})

    async def _play(self, outputs: Outputs) -> None:
        error: Exception | None = None
        with Report(self._labels, len(self._plan), self._sprt, verbose=self._given["verbose"]) as report:
            report.resumed(self._records)
            left = self._plan[len(self._records) :]
            if left:
                local = [(entrant.label, entrant.bots) for entrant in self._entrants if entrant.bots is not None]
                await try_out(local, self._terms.variant)
                if self._given["in_step"] is None:
                    report.names_threads([label for label, bots in local if bots.has_threads(self._terms.variant)])
            parts, keep = parts_of(left, self._given["in_step"]), partial(self._keep, outputs, report)
            if self._given["in_step"] is not None:
                async with self._workers(None, ()) as (play, size), background() as nursery:
                    nursery.start_soon(report.follow, size, _nothing)
                    await Runner(play, keep, self._decided).run(parts, size)
                return
            async with served(self._given) as (where, ask):
                try:
                    server, contestants = await _seated(self._entrants, where, self._given, self._token)
                    async with (
                        self._reported(server, contestants),
                        self._players(server, contestants, where) as (play, size),
                        background() as nursery,
                    ):
                        nursery.start_soon(report.follow, size, partial(games_in_progress, ask, contestants))
                        await Runner(play, keep, self._decided).run(parts, size)
                except Exception as raised:  # raised after the daemon has closed, since it is not the daemon's
                    error = raised
        if error is not None:
            raise error

    @asynccontextmanager
    async def _players(
        self, server: Callable[[int | str | None], Server], contestants: list[Contestant], where: str
    ) -> AsyncIterator[tuple[Play, int]]:
        """Yield what plays games, and how many at a time: this process, or several where all bots think here."""
        given, size = self._given, self._given["concurrency"]
        if given["ray"] is None and (size == 1 or any(entrant.bots is None for entrant in self._entrants)):
            playing = Playing(server, contestants, self._terms, self._games_token)

            async def play(part: Sequence[Fixture]) -> list[Record]:
                return [await playing.play(fixture) for fixture in part]

            yield play, size
            return
        # A machine of a cluster need not reach the daemon in this process.
        seen = where if given["server"] is not None or given["ray"] is None else None
        async with self._workers(seen, [contestant.player for contestant in contestants]) as found:
            yield found

    @asynccontextmanager
    async def _workers(self, where: str | None, players: Sequence[int | str]) -> AsyncIterator[tuple[Play, int]]:
        """Yield what has workers play games, and how many parts at a time."""
        given = self._given
        who, token = _who(given), self._games_token
        packed = Setup(self._texts, given, self._terms.variant, tuple(players), where, who, token).packed()
        with ExitStack() as stack:
            pool = stack.enter_context(open_pool(given["concurrency"], given["ray"], partial(click.echo, err=True)))

            async def play(part: Sequence[Fixture]) -> list[Record]:
                if given["in_step"] is not None:
                    return await result_of(pool.submit(partial(play_in_step, packed, part)))
                return await result_of(pool.submit(partial(play_game, packed, part[0])))

            try:
                yield play, pool.size
            finally:
                with trio.CancelScope(shield=True):  # the daemon goes on while workers clean up
                    await trio.to_thread.run_sync(stack.close)

    @property
    def _games_token(self) -> str | None:
        """The token of games on a server, which outlive this process; a daemon of its own has none to find again."""
        return self._token if self._given["server"] is not None else None

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
        async with reporting(server(None).client(), self._token, contest.report) as reporter:

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


async def _nothing() -> list[GameInProgress]:
    """Return no game: those in step are on no server."""
    return []


def _who(given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields of ``hello`` of the player as whom the bots play; None where they have open ids."""
    return who_plays(given["player"], given["key"]) if given["player"] is not None else None


async def _seated(
    entrants: Sequence[Entrant], where: str, given: dict[str, Any], token: str
) -> tuple[Callable[[int | str | None], Server], list[Contestant]]:
    """Return a function from a player to its connection, and the contestants with their players.

    :param token: decides the ids of open players on a server.
    """
    server = servers(where, given, _who(given))
    async with server(None).client() as client:
        await client.open()
        me = client.player
    # A resumed match has the players that it had, whose games are found again.
    first = random.Random(token).randrange(1, settings.OPEN_PLAYERS) if given["server"] is not None else 1
    contestants = [
        entrant.contestant(first + number if me is None else me, given["player"])
        for number, entrant in enumerate(entrants)
    ]
    return server, contestants


def parts_of(fixtures: Sequence[Fixture], size: int | None) -> list[list[Fixture]]:
    """Return the parts of a match that are played as one: single games; with a size, so many games of the same two."""
    if size is None:
        return [[fixture] for fixture in fixtures]
    parts: list[list[Fixture]] = []
    latest: dict[frozenset[int], list[Fixture]] = {}
    for fixture in fixtures:
        pair = frozenset(fixture.bots)
        if len(latest.get(pair, ())) % size == 0:
            latest[pair] = []
            parts.append(latest[pair])
        latest[pair].append(fixture)
    return parts
