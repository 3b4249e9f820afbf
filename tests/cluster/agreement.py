"""Checking that what the lobby's owner counts is what the log says."""

from __future__ import annotations

from gmd.event_log.interface import GameQuery
from gmd.games.game_note import GameNote, note_of
from gmd.games.notation import run_through
from gmd.games.variants import replayed
from gmd.lobby.book import Book
from tests.cluster.whole_cluster import WholeCluster


async def games_of(cluster: WholeCluster) -> list[GameNote]:
    """Return all games of the log."""
    found = []
    for row in await cluster.log.rows(GameQuery()):
        events = await cluster.log.load(row.game_id)
        found.append(note_of(run_through(replayed(row.game_id, events)), len(events)))
    return found


async def check_agreement(cluster: WholeCluster, players: list[int], *, addresses: bool = True) -> list[GameNote]:
    """Check that limits count the games of the log and no others; return these.

    :param addresses: whether all games were made from addresses, and since the lobby has had this owner.
    """
    games, logged, book = await games_of(cluster), Book(), cluster.lobby.lobby.book
    for game in games:
        logged.note(game)
    for player in players:
        assert book.in_hand(player) == logged.in_hand(player)
        assert book.out(player) == logged.out(player)
        assert len(book.inbox(player)) == len(logged.inbox(player))
        assert book.received(player) == logged.received(player)
        assert book.sent(player) == logged.sent(player)
    quotas = cluster.lobby.lobby.quotas
    live = {game.id for game in games if not game.over}
    waiting = {game.id for game in games if not game.over and not game.begun}
    counted = {*quotas.games}, {*quotas.pending}
    if addresses:
        assert counted == (live, waiting)
    else:
        assert counted[0] <= live
        assert counted[1] <= waiting
    return games
