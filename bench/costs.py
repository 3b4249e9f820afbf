"""The costs that the simulation of many daemons computes with, measured at two daemons on one PostgreSQL.

Only the daemons' processor time: the simulation has no database.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import count
from statistics import median
from typing import NamedTuple

import psycopg

from gmd.cluster.shards import LOBBY

from .closed_loop import Player, new_games, play
from .cluster import Daemons, load, on_postgres, postgres
from .load import Address

#: Games at a time, games that are made and resigned, and games that are sought.
AT_ONCE, MADE, SOUGHT = 16, 300, 100

_names = count(1)


class Measured(NamedTuple):
    """Microseconds of processor time: the fields of :class:`bench.many_daemons.Costs`."""

    local: float
    passed_on: float
    received: float
    made: float
    noted: float
    admitted: float
    sought: float
    sought_alone: float


def measure(moves: int, rounds: int) -> None:
    """Print the medians, in microseconds."""
    with postgres() as server, on_postgres(server, 2) as two:
        owners = _lobby(two, server.url(f"test_{_pid()}_1"))
        runs = [_run(two, owners, moves) for _ in range(rounds + 1)][1:]
    print(f"costs: processor time of a daemon in microseconds, {AT_ONCE} games at a time; " + load())
    for name, values in zip(Measured._fields, zip(*runs, strict=True), strict=True):
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


def _run(two: Daemons, lobby: int, moves: int) -> Measured:
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
    apart, together = _sought(two, addresses[home]), _sought(two, addresses[lobby])
    return Measured(
        local[home],
        forwarded[lobby],
        forwarded[home] - local[home],
        making[home] / MADE * 1e6,
        (making[lobby] + ending[lobby]) / (2 * MADE) * 1e6,
        apart[lobby],
        apart[home],
        together[lobby],
    )


def _sought(two: Daemons, address: Address) -> tuple[float, ...]:
    """Have two players at one daemon seek games; return what a game costs each daemon, without its end."""
    white, black = _registered(address), _registered(address)
    made: list[int] = []

    def seek() -> None:
        white.ask("seek", color="white")
        made.append(black.ask("seek", color="black")["game_id"])
        white.ask("accept", game_id=made[-1])

    seeking = (0.0,) * len(two.daemons)
    for _ in range(SOUGHT):
        seeking = tuple(map(sum, zip(seeking, _spent(two, seek), strict=True)))
        white.ask("end_game", game_id=made[-1], termination="resignation_white")
    white.close()
    black.close()
    return tuple(each / SOUGHT * 1e6 for each in seeking)


def _registered(address: Address) -> Player:
    """Connect a new player, who has proved who it is."""
    player = Player(address)
    name = f"seeker-{next(_names)}"
    player.ask("hello", protocol=2, name=name, key=player.ask("register", name=name)["key"])
    return player


def _spent(two: Daemons, work: Callable[[], object]) -> tuple[float, ...]:
    """Return the seconds of processor time that the daemons spend on some work, beyond what they spend idle."""
    before, since = two.spent(), time.monotonic()
    work()
    spent, seconds = two.spent().since(before).daemons, time.monotonic() - since
    return tuple(each - rate * seconds for each, rate in zip(spent, _idle(two), strict=True))


@cache
def _idle(two: Daemons) -> tuple[float, ...]:
    """Return what each daemon spends a second while it has nothing to do but to renew its lease."""
    return two.idle().daemons
