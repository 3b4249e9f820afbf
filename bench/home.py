"""The processor time of whole games at two daemons, with clients that follow ``home``, beside that at one daemon.

White makes a game where it is connected; Black is connected to the other daemon, learns from its first reply where the
game is, and goes on there, as gmd's clients do.

Two daemons that share the games of one write half as many in a commit, and so more commits. What any server pays for
that is measured with bare ones (:mod:`bench.bare_server`) in the same rounds. Another ratio has twice the games at the
two daemons: what a ply costs when a second daemon comes because there are more games.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from .bare_servers import bare_servers
from .closed_loop import SHUFFLE, Player
from .cluster import Daemons, load, on_postgres, postgres
from .load import Address

#: Games at a time, and plies of each.
AT_ONCE, PLIES = (1, 16, 64), 80
#: The most that two daemons together should spend, as a multiple of one.
AIM = 1.1


class Cost(NamedTuple):
    """Microseconds a ply of the servers, and of PostgreSQL; and the games in a commit on average."""

    servers: float
    database: float
    games: float

    @property
    def total(self) -> float:
        """That of the servers and of PostgreSQL."""
        return self.servers + self.database


class _Round(NamedTuple):
    """Runs one after the other: of daemons, twice as many games at the last two; and of bare servers."""

    one: Cost
    two: Cost
    twice: Cost
    bare_one: Cost
    bare_two: Cost


def measure(moves: int, rounds: int) -> None:
    """Print two lines for each number of games, with the medians of the ratios pair by pair."""
    print(f"home: processor time of a ply in games of {PLIES} plies, in microseconds, with PostgreSQL; " + load())
    print(
        f"{'games':>7}{'servers':>9}{'one':>9}{'two':>9}{'ratio':>8}{'aim':>6}{'lowest, highest':>18}"
        f"{'servers only':>14}{'games a commit':>16}{'twice the games':>17}{'least':>8}"
    )
    with (
        postgres() as server,
        on_postgres(server, 1) as one,
        on_postgres(server, 2) as two,
        bare_servers(server, 1) as bare_one,
        bare_servers(server, 2) as bare_two,
    ):
        for games in AT_ONCE:
            times = max(1, moves // (games * PLIES) if games > 1 else moves // PLIES // 3)
            for each in (one, two, bare_one, bare_two):
                _cost(each, games, 1)
            runs = [
                _Round(
                    _cost(one, games, times),
                    _cost(two, games, times),
                    _cost(two, 2 * games, (times + 1) // 2),
                    _cost(bare_one, games, times),
                    _cost(bare_two, games, times),
                )
                for _ in range(rounds)
            ]
            twice = median(run.twice.total / run.one.total for run in runs)
            least = median(1 + (run.bare_two.total - run.bare_one.total) / run.one.total for run in runs)
            end = f"{twice:>17.2f}{least:>8.2f}"
            _print(f"{games:>7}{'gmd':>9}", [(run.one, run.two) for run in runs], f"{AIM:>6}", end)
            _print(f"{'':>7}{'bare':>9}", [(run.bare_one, run.bare_two) for run in runs], f"{'':>6}", "")
    print("least: of one daemon, if the second one added no more than it does with bare servers")


def _print(begin: str, pairs: Sequence[tuple[Cost, Cost]], aim: str, end: str) -> None:
    ratios = [two.total / one.total for one, two in pairs]
    print(
        f"{begin}{median(one.total for one, _ in pairs):>9.1f}{median(two.total for _, two in pairs):>9.1f}"
        f"{median(ratios):>8.2f}{aim}{min(ratios):>11.2f} to{max(ratios):>5.2f}"
        f"{median(two.servers / one.servers for one, two in pairs):>13.2f}"
        f"{median(one.games for one, _ in pairs):>10.1f} /{median(two.games for _, two in pairs):>5.1f}{end}",
        flush=True,
    )


def _cost(daemons: Daemons, games: int, times: int) -> Cost:
    """Play games one after the other at so many boards."""
    addresses = [daemon.address for daemon in daemons.daemons]
    before, written = daemons.spent(), daemons.commits()
    for _ in range(times):
        boards = [_Board(addresses[number % len(addresses)], addresses[(number + 1) % len(addresses)])
                  for number in range(games)]  # fmt: skip
        _play(boards)
    spent = daemons.spent().since(before)
    plies = times * games * PLIES
    commits, committed = (late - early for late, early in zip(daemons.commits(), written, strict=True))
    return Cost(sum(spent.daemons) / plies * 1e6, spent.database / plies * 1e6, committed / commits)


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
