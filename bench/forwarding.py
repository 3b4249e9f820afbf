"""The processor time of a move whose game another daemon owns, over both daemons, beside that of a move at its owner.

Two daemons on one PostgreSQL, each with half the games. Clients play at the owner of their game, or at the other one.
Two bare servers (:mod:`bench.bare_server`) do the same in the same rounds: what any program pays for the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from typing import NamedTuple

from .bare_servers import bare_servers
from .closed_loop import LONGEST, Player, new_games, play
from .cluster import Daemons, load, on_postgres, postgres

#: Games at a time, each with a connection of its own.
AT_ONCE = (1, 16, 64)
#: The most that a forwarded move should cost, as a multiple of a local one.
AIM = 1.5


class Cost(NamedTuple):
    """Microseconds of processor time for each move: of both servers, and of the database's server."""

    servers: float
    database: float


def measure(moves: int, rounds: int, against: str | None = None) -> None:
    """Print two lines for each number of games, with the medians of the ratios pair by pair.

    :param against: the folder of another checkout of gmd, whose daemons get a line, too.
    """
    print("forwarding: processor time of a move, in microseconds, of both servers (and PostgreSQL); " + load())
    print(
        f"{'games':>7}{'servers':>9}{'local':>16}{'forwarded':>16}{'ratio':>8}{'aim':>6}{'lowest, highest':>18}"
        f"{'with PostgreSQL':>17}{'least':>8}"
    )
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        bare, two = stack.enter_context(bare_servers(server, 2)), stack.enter_context(on_postgres(server, 2))
        others = [] if against is None else [stack.enter_context(on_postgres(server, 2, against))]
        idle = two.idle()
        for games in AT_ONCE:
            each = min(moves if games > 1 else moves // 3, games * LONGEST)
            for servers in (two, bare, *others):
                _pair(servers, games, games * 20)
            rounded = [[_pair(servers, games, each) for servers in (two, bare, *others)] for _ in range(rounds)]
            least = median(1 + (b.servers - a.servers) / local.servers for (local, _), (a, b), *_ in rounded)
            _print(f"{games:>7}{'gmd':>9}", [pairs[0] for pairs in rounded], f"{AIM:>6}", f"{least:>8.2f}")
            _print(f"{'':>7}{'bare':>9}", [pairs[1] for pairs in rounded], f"{'':>6}", "")
            if others:
                _print(f"{'':>7}{'other':>9}", [pairs[2] for pairs in rounded], f"{AIM:>6}", "")
    print("least: of a local move of gmd's, if forwarding added no more than it does between bare servers")
    print(
        f"counted with it: {sum(idle.daemons) * 1e3:.1f} ms a second of both daemons, and {idle.database * 1e3:.1f} of"
        " PostgreSQL, which they spend while there are no requests"
    )


def _print(begin: str, pairs: Sequence[tuple[Cost, Cost]], aim: str, end: str) -> None:
    local, forwarded = (Cost(*map(median, zip(*runs, strict=True))) for runs in zip(*pairs, strict=True))
    ratios = [b.servers / a.servers for a, b in pairs]
    print(
        f"{begin}{local.servers:>8.1f} ({local.database:>5.1f}){forwarded.servers:>8.1f} ({forwarded.database:>5.1f})"
        f"{median(ratios):>8.2f}{aim}{min(ratios):>11.2f} to{max(ratios):>5.2f}"
        f"{median(sum(b) / sum(a) for a, b in pairs):>17.2f}{end}",
        flush=True,
    )


def _pair(two: Daemons, games: int, moves: int) -> tuple[Cost, Cost]:
    """Play local games, and then forwarded ones."""
    return _cost(two, games, moves, forwarded=False), _cost(two, games, moves, forwarded=True)


def _cost(two: Daemons, games: int, moves: int, *, forwarded: bool) -> Cost:
    """Play games half of which each server has, at their owners or at the other one."""
    addresses = [daemon.address for daemon in two.daemons]
    players = []
    for which, number in enumerate((games - games // 2, games // 2)):
        at = addresses[1 - which if forwarded else which]
        players += [Player(at, game_id) for game_id in new_games(addresses[which], number)]
    before = two.spent()
    number = play(players, moves)
    spent = two.spent().since(before)
    for player in players:
        player.close()
    return Cost(sum(spent.daemons) / number * 1e6, spent.database / number * 1e6)
