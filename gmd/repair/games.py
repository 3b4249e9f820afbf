"""Whole games from rows that may be damaged, missing or duplicated: a game is whole if it replays by its rules."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from sqlalchemy import Row as SqlRow

from gmd.event_log.checking import problem_of, row_of
from gmd.event_log.reading import StoredGame, Unreadable
from gmd.games.game import Game
from gmd.games.replay import DoesNotApply, replay
from gmd.utc import is_time

from .records import Source
from .shapes import Row

#: Most combinations of events that are tried if there are several events of the same number.
MAX_WAYS = 64


class WholeGame(NamedTuple):
    """A game to be kept: its row, its events, and how the row was mended; None if it was whole."""

    row: Mapping[str, Any]
    events: Sequence[str]
    mended: str | None


class GameRows:
    """All rows found with one game's id."""

    def __init__(self, game_id: int) -> None:
        self.game_id = game_id
        self.games: list[Row] = []
        self.events: defaultdict[int, list[Row]] = defaultdict(list)

    @property
    def rows(self) -> Iterator[Row]:
        yield from self.games
        for rows in self.events.values():
            yield from rows

    @property
    def is_there(self) -> bool:
        """Whether it is more than the remains of a removed game."""
        return any(row.record.source is not Source.FREE_PAGE for row in self.rows)

    def problem(self) -> str:
        """Return the first problem of a game that is not whole."""
        events = next(self._chains(), [])
        if not self.games:
            return f"its row is lost, and its {len(self.events)} events do not make a game"
        problem = problem_of(_stored(self.games[0].columns, events)) or "its id is not a valid game id"
        return problem.removeprefix(f"game {self.game_id}").lstrip(",: ")

    def whole(self) -> WholeGame | None:
        """Return the whole game from its rows; None if there is none.

        The row that agrees with the most events counts, because another may be an older version of it. If no row
        agrees, the row is rebuilt from the events, unless a row says that there were more events.
        """
        if not self.is_there:
            return None
        chains = list(self._chains())
        rows = sorted(self.games, key=lambda row: (row.record.source, -_count(row)))
        for row in rows:
            for events in chains:
                if (found := self._agreeing(row, events)) is not None:
                    return found
        made = (self._made_anew(rows, events) for events in chains)
        return next((game for game in made if game is not None), None)

    def _chains(self) -> Iterator[list[str]]:
        """Yield each combination of the texts of its events, numbered from 0 without a gap."""
        texts: list[list[str]] = []
        while found := self.events.get(len(texts)):
            ordered = sorted(found, key=lambda row: row.record.source)
            texts.append(list(dict.fromkeys(str(row.columns["event"]) for row in ordered)))
        for chain in islice(product(*texts), MAX_WAYS):
            yield list(chain)

    def _agreeing(self, row: Row, events: Sequence[str]) -> WholeGame | None:
        """Return the game with a given row; None if its events do not agree."""
        kept = events[: _count(row)]
        if len(kept) < len(events) and row.record.source is not Source.TABLE:
            return None  # an older version of the row
        return WholeGame(row.columns, kept, None) if problem_of(_stored(row.columns, kept)) is None else None

    def _made_anew(self, rows: Sequence[Row], events: Sequence[str]) -> WholeGame | None:
        """Return the game with a row rebuilt from its events, and from rows for what events do not say; else None."""
        game = _replayed(self.game_id, events)
        if game is None:
            return None
        known = row_of(game, len(events))
        for row in rows:
            wrong = [name for name, value in known.items() if row.columns[name] != value]
            if _count(row) > len(events) and wrong != ["events"]:
                return None  # its last events are lost
        made = _complete(self.game_id, known, rows[0].columns if rows else {}, over=game.over)
        if problem_of(_stored(made, events)) is not None:
            return None
        what = "its row was damaged" if rows else "its row is lost"
        return WholeGame(made, events, f"{what}, and was rebuilt from its events")


def games_of(rows: Iterable[Row]) -> dict[int, GameRows]:
    """Return the rows of each game, by its id."""
    found: dict[int, GameRows] = {}
    for row in rows:
        game_id = row.columns["game_id"]
        assert isinstance(game_id, int)
        game = found.setdefault(game_id, GameRows(game_id))
        if row.table == "games":
            game.games.append(row)
        else:
            game.events[cast(int, row.columns["seq"])].append(row)
    return found


def _count(row: Row) -> int:
    """Return the number of events that a row says there are; 0 if it is damaged."""
    count = row.columns["events"]
    return count if isinstance(count, int) and count > 0 else 0


def _replayed(game_id: int, events: Sequence[str]) -> Game | None:
    stored = _stored({"game_id": game_id}, events)
    try:
        return replay(game_id, stored.decoded())
    except (Unreadable, DoesNotApply):
        return None
    except Exception:  # damaged options can have values that no check foresees
        return None


def _stored(row: Mapping[str, Any], events: Sequence[str]) -> StoredGame:
    return StoredGame(cast("SqlRow[Any]", SimpleNamespace(**row)), list(enumerate(events)), None)


def _complete(game_id: int, known: Mapping[str, Any], damaged: Mapping[str, Any], *, over: bool) -> dict[str, Any]:
    """Return a whole row: the columns known from the events, and for the rest a damaged row's values, if valid."""
    times = {name: damaged.get(name) for name in ("changed", "ended")}
    since = [value for value in times.values() if is_time(value)]
    changed = since[0] if since else time.time()
    is_open = {
        name: damaged[name] if over and damaged.get(name) in (0, 1) else 1 for name in ("white_open", "black_open")
    }
    return {
        "game_id": game_id,
        **known,
        **is_open,
        "changed": changed,
        "ended": (times["ended"] if times["ended"] in since else changed) if over else None,
    }
