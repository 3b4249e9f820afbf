"""A tournament as its reports to the daemon say how it stands."""

from __future__ import annotations

from typing import Any, Literal, cast

from gm_client.blocking import ContestGame, ContestPlayer, ContestReport

from ..contest import MOST_GAMES, Reporter, plain
from ..crosstable import standings
from ..schedule import Pairing
from .director import Watcher
from .plan import GameResult, Key, Round, total_games
from .record import Record
from .results import games_of, table_of, tiebreaks_of

#: The columns of a table in front of its cells: place, name, points, games.
_BEFORE_CELLS = 4

Status = Literal["running", "stopped", "over"]

_FORMATS = {"round-robin": "Round robin", "gauntlet": "Gauntlet", "swiss": "Swiss tournament"}


class TournamentContest:
    """The present report of a tournament, made of its record.

    :ivar status: whether it is played, was stopped, or is over.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self.status: Status = "running"

    @property
    def token(self) -> str:
        """The token of the reports: the same when the tournament is resumed."""
        return f"tournament {self._record.settings.id}"

    def report(self) -> ContestReport:
        """Return the present report."""
        record, settings = self._record, self._record.settings
        table = table_of(record)
        places = {row[1]: place for place, row in enumerate(table.rows)}
        report: dict[str, Any] = {
            "title": plain(settings.name),
            "form": "tournament",
            "variant": settings.terms.get("variant", "standard"),
            "status": self.status,
            "note": f"{_FORMATS[settings.format]} of {len(settings.players)} players{', ranked' * settings.ranked}.",
            "planned": total_games(settings),
            "games": len(record.outcomes),
            "players": self._rows([row[_BEFORE_CELLS:] for row in table.rows]),
            "columns": table.columns[_BEFORE_CELLS:],
            "latest": self._latest(places),
        }
        return cast(ContestReport, report)

    def _rows(self, cells: list[list[str]]) -> list[ContestPlayer]:
        ids = {entrant.name: entrant.id for entrant in self._record.settings.players}
        rows = standings([*ids], games_of(self._record), tiebreaks_of(self._record))
        return [
            {
                "name": plain(row.name),
                "player": ids[row.name],
                "points": row.points,
                "games": row.games,
                "wins": row.wins,
                "draws": row.draws,
                "losses": row.losses,
                "cells": own,
            }
            for row, own in zip(rows, cells, strict=True)
        ]

    def _latest(self, places: dict[str, int]) -> list[ContestGame]:
        """Return the games that were made last, newest first."""
        names = [entrant.name for entrant in self._record.settings.players]
        games: list[ContestGame] = []
        for key, game_id in sorted(self._record.made.items(), key=lambda each: -each[1])[:MOST_GAMES]:
            white, black = self._record.rounds[key.round - 1].games[key]
            game: ContestGame = {"game_id": game_id, "white": places[names[white]], "black": places[names[black]]}
            if (outcome := self._record.outcomes.get(key)) is not None:
                game["result"] = cast(Any, outcome.result)
            games.append(game)
        return games


class ReportingWatcher:
    """A receiver of progress reports that has them sent to the daemon, too."""

    def __init__(self, watcher: Watcher, reporter: Reporter) -> None:
        self._watcher, self._reporter = watcher, reporter

    def begins(self, begun: Round) -> None:
        self._watcher.begins(begun)  # the first round may be refused

    def plays(self, key: Key, pairing: Pairing, game_id: int) -> None:
        self._watcher.plays(key, pairing, game_id)
        self._reporter.changed()

    def ends(self, key: Key, pairing: Pairing, outcome: GameResult) -> None:
        self._watcher.ends(key, pairing, outcome)
        self._reporter.changed()

    def awaits(self, players: set[int]) -> None:
        self._watcher.awaits(players)
