"""The costs that the simulation of many daemons computes with, measured at two daemons on one PostgreSQL.

Only the daemons' processor time: the simulation has no database.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import psycopg

from gmd.cluster.shards import LOBBY

from .closed_loop import Player, new_games, play
from .cluster import Daemons, load, on_postgres, postgres

#: Games at a time, and games that are made and resigned.
AT_ONCE, MADE = 16, 300


def measure(moves: int, rounds: int) -> None:
    """Print the medians, in microseconds."""
    with postgres() as server, on_postgres(server, 2) as two:
        owners = _lobby(two, server.url(f"test_{_pid()}_1"))
        runs = [_run(two, owners, moves) for _ in range(rounds + 1)][1:]
    print(f"costs: processor time of a daemon in microseconds, {AT_ONCE} games at a time; " + load())
    names = ("local", "passed_on", "received", "made", "noted")
    for name, values in zip(names, zip(*runs, strict=True), strict=True):
        print(f"  {name:10}{median(values):>8.1f}   ({min(values):.1f} to {max(values):.1f})")


def _pid() -> int:
    import os

    return os.getpid()


def _lobby(two: Daemons, url: str) -> int:
    """Return which daemon owns the lobby."""
    query = "SELECT split_part(game, ':', 2)::int FROM shards JOIN daemons USING (daemon) WHERE shard = %s"
    with psycopg.connect(url) as connection:
        [[port]] = connection.execute(query, (LOBBY,)).fetchall()
    return [daemon.address[1] for daemon in two.daemons].index(port)


def _run(two: Daemons, lobby: int, moves: int) -> tuple[float, float, float, float, float]:
    """Return the costs; moves are at games of the daemon that does not own the lobby, which forwards none of them."""
    home = 1 - lobby
    addresses = [daemon.address for daemon in two.daemons]

    def played(at: int) -> tuple[float, ...]:
        players = [Player(addresses[at], game_id) for game_id in new_games(addresses[home], AT_ONCE)]
        spent = _spent(two, lambda: play(players, moves))
        for player in players:
            player.close()
        return tuple(each / moves * 1e6 for each in spent)

    local, forwarded = played(home), played(lobby)
    made: list[int] = []
    maker = Player(addresses[home])

    def make() -> None:
        made.extend(maker.ask("new_game", player_white=1, player_black=2)["game_id"] for _ in range(MADE))

    def end() -> None:
        for game_id in made:
            maker.ask("end_game", game_id=game_id, player=1, termination="resignation_white")

    making, ending = _spent(two, make), _spent(two, end)
    maker.close()
    return (
        local[home],
        forwarded[lobby],
        forwarded[home] - local[home],
        making[home] / MADE * 1e6,
        (making[lobby] + ending[lobby]) / (2 * MADE) * 1e6,
    )


def _spent(two: Daemons, work: Callable[[], object]) -> tuple[float, ...]:
    """Return the seconds of processor time that the daemons spend on some work."""
    before = two.spent()
    work()
    return two.spent().since(before).daemons
