"""Bare servers (:mod:`bench.bare_server`) on a database of their own: what daemons are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg

from gmd.cluster.connecting import plain_url
from gmd.event_log.migrations import migrate
from gmd.event_log.postgres_engine import open_engine
from tests.postgres import Postgres

from . import servers
from .closed_loop import Player
from .cluster import Daemons, postmaster_of

#: Games that each server has: more than a benchmark makes.
GAMES = 10_000
_FILL = """
INSERT INTO games (game_id, variant, player_white, player_black, created, clocked, white_open, black_open, status,
    termination, events, turn, ply_index, changed)
SELECT number, 'standard', 1, 2, '2026-01-01T00:00:00Z', false, true, true, 'live', 'available_move', 1, 'white', 0, 0
    FROM generate_series(1, %s) AS number
"""


class BareServer(servers.Server):
    """A running bare server."""

    def commits(self) -> tuple[float, float]:
        player = Player(self.address)
        counts = player.ask("counts")
        player.close()
        return counts["commits"], counts["games"]


@contextmanager
def bare_servers(server: Postgres, size: int) -> Iterator[Daemons]:
    """Run so many bare servers on a new database, each of which has a link to the others."""
    url = server.new_database()
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()
    with psycopg.connect(plain_url(url), autocommit=True) as connection:
        connection.execute(_FILL, [size * GAMES])
        connection.execute("UPDATE shards SET daemon = 1 + shard %% %s, epoch = 1", [size])
        connection.execute("VACUUM ANALYZE")
    with ExitStack() as stack:
        running = [stack.enter_context(_bare_server(url, number, size)) for number in range(size)]
        addresses = [f"{host}:{port}" for host, port in (each.address for each in running)]
        for each in running:
            player = Player(each.address)
            player.ask("peers", addresses=addresses)
            player.close()
        yield Daemons(running, postmaster_of(server))


@contextmanager
def _bare_server(url: str, number: int, size: int) -> Iterator[BareServer]:
    with servers.running("-m", "bench.bare_server", url, str(number), str(size)) as process:
        yield BareServer(process)
