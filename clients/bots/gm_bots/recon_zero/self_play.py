"""Games to learn from, and games to measure what was learnt; both in this process, without a server."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import chess
from chess import Color, Move, Square

from gm_recon import Cell, ReconGame

from .actions import index_of
from .belief import certain
from .encoder import Planes, encode
from .lockstep.judging import Judge
from .player import Player, Settings
from .replay import Sample
from .search import Found


def play_itself(judge: Judge, settings: Settings, seed: str, max_plies: int) -> list[Sample]:
    """Play a game against itself; return both players' decisions with its result. A game that is too long is drawn.

    The input of a decision is the true position, which the player did not know.

    :param seed: the seed of the game; the same seed makes the same game.
    """
    players = {
        color: Player(color, judge, settings, random.Random(f"{seed} {color}"), keep=True) for color in chess.COLORS
    }
    truth: dict[Color, list[Planes]] = {color: [] for color in chess.COLORS}
    winner = _play(players, max_plies, lambda game: truth[game.turn].append(_shown(game)))
    return [
        _sample(found, position, color, winner)
        for color, player in players.items()
        for found, position in zip(player.found, truth[color], strict=True)
    ]


def play_random(judge: Judge, settings: Settings, seed: str, color: Color, max_plies: int) -> float:
    """Play as a colour against a player who senses and moves at random; return the points: 1, 0.5 or 0."""
    player = Player(color, judge, settings, random.Random(f"{seed} player"))
    winner = _play({color: player, not color: RandomMover(random.Random(f"{seed} random"))}, max_plies)
    return 0.5 if winner is None else float(winner == color)


def play_other(ours: Judge, theirs: Judge, settings: Settings, seed: str, color: Color, max_plies: int) -> float:
    """Play as a colour against the same player with another evaluator; return the points: 1, 0.5 or 0."""
    players = {
        side: Player(side, ours if side == color else theirs, settings, random.Random(f"{seed} {side}"))
        for side in chess.COLORS
    }
    winner = _play(players, max_plies)
    return 0.5 if winner is None else float(winner == color)


class RandomMover:
    """Senses and moves at random; it remembers nothing."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def opponent_moved(self, capture: Square | None) -> None:
        """Ignore the opponent's turn."""

    def choose_sense(self, squares: Iterable[Square]) -> Square:
        """Return any square."""
        return self._rng.choice(list(squares))

    def saw(self, cells: Iterable[Cell]) -> None:
        """Ignore the result of a sense."""

    def choose_move(self, actions: Sequence[Move]) -> Move | None:
        """Return any move, or a pass."""
        return self._rng.choice([*actions, None])

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Ignore the result of a move."""


def _play(
    players: Mapping[Color, Player | RandomMover],
    max_plies: int,
    watch: Callable[[ReconGame], None] = lambda game: None,
) -> Color | None:
    """Play a game; return the winner, if any.

    :param watch: called with the game before each move.
    """
    game = ReconGame()
    with _no_collector():
        while not game.is_over() and game.ply < max_plies:
            _take_turn(players[game.turn], game, watch)
    return game.winner


def _take_turn(player: Player | RandomMover, game: ReconGame, watch: Callable[[ReconGame], None]) -> None:
    if game.ply:
        player.opponent_moved(game.opponent_capture)
    player.saw(game.sense(player.choose_sense(game.sense_actions())))
    watch(game)
    outcome = game.move(player.choose_move(game.move_actions()))
    if not game.is_over():
        player.moved(*outcome)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Disable Python's cycle collector: trees have no cycles, and checking them takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _shown(game: ReconGame) -> Planes:
    """Return the true position, as the side to move sees it."""
    board = game.board.as_chess()
    return encode(board, board.turn, certain(board, board.turn))


def _sample(found: Found, planes: Planes, color: Color, winner: Color | None) -> Sample:
    visits = {index_of(move, color): count for move, count in found.visits.items()}
    outcome = 0.0 if winner is None else 1.0 if winner == color else -1.0
    return Sample(planes, visits, outcome, found.value)
