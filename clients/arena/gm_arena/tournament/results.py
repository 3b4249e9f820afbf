"""What is shown of a tournament: its table, its games as PGN, its progress, and its reports to the daemon."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, cast

import click

from gm_client.blocking import ContestGame, ContestPlayer, ContestReport

from ..contest import MOST_GAMES, plain
from ..crosstable import PLAYED, Game, Table, crosstable, standings
from ..endings import ending_words
from ..report import TIME_FORMAT
from ..schedule import Pairing
from .director import Daemon, Lost
from .plan import GameResult, Key, Round, total_games
from .record import Record

_TAG = re.compile(r'\[(?P<name>\w+) "(?P<value>(?:[^"\\]|\\.)*)"\]')


def games_of(record: Record) -> list[Game]:
    """Return all games of the rounds that have begun."""
    names = [entrant.name for entrant in record.settings.players]
    games: list[Game] = []
    for begun in record.rounds:
        for key, (white, black) in begun.games.items():
            outcome = record.outcomes.get(key)
            games.append(Game(names[white], names[black], None if outcome is None else outcome.result))
    return games


def table_of(record: Record) -> Table:
    """Return the crosstable; players who left keep their points."""
    return crosstable([entrant.name for entrant in record.settings.players], games_of(record))


class WrittenGame(NamedTuple):
    """A game as PGN; None where the daemon no longer has it."""

    game_id: int
    pgn: str | None


async def played_games(record: Record, daemon: Daemon) -> AsyncIterator[WrittenGame]:
    """Yield every game that was played to its end, in order. Forfeits have no moves, and are left out."""
    for begun in record.rounds:
        for key in begun.games:
            outcome = record.outcomes.get(key)
            if outcome is None or outcome.result not in PLAYED:
                continue
            game_id = record.made[key]
            try:
                yield WrittenGame(game_id, retagged(await daemon.pgn(game_id), _tags(record, key)))
            except Lost:
                yield WrittenGame(game_id, None)


def _tags(record: Record, key: Key) -> dict[str, str]:
    """Return the tags that the daemon does not know."""
    white, black = record.rounds[key.round - 1].games[key]
    players = record.settings.players
    return {
        "Event": record.settings.name,
        "Round": str(key),
        "White": players[white].name,
        "Black": players[black].name,
    }


def retagged(pgn: str, tags: dict[str, str]) -> str:
    """Return a PGN with new values for tags that it has; everything else stays as it is."""
    head, empty, moves = pgn.partition("\n\n")
    lines = []
    for line in head.split("\n"):
        tag = _TAG.fullmatch(line)
        value = None if tag is None else tags.get(tag["name"])
        lines.append(line if tag is None or value is None else f'[{tag["name"]} "{_escaped(value)}"]')
    return "\n".join(lines) + empty + moves


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


# --- The progress ------------------------------------------------------------------------------------------------


class Lines:
    """Writes a line with its time to standard error for each event.

    :ivar changed: called when the standings have changed.
    """

    def __init__(self, record: Record, changed: Callable[[], None]) -> None:
        self._record, self.changed = record, changed
        self._names = [entrant.name for entrant in record.settings.players]
        self._awaited: set[int] = set()

    def begins(self, begun: Round) -> None:
        count = len(begun.pairings)
        self._say(f"round {begun.number}: {count} {'game' if count == 1 else 'games'}")

    def plays(self, key: Key, pairing: Pairing, game_id: int) -> None:
        self._say(f"{key} {self._both(pairing)}: game {game_id}")
        self.changed()

    def ends(self, key: Key, pairing: Pairing, outcome: GameResult) -> None:
        reason = ending_words(outcome.reason, self._record.settings.terms["variant"])
        done = f"{len(self._record.outcomes)} of {total_games(self._record.settings)}"
        self._say(f"{key} {self._both(pairing)}: {outcome.result} {reason} ({done})")
        self.changed()

    def awaits(self, players: set[int]) -> None:
        if players - self._awaited:
            names = ", ".join(self._names[player] for player in sorted(players))
            self._say(f"waiting for {names}, for {self._record.settings.absence:g} s (--absence)")
        self._awaited = players

    def _both(self, pairing: Pairing) -> str:
        return " - ".join(self._names[player] for player in pairing)

    def _say(self, text: str) -> None:
        click.echo(f"{datetime.now(UTC):{TIME_FORMAT}} {text}", err=True)


# --- Reports to the daemon ---------------------------------------------------------------------------------------


#: The columns of a table in front of its cells: place, name, points, games.
_BEFORE_CELLS = 4

Status = Literal["running", "stopped", "over"]

_FORMATS = {"round-robin": "Round robin", "gauntlet": "Gauntlet"}


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
        rows = standings([*ids], games_of(self._record))
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
