"""Moves a second, in one-shot and in pipelined sessions, on new and on known positions, against the echo server."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from . import servers
from .games import cold_games, warm_games
from .load import NEW_GAME, Address, Measured, frame, move, one_shot, session

#: Requests a pipelining client keeps unanswered, and connections the one-shot clients have open.
WINDOW = 64
AT_ONCE = 8

HELLO = frame({"kind": "hello", "protocol": 2})


def measure(moves: int, rounds: int) -> None:
    """Print a line for each of the four combinations: medians, and the median of the ratios pair by pair.

    :param moves: requests a run.
    """
    print(f"{'':24}{'gmd/s':>10}{'echo/s':>10}{'ratio':>8}{'aim':>7}   reply bytes")
    for name, pipelined, cold, aim in (
        ("one-shot, cold", False, True, 0.45),
        ("one-shot, warm", False, False, 0.65),
        ("pipelined, cold", True, True, 0.20),
        ("pipelined, warm", True, False, 0.80),
    ):
        pairs = [_pair(pipelined, cold, moves, seed) for seed in range(rounds)]
        ours, echoes = median(gmd.rate for gmd, _ in pairs), median(echo.rate for _, echo in pairs)
        ratio = median(gmd.rate / echo.rate for gmd, echo in pairs)
        print(f"{name:24}{ours:>10,.0f}{echoes:>10,.0f}{ratio:>8.2f}{aim:>7.2f}   {pairs[0][0].mean_bytes:,}")


def _pair(pipelined: bool, cold: bool, moves: int, seed: int) -> tuple[Measured, Measured]:
    """One run of gmd, and one of the echo server with messages of the same sizes."""
    games = cold_games(moves, seed) if cold else warm_games(moves)
    with servers.gmd() as address:
        if not cold:
            _run(address, warm_games(moves // 4), pipelined, first_id=1)
        first_id = 1 if cold else 1 + len(warm_games(moves // 4))
        ours = _run(address, games, pipelined, first_id)
    with servers.echo(ours.mean_bytes, one_shot=not pipelined) as address:
        return ours, _run(address, games, pipelined, first_id=1)


def _run(address: Address, games: list[list[str]], pipelined: bool, first_id: int) -> Measured:
    """Play games to their ends; their ids are the daemon's next ones."""
    if pipelined:
        frames = [HELLO]
        for game_id, game in enumerate(games, first_id):
            frames += [NEW_GAME, *(move(game_id, ply, text) for ply, text in enumerate(game))]
        return session(address, frames, WINDOW)
    # Ids follow the order in which the games begin: all of them first.
    one_shot(address, [iter([NEW_GAME]) for _ in games], AT_ONCE)
    return one_shot(address, [_moves(game_id, game) for game_id, game in enumerate(games, first_id)], AT_ONCE)


def _moves(game_id: int, game: list[str]) -> Iterator[bytes]:
    return (move(game_id, ply, text) for ply, text in enumerate(game))
