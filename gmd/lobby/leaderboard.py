"""The leaderboard as it is shown, and its computation from a log without a daemon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import trio
from msgspec import Struct

from gm_protocol.ranked import LeaderboardRow
from gmd.lobby.ratings import Ladder, LeaderboardEntry, climb
from gmd.lobby.results import Record

if TYPE_CHECKING:
    from sqlalchemy import Engine


class Leaderboard(Struct, frozen=True):
    """All rows, the strongest first, and the number of games behind them."""

    leaderboard: list[LeaderboardRow]
    games: int


def row_of(place: int, entry: LeaderboardEntry, name: str | None) -> LeaderboardRow:
    """Return a row of the leaderboard.

    :param name: the player's; None where that id is not registered: games may have been imported without players.
    """
    (player, version), rating, score = entry.entrant, entry.rating, entry.score
    return LeaderboardRow(
        place=place,
        player=player,
        name=str(player) if name is None else name,
        version=version,
        rating=rating.rating,
        deviation=rating.deviation,
        anchor=rating.is_anchor,
        games=score.games,
        wins=score.wins,
        draws=score.draws,
        losses=score.losses,
    )


def recompute(engine: Engine, anchors: Mapping[str, float]) -> Leaderboard:
    """Return the leaderboard computed from the games of a log. Blocks.

    :param anchors: fixed ratings of players, by their names in lower case.
    """
    from gmd.event_log.sql import ranked
    from gmd.players.sql import load_players

    with engine.connect() as connection:
        record = Record(ranked(connection).results)
        names = {account.player: account.name for account in load_players(connection)}
    given = {player: anchors[name.lower()] for player, name in names.items() if name.lower() in anchors}
    return _board(trio.run(climb, record, given), names)


def _board(ladder: Ladder, names: Mapping[int, str]) -> Leaderboard:
    rows = [row_of(place, entry, names.get(entry.entrant.player)) for place, entry in enumerate(ladder.entries, 1)]
    return Leaderboard(rows, ladder.games)
