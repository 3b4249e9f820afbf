"""The processor time of a durable move on PostgreSQL, all processes of it included, beside that of a move on SQLite."""

from __future__ import annotations

from statistics import median

from .closed_loop import LONGEST, Player, new_games, play
from .cluster import Daemons, Spent, load, on_postgres, on_sqlite, postgres

#: Games at a time, with the most that PostgreSQL should cost as a multiple of SQLite.
AT_ONCE = {1: None, 16: 1.4, 64: 1.4, 256: 1.4}


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games, with the medians of the ratios pair by pair.

    :param moves: moves per run.
    """
    print("postgres: processor time of a move, in microseconds, on SQLite and on PostgreSQL; " + load())
    print(f"{'games':>7}{'SQLite':>9}{'PostgreSQL':>12}{'(daemon':>10}{'server)':>9}{'ratio':>8}{'aim':>6}")
    with postgres() as server, on_sqlite() as sqlite, on_postgres(server, 1) as other:
        for games, aim in AT_ONCE.items():
            each = min(moves if games > 1 else moves // 3, games * LONGEST)
            _run(sqlite, games, games * 20), _run(other, games, games * 20)
            pairs = [(_run(sqlite, games, each), _run(other, games, each)) for _ in range(rounds)]
            first, second = ([median(run) for run in zip(*runs, strict=True)] for runs in zip(*pairs, strict=True))
            ratios = [b[0] / a[0] for a, b in pairs]
            said = "" if aim is None else f"{aim:.2f}"
            print(
                f"{games:>7}{first[0]:>9.1f}{second[0]:>12.1f}{second[1]:>10.1f}{second[2]:>9.1f}"
                f"{median(ratios):>8.2f}{said:>6}   ({min(ratios):.2f} to {max(ratios):.2f})",
                flush=True,
            )
    print("counted: the daemon with its threads and child processes; all processes of PostgreSQL")


def _run(daemons: Daemons, games: int, moves: int) -> tuple[float, float, float]:
    """Return microseconds a move: of all, of the daemon, of the database's server."""
    address = daemons.daemons[0].address
    players = [Player(address, game_id) for game_id in new_games(address, games)]
    before: Spent = daemons.spent()
    number = play(players, moves)
    spent = daemons.spent().since(before)
    for player in players:
        player.close()
    return spent.total / number * 1e6, sum(spent.daemons) / number * 1e6, spent.database / number * 1e6
