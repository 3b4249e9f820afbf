"""The processor time of whole games at two daemons, with clients that follow ``home``, beside that at one daemon.

White makes a game where it is connected; Black is connected to the other daemon, is told in its first reply where the
game is, and goes on there, as gmd's clients do.

Two daemons that share the games of one write half as many in a commit, and so more commits. So a second ratio has
twice the games at the two: what a ply costs when a second daemon comes because there are more games.
"""

from __future__ import annotations

from statistics import median

from .closed_loop import SHUFFLE, Player
from .cluster import Daemons, load, on_postgres, postgres
from .load import Address

#: Games at a time, and plies of each.
AT_ONCE, PLIES = (1, 16, 64), 80
#: The most that two daemons together should spend, as a multiple of one.
AIM = 1.1


def measure(moves: int, rounds: int) -> None:
    """Print a line for each number of games, with the medians of the ratios pair by pair."""
    print(f"home: processor time of a ply in games of {PLIES} plies, in microseconds, with PostgreSQL; " + load())
    print(
        f"{'games':>7}{'one':>9}{'two':>9}{'ratio':>8}{'aim':>6}{'daemons only':>15}{'games a commit':>18}"
        f"{'twice the games':>18}"
    )
    with postgres() as server, on_postgres(server, 1) as one, on_postgres(server, 2) as two:
        for games in AT_ONCE:
            times = max(1, moves // (games * PLIES) if games > 1 else moves // PLIES // 3)
            _cost(one, games, 1), _cost(two, games, 1)
            rows = [
                (_cost(one, games, times), _cost(two, games, times), _cost(two, 2 * games, (times + 1) // 2))
                for _ in range(rounds)
            ]
            pairs = [(a, b) for a, b, _ in rows]
            ratios = [sum(b[:2]) / sum(a[:2]) for a, b in pairs]
            print(
                f"{games:>7}{median(sum(a[:2]) for a, _ in pairs):>9.1f}{median(sum(b[:2]) for _, b in pairs):>9.1f}"
                f"{median(ratios):>8.2f}{AIM:>6}{median(b[0] / a[0] for a, b in pairs):>15.2f}"
                f"{median(a[2] for a, _ in pairs):>11.1f} /{median(b[2] for _, b in pairs):>5.1f}"
                f"{median(sum(c[:2]) / sum(a[:2]) for a, _, c in rows):>18.2f}"
                f"   ({min(ratios):.2f} to {max(ratios):.2f})",
                flush=True,
            )


def _cost(daemons: Daemons, games: int, times: int) -> tuple[float, float, float]:
    """Play games one after the other at so many boards.

    :returns: microseconds a ply of the daemons, and of PostgreSQL; and the games in a commit on average.
    """
    addresses = [daemon.address for daemon in daemons.daemons]
    before, written = daemons.spent(), _commits(daemons)
    for _ in range(times):
        boards = [_Board(addresses[number % len(addresses)], addresses[(number + 1) % len(addresses)])
                  for number in range(games)]  # fmt: skip
        _play(boards)
    spent = daemons.spent().since(before)
    plies = times * games * PLIES
    commits, committed = (late - early for late, early in zip(_commits(daemons), written, strict=True))
    return sum(spent.daemons) / plies * 1e6, spent.database / plies * 1e6, committed / commits


def _commits(daemons: Daemons) -> tuple[float, float]:
    """Return how many commits there were, and how many games were in them, each as often as it was."""
    return (
        sum(daemon.metric("gmd_log_commit_games_count") for daemon in daemons.daemons),
        sum(daemon.metric("gmd_log_commit_games_sum") for daemon in daemons.daemons),
    )


class _Board:
    """A game of two clients, which follow ``home``."""

    def __init__(self, white: Address, black: Address) -> None:
        self.players = [Player(white), Player(black)]
        self.game_id = self.players[0].ask("new_game", player_white=1, player_black=2)["game_id"]
        for player in self.players:
            player.game_id = self.game_id
        reply = self.players[1].ask("state", game_id=self.game_id, player=2)
        if (home := reply.get("home")) is not None:
            self.players[1].close()
            host, _, port = home.rpartition(":")
            self.players[1] = Player((host, int(port)), self.game_id)


def _play(boards: list[_Board]) -> None:
    """Play all games at a time, each of them move by move."""
    import selectors

    selector = selectors.DefaultSelector()
    for board in boards:
        for side, player in enumerate(board.players):
            player.moves = 0
            selector.register(player.connection, selectors.EVENT_READ, (board, side))
        board.players[0].send()
    left = len(boards)
    while left:
        for key, _ in selector.select():
            board, side = key.data
            player, other = board.players[side], board.players[1 - side]
            reply = player.receive()
            if reply is None:
                continue
            assert reply.endswith(b'"error":null}'), reply
            player.moves += 1
            other.moves = player.moves
            if player.moves == PLIES:
                left -= 1
            else:
                other.send()
    for board in boards:
        for player in board.players:
            player.close()


assert PLIES % len(SHUFFLE) == 0
