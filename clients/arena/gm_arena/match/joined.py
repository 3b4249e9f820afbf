"""A match that several machines play: this machine's games, and the result of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import click

from gm_client.blocking import PlayedGame

from ..bridge import Server
from ..sprt import Sprt
from .contest import Status
from .game import Terms
from .joining import Joining, record_of
from .match import Given, Match, Text, forget_text
from .outputs import Outputs
from .plan import Fixture
from .record import Record, RecordFile
from .report import Report
from .runner import Play
from .settings import Entrant
from .summary import meeting
from .worker import Worker


class JoinedMatch(Match):
    """A match that several machines play. Its files have the games played here; its result is that of all games.

    The verdict is found by each machine from the same results, which the server keeps in the plan's order.
    """

    def __init__(
        self,
        entrants: Sequence[Entrant],
        terms: Terms,
        plan: Sequence[Fixture],
        sprt: Sprt | None,
        record: RecordFile | None,
        given: Given,
        text: Text,
        joining: Joining,
    ) -> None:
        super().__init__(entrants, terms, plan, sprt, record, given, text)
        self._joining = joining
        self._own = self._records
        self._records = []
        self._first_two = meeting([], *self._labels[:2])
        self._times = {record["game"]: record["times"] for record in self._own}
        self._worker: Worker | None = None
        self._begun = False

    @property
    def _played_here(self) -> list[Record]:
        return self._own

    async def _run(
        self, play: Play, outputs: Outputs, report: Report, server: Callable[[int | str | None], Server]
    ) -> None:
        async with server(None).client() as client:
            keep, learn = partial(self._keep_own, outputs), partial(self._learn, report)
            others = partial(self._meet, report)
            self._worker = Worker(client, self._joining, play, keep, learn, others, own=len(self._own))
            try:
                games = await self._worker.run(self._plan, self._given["concurrency"])
                del self._records[games:]
            finally:
                here = sum(record["game"] in self._times for record in self._records)
                click.echo(f"{here} of these {len(self._records)} games were played here", err=True)

    def _keep_own(self, outputs: Outputs, game: Record) -> None:
        """Write a game that was played here and counts."""
        if self._record is None:
            self._own.append(game)
        else:
            self._record.add(game)
        self._times[game["game"]] = game["times"]
        outputs.add(game)
        forget_text(game)

    def _learn(self, report: Report, games: Sequence[PlayedGame], stops: bool) -> int | None:
        """Count games of all machines, in the plan's order; return the one after which the match is decided, if any.

        :param stops: whether to stop there.
        """
        decided: int | None = None
        learnt: list[Record] = []
        for game in games:
            number = game["number"]
            record = record_of(game, self._plan[number - 1], self._labels, self._times.get(number, {}))
            self._records.append(record)
            self._first_two.add(record)
            learnt.append(record)
            if stops and self._decided():
                decided = number
                break
        self._show(report, learnt)
        return decided

    def _show(self, report: Report, learnt: Sequence[Record]) -> None:
        if self._begun:
            for record in learnt:
                if record["game"] not in self._times:
                    report.pace.resumed([record["seconds"]])
                report.played(record)
        elif learnt:
            report.resumed(learnt)
        self._begun = True
        for record in learnt:
            self._note(record)

    def _meet(self, report: Report, workers: int) -> None:
        """Note how many machines play."""
        workers = max(1, workers)
        report.pace.shared_by(workers)
        if self._reporter is not None:
            self._reporter.among(workers)

    def _contest_token(self) -> str:
        return self._joining.token

    def _status(self, status: Status) -> Status:
        others = self._worker is not None and self._worker.workers > 0
        return "running" if status == "stopped" and others else status
