"""The processor time of a move whose game another daemon owns, over both daemons, beside that of a move at its owner.

Two daemons on one PostgreSQL, each with half the games. Clients play at the owner of their game, or at the other one.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from .closed_loop import LONGEST, Player, new_games, play
from .cluster import Daemons, load, on_postgres, postgres

#: Games at a time, each with a connection of its own.
AT_ONCE = (1, 16, 64)
#: The most that a forwarded move should cost, as a multiple of a local one.
AIM = 1.5


class Cost(NamedTuple):
    """Microseconds of processor time for each move: of both daemons, and of the database's server."""

    daemons: float
    database: float


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games, with the medians of the ratios pair by pair."""
    print("forwarding: processor time of a move, in microseconds, of both daemons (and PostgreSQL); " + load())
    print(f"{'games':>7}{'local':>15}{'forwarded':>17}{'ratio':>8}{'aim':>6}{'with PostgreSQL':>18}")
    with postgres() as server, on_postgres(server, 2) as two:
        idle = two.idle()
        for games in AT_ONCE:
            each = min(moves if games > 1 else moves // 3, games * LONGEST)
            _cost(two, games, games * 20, forwarded=False), _cost(two, games, games * 20, forwarded=True)
            pairs = [
                (_cost(two, games, each, forwarded=False), _cost(two, games, each, forwarded=True))
                for _ in range(rounds)
            ]
            local, forwarded = (Cost(*map(median, zip(*runs, strict=True))) for runs in zip(*pairs, strict=True))
            ratios = [b.daemons / a.daemons for a, b in pairs]
            total = median(sum(b) / sum(a) for a, b in pairs)
            print(
                f"{games:>7}{local.daemons:>7.1f} ({local.database:>5.1f}){forwarded.daemons:>9.1f}"
                f" ({forwarded.database:>5.1f}){median(ratios):>8.2f}{AIM:>6}{total:>18.2f}"
                f"   ({min(ratios):.2f} to {max(ratios):.2f})",
                flush=True,
            )
    print(
        f"counted with it: {sum(idle.daemons) * 1e3:.1f} ms a second of both daemons, and {idle.database * 1e3:.1f} of"
        " PostgreSQL, which they spend while there are no requests"
    )


def _cost(two: Daemons, games: int, moves: int, *, forwarded: bool) -> Cost:
    """Play games half of which each daemon has, at their owners or at the other one."""
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
