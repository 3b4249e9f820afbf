"""``gmd evaluate --smoke``: checks that a bot works at all, before hours are spent on it.

The checks are the notebook's ``run_all_checks`` and ``smoke_test_vs_random``: the belief is a distribution on each
square, a sense and a move are among those offered, and whole reconchess games come to an end. They do not measure the
bot's strength.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import chess
import numpy as np

from gm_arena.bot import BotUnusable
from gm_arena.match.text import counted

from .table import WIDTH

if TYPE_CHECKING:
    from ..reconchess_player import ReconZero

#: How far a square's probabilities may be from a sum of 1; the notebook's.
TOLERANCE = 1e-4

#: The ``seconds_left`` that a player gets outside a game; the notebook's.
SECONDS = 100.0

#: The type of a function that makes a player.
Make = Callable[[], "ReconZero"]


class CheckFailed(Exception):
    """A check has found something wrong; the message says what."""


@dataclass(frozen=True)
class Check:
    """The result of one check.

    :ivar says: the finding, or the error.
    """

    name: str
    passed: bool
    says: str


def smoke(options: Mapping[str, str], games: int, max_moves: int | None, seed: int) -> int:
    """Check the bot with these options, and print a table; return the exit status.

    :raises BotUnusable: reconchess is not installed.
    """
    if find_spec("reconchess") is None:
        raise BotUnusable("--smoke needs the package reconchess, which is missing: pip install reconchess==1.6.9")
    from ..reconchess_player import VARIABLE, ReconZero

    os.environ.pop(VARIABLE, None)  # only the command's options count
    found = list(checks(lambda: ReconZero(**options), games, max_moves, seed))
    show(found)
    return 0 if all(check.passed for check in found) else 1


def checks(
    make: Make, games: int, max_moves: int | None = None, seed: int = 0, seconds: float = 900.0
) -> Iterator[Check]:
    """Yield the results of the checks, one after the other.

    :param games: the number of games against reconchess's RandomBot.
    :param max_moves: moves of each side after which a game is drawn.
    :param seed: the seed of RandomBot's choices.
    :param seconds: seconds of each side in a game, to which reconchess adds five a turn.
    """
    decisions = Decisions(make)
    yield _checked("loads", decisions.load)
    yield _checked("belief", decisions.believe)
    yield _checked("sense", decisions.sense)
    yield _checked("move", decisions.move)
    yield _checked("games", lambda: play(make, games, max_moves, seed, seconds))


def _checked(name: str, work: Callable[[], str]) -> Check:
    try:
        return Check(name, True, work())
    except CheckFailed as failed:
        return Check(name, False, str(failed))
    except Exception as error:  # any exception of the bot is a finding
        return Check(name, False, f"raised {type(error).__name__}: {error}")


class Decisions:
    """A player's first turn as White, step by step. A step that was not reached makes the next ones fail, too."""

    def __init__(self, make: Make) -> None:
        self._make, self._board = make, chess.Board()
        self._squares, self._moves = list(chess.SQUARES), list(chess.Board().legal_moves)
        self._player: ReconZero | None = None

    def load(self) -> str:
        """Make the player, and begin a game."""
        self._player = self._make()
        self._player.handle_game_start(chess.WHITE, self._board.copy(), "smoke")
        self._player.handle_opponent_move_result(False, None)
        return "the bot is made, and a game begun"

    def believe(self) -> str:
        """Check the belief as the game begins."""
        return _check_belief(self._loaded)

    def sense(self) -> str:
        """Check the square that it senses, and its belief after the result."""
        square = self._loaded.choose_sense(self._squares.copy(), self._moves.copy(), SECONDS)
        if square not in self._squares:
            raise CheckFailed(f"choose_sense returned {square!r}, which is not one of the squares offered")
        window = [each for each in self._squares if chess.square_distance(each, square) <= 1]
        self._loaded.handle_sense_result([(each, self._board.piece_at(each)) for each in window])
        _check_belief(self._loaded)
        return f"senses {chess.square_name(square)}, one of the squares offered"

    def move(self) -> str:
        """Check the move that it chooses."""
        move = self._loaded.choose_move(self._moves.copy(), SECONDS)
        if move is not None and move not in self._moves:
            raise CheckFailed(f"choose_move returned {move}, which is not one of the moves offered")
        return "passes" if move is None else f"moves {move}, one of the moves offered"

    @property
    def _loaded(self) -> ReconZero:
        if self._player is None:
            raise CheckFailed("not run: the bot does not load")
        return self._player


def _check_belief(player: ReconZero) -> str:
    belief = player.belief()
    if belief.shape != (7, 8, 8):
        raise CheckFailed(f"the belief has the shape {belief.shape}, not (7, 8, 8)")
    if not (belief >= 0).all():
        raise CheckFailed("the belief has negative probabilities, or some that are not numbers")
    error = float(np.abs(belief.sum(axis=0) - 1).max())
    if error >= TOLERANCE:
        raise CheckFailed(f"the belief is not a distribution: a square's probabilities are {error:.2g} from a sum of 1")
    return "each square's probabilities have a sum of 1"


def play(make: Make, games: int, max_moves: int | None, seed: int, seconds: float) -> str:
    """Play against reconchess's RandomBot, with alternating colours; return how the games ended.

    :raises CheckFailed: a game was lost on time.
    """
    from reconchess import LocalGame, WinReason, play_local_game
    from reconchess.bots.random_bot import RandomBot

    points: Counter[str] = Counter()
    for number in range(games):
        random.seed(f"{seed} {number}")  # the source of RandomBot's choices
        color = chess.COLORS[number % 2]
        players = [make(), RandomBot()]
        with _status(f"Game {number + 1} of {games}"):
            winner, reason, _ = play_local_game(
                *(players if color == chess.WHITE else players[::-1]),
                game=LocalGame(seconds, full_turn_limit=max_moves),
            )
        if reason == WinReason.TIMEOUT and winner != color:
            raise CheckFailed(f"game {number + 1} of {games} was lost on time")
        points["drawn" if winner is None else "won" if winner == color else "lost"] += 1
    return f"{games} against RandomBot came to an end: {counted(points)}"


def _status(text: str) -> AbstractContextManager[object]:
    """Show a status on the terminal, if there is one, for what takes seconds."""
    from rich.console import Console

    return Console(stderr=True).status(text)


def show(found: list[Check]) -> None:
    """Print a table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("check", "result", "what was found")
    for check in found:
        result = Text("pass", style="green") if check.passed else Text("FAIL", style="bold red")
        table.add_row(check.name, result, Text(check.says))
    Console(width=None if sys.stdout.isatty() else WIDTH).print(table)
