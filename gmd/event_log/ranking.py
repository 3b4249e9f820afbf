"""The queries of ranked play in a database of games."""

from __future__ import annotations

from typing import Any

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
    found: list[RankedResult] = []
    for *who, termination, count in connection.execute(_RESULTS):
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
    return Ranked(found, [Playing(*row) for row in connection.execute(_ON)])


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
