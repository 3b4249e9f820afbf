"""Players (:class:`gm_recon.Player`) in all games of a batch at once: :func:`run`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from gm_recon import History, Player, WinReason
from gm_recon.player import check_players, name_of

from .actions import move_of, seen_by
from .batch import BatchedRbc
from .games import check
from .kernels.layout import NONE, OVER, PASS, SKIP
from .observed_turn import ObservedTurn
from .player_seat import Clock, OutOfTime, PlayerSeat


def run(
    players: Sequence[tuple[Player, Player]],
    batch: BatchedRbc,
    *,
    seconds: float | None = 900.0,
    increment: float = 5.0,
    now: Callable[[], float] = time.monotonic,
) -> list[History]:
    """Play each game of a batch between two players of its own, and return the records in the batch's order. ::

        batch = BatchedRbc(1000)
        histories = run([(MyBot(), OtherBot()) for _ in range(batch.n)], batch)

    A player is called as by :func:`gm_recon.play_local`, and plays the same game there by the same seed; only its clock
    does not count ``handle_move_result``. The players of all games are called one after the other, a turn of each at a
    time. What a player raises is passed on, and leaves the batch as it is.

    :param players: White and Black of each game; no player may be in two games.
    :param batch: games that are at their beginning. It holds their ends afterwards, except for a loss on time.
    :param seconds: each player's time; None for no limit.
    :param increment: the seconds added after each turn.
    :param now: a clock, in seconds.
    :raises TypeError: a player is a class.
    :raises ValueError: there are not two players for each game; a player is in two games; a game has begun; or a
        player's action is not allowed.
    """
    check(len(players) == batch.n, f"players: there are {len(players)} pairs for {batch.n} games")
    check_players(*chain.from_iterable(players))
    check(_are_apart(players), "players: one is in two games; make new ones for each, as in the example of run")
    check(not batch.plies.any() and not batch.phases.any(), "batch: a game has begun; call reset()")
    clock = Clock.of(seconds, increment, now)
    seats = [_seated(pair, batch._start_fen(game), clock) for game, pair in enumerate(players)]
    lost_on_time: dict[int, bool] = {}

    def act(choose: Callable[[PlayerSeat, ObservedTurn], int]) -> NDArray[np.int64]:
        actions, observations = np.full(batch.n, SKIP, np.int64), batch.observations()
        for game in np.flatnonzero(batch.phases != OVER).tolist():
            color = bool(batch.colors[game])
            if game not in lost_on_time:
                try:
                    actions[game] = choose(seats[game][color], ObservedTurn(observations[game], color))
                except OutOfTime:
                    lost_on_time[game] = color
        return actions

    while len(lost_on_time) + np.count_nonzero(batch.phases == OVER) < batch.n:
        batch.sense(act(PlayerSeat.sense))
        colors, actions = batch.colors.copy(), act(PlayerSeat.move)
        batch.move(actions)
        for game in np.flatnonzero(actions != SKIP).tolist():
            color = bool(colors[game])
            seats[game][color].settle(*_outcome(batch.results[game], color))
    return [_ended(batch, game, seats[game], lost_on_time.get(game)) for game in range(batch.n)]


def _are_apart(players: Sequence[tuple[Player, Player]]) -> bool:
    """Return whether each player is in one game."""
    games = [{id(player) for player in pair} for pair in players]
    return len(set().union(*games)) == sum(map(len, games))


def _seated(pair: tuple[Player, Player], fen: str, clock: Clock) -> tuple[PlayerSeat, PlayerSeat]:
    """Return the seats of Black and White, whose game has begun."""
    white, black = pair
    first = PlayerSeat(white, chess.WHITE, fen, name_of(black), clock)
    second = PlayerSeat(black, chess.BLACK, fen, name_of(white), clock)
    first.begin()
    second.begin()
    return second, first


def _outcome(result: NDArray[Any], color: bool) -> tuple[int | None, int | None, int | None]:
    """Return the squares of the move made and of the capture."""
    made, capture = int(result[1]), int(result[2])
    move = None if made == PASS else move_of(made, color, 0)
    captured = None if capture == NONE else seen_by(capture, color)
    return (None, None, captured) if move is None else (move.from_square, move.to_square, captured)


def _ended(batch: BatchedRbc, game: int, seats: tuple[PlayerSeat, PlayerSeat], lost_on_time: bool | None) -> History:
    """Tell both players of a game how it ended; return its record."""
    history = batch.history(game)
    if lost_on_time is not None:
        history.winner, history.win_reason = not lost_on_time, WinReason.TIMEOUT
    for seat in reversed(seats):
        seat.end(history)
    return history
