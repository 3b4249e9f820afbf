"""The results of a tournament: its table, and its games as PGN."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import NamedTuple

from ..crosstable import BYE, PLAYED, Game, Table, crosstable, round_table
from .daemon import Daemon, Lost
from .plan import Key
from .record import Record

_TAG = re.compile(r'\[(?P<name>\w+) "(?P<value>(?:[^"\\]|\\.)*)"\]')


def games_of(record: Record) -> list[Game]:
    """Return all games of the rounds that have begun, and the byes."""
    names = [entrant.name for entrant in record.settings.players]
    games: list[Game] = []
    for begun in record.rounds:
        for key, (white, black) in begun.games.items():
            outcome = record.outcomes.get(key)
            games.append(Game(names[white], names[black], None if outcome is None else outcome.result, begun.number))
        if begun.bye is not None:
            games += [Game(names[begun.bye], None, BYE, begun.number)] * record.settings.games
    return games


def tiebreaks_of(record: Record) -> tuple[str, ...]:
    """Return the tie-breaks, in the order in which they apply."""
    return ("Buchholz" if record.settings.format == "swiss" else "S-B", "Direct", "Wins")


def table_of(record: Record) -> Table:
    """Return the table: by rounds for a Swiss tournament, else a crosstable; players who left keep their points."""
    names = [entrant.name for entrant in record.settings.players]
    if record.settings.format == "swiss":
        return round_table(names, games_of(record), tiebreaks_of(record))
    return crosstable(names, games_of(record), tiebreaks_of(record))


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
