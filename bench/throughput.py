"""Moves a second, in one-shot and in pipelined sessions, with new and with known positions, against the echo server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from . import servers
from .games import cold_games, warm_games
from .load import HELLO, NEW_GAME, Address, Measured, move, one_shot, session

#: Requests a pipelining client keeps unanswered, and connections the one-shot clients have open.
WINDOW = 64
AT_ONCE = 8


class Run(NamedTuple):
    """The result of a run, and the server's processor time for it, in seconds (None if unknown)."""

    measured: Measured
    cpu: float | None

    @property
    def cpu_each(self) -> float:
        """The processor time per reply, in microseconds; NaN if unknown."""
        return float("nan") if self.cpu is None else self.cpu / self.measured.replies * 1e6


def measure(moves: int, rounds: int) -> None:
    """Print a line for each of the four combinations: medians, and the medians of the ratios pair by pair.

    :param moves: requests per run.
    """
    print(f"{'':18}{'gmd/s':>9}{'echo/s':>9}{'ratio':>7}{'aim':>6}{'gmd us':>9}{'echo us':>9}{'ratio':>7}  reply bytes")
    for name, pipelined, cold, aim in (
        ("one-shot, cold", False, True, 0.45),
        ("one-shot, warm", False, False, 0.65),
        ("pipelined, cold", True, True, 0.20),
        ("pipelined, warm", True, False, 0.80),
    ):
        pairs = [_pair(pipelined, cold, moves, seed) for seed in range(rounds)]
        rates = [(ours.measured.rate, echo.measured.rate) for ours, echo in pairs]
        costs = [(ours.cpu_each, echo.cpu_each) for ours, echo in pairs]
        print(
            f"{name:18}{_median(rates, 0):>9,.0f}{_median(rates, 1):>9,.0f}{median(a / b for a, b in rates):>7.2f}"
            f"{aim:>6.2f}{_median(costs, 0):>9.1f}{_median(costs, 1):>9.1f}{median(b / a for a, b in costs):>7.2f}"
            f"  {pairs[0][0].measured.mean_bytes:,}"
        )
    print("us: the server's processor time per reply; its ratio, like the rates', is 1 if gmd is as fast as echo")


def _median(pairs: Sequence[tuple[float, float]], which: int) -> float:
    return median(pair[which] for pair in pairs)


def _pair(pipelined: bool, cold: bool, moves: int, seed: int) -> tuple[Run, Run]:
    """Run gmd, and then the echo server with messages of the same sizes."""
    games = cold_games(moves, seed) if cold else warm_games(moves)
    with servers.gmd() as server:
        if not cold:
            _run(server, warm_games(moves // 4), pipelined, first_id=1)
        first_id = 1 if cold else 1 + len(warm_games(moves // 4))
        ours = _run(server, games, pipelined, first_id)
    with servers.echo(ours.measured.mean_bytes, one_shot=not pipelined) as server:
        return ours, _run(server, games, pipelined, first_id=1)


def _run(server: servers.Server, games: list[list[str]], pipelined: bool, first_id: int) -> Run:
    """Play games to their ends; their ids are the daemon's next ids."""
    before = server.cpu_seconds()
    measured = (_in_a_session if pipelined else _one_by_one)(server.address, games, first_id)
    after = server.cpu_seconds()
    return Run(measured, None if before is None or after is None else after - before)


def _in_a_session(address: Address, games: list[list[str]], first_id: int) -> Measured:
    frames = [HELLO]
    for game_id, game in enumerate(games, first_id):
        frames += [NEW_GAME, *_moves(game_id, game)]
    return session(address, frames, WINDOW)


def _one_by_one(address: Address, games: list[list[str]], first_id: int) -> Measured:
    # Ids follow the order in which games are created, so all are created first.
    begun = one_shot(address, [iter([NEW_GAME]) for _ in games], AT_ONCE)
    played = one_shot(address, [_moves(game_id, game) for game_id, game in enumerate(games, first_id)], AT_ONCE)
    return Measured(
        begun.replies + played.replies, begun.seconds + played.seconds, begun.reply_bytes + played.reply_bytes
    )


def _moves(game_id: int, game: list[str]) -> Iterator[bytes]:
    return (move(game_id, ply, text) for ply, text in enumerate(game))
