"""The queries of ranked play in a database of games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, select

from gm_protocol.endings import Ending, read_ending

from .damage import note_damage
from .interface import Playing, Ranked, RankedResult
from .tables import games

_IS_RANKED = games.c.white_version.is_not(None)
_WHO = (games.c.player_white, games.c.white_version, games.c.player_black, games.c.black_version)

#: Grouped in the order of the index, which covers the query. A game in progress has no result, nor has one called off.
_RESULTS = select(*_WHO, games.c.termination, func.count()).where(_IS_RANKED).group_by(*_WHO, games.c.termination)
_ON = select(games.c.game_id, games.c.player_white, games.c.player_black).where(
    games.c.status.in_(("live", "open")), _IS_RANKED
)
_WRONG = "player, version or termination of a ranked game is none"


def ranked(connection: Connection) -> Ranked:
    """Return all ranked games; see :meth:`gmd.event_log.interface.EventLog.ranked`."""
    return Ranked(
        _whole_results(connection, connection.execute(_RESULTS)),
        [Playing(*row) for row in connection.execute(_ON)],
    )


def _whole_results(connection: Connection, rows: Iterable[Any]) -> list[RankedResult]:
    """Return counts of games as results, but for those called off; log damaged rows."""
    found: list[RankedResult] = []
    for *who, termination, count in rows:
        try:
            ending = read_ending(termination)
        except ValueError:
            ending, is_whole = None, False
        else:
            is_whole = all(isinstance(number, int) for number in who)
        if not is_whole:
            note_damage(connection, games.name, f"of players {who[0]!r:.20} and {who[2]!r:.20}", _WRONG)
        elif ending is not None and not ending.called_off:
            white, of_white, black, of_black = who
            found.append(RankedResult(white, of_white, black, of_black, ending.winner, count))
    return found


class RankedPart(NamedTuple):
    """Some of the finished ranked games, and when the last of them ended, in seconds since 1970."""

    results: list[RankedResult]
    ended: float


def ranked_span(connection: Connection) -> tuple[int, int]:
    """Return the lowest and the highest id of all ranked games; (1, 0) without any."""
    ends = select(func.min(games.c.game_id), func.max(games.c.game_id)).where(_IS_RANKED)
    first, last = connection.execute(ends).one()
    return (1, 0) if first is None else (first, last)


def ranked_part(connection: Connection, first: int, last: int) -> RankedPart:
    """Return the finished ranked games with ids from ``first`` to ``last``, counted."""
    between = games.c.game_id.between(first, last)
    found = _whole_results(connection, connection.execute(_RESULTS.where(between)))
    ended = select(func.max(games.c.changed)).where(_IS_RANKED, between, games.c.status == "over")
    return RankedPart(found, connection.execute(ended).scalar() or 0.0)


def result_of(row: Row[Any]) -> RankedResult | None:
    """Return a finished game's result for ratings, from its row; None if it has none."""
    ending = _ending_of(row)
    if row.white_version is None or ending is None or ending.called_off:
        return None
    return RankedResult(row.player_white, row.white_version, row.player_black, row.black_version, ending.winner)


def _ending_of(row: Row[Any]) -> Ending | None:
    """Return how a game ended, from its row; None if it is in progress, or the row is damaged."""
    try:
        return read_ending(row.termination)
    except ValueError:
        return None
