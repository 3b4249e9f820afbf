"""``gmd train check``: checks that a bot works at all, before hours are spent on it.

The checks are the notebook's ``run_all_checks`` and ``smoke_test_vs_random``: the belief is a distribution on each
square, a sense and a move are among those offered, and whole reconchess games come to an end. They do not measure the
bot's strength.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import chess
import click

from gm_arena.bot import BotUnusable
from gm_arena.command_line import read_options
from gm_arena.extras import how_to_install
from gm_arena.match.verdict import counted

from .. import entry

if TYPE_CHECKING:
    from ..reconchess_player import ReconZero

#: Columns of the table in characters, where its width is not a terminal's.
WIDTH = 140

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


@click.command("check", short_help="Check that recon-zero works at all.")
@click.argument("checkpoint", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Set an option of recon-zero.")
@click.option("--games", type=click.IntRange(1), default=2, show_default=True, help="Games against RandomBot.")
@click.option("--max-moves", type=click.IntRange(1), help="Draw a game after so many moves of each side.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of RandomBot's choices.")
def smoke(checkpoint: Path | None, options: tuple[str, ...], games: int, max_moves: int | None, seed: int) -> None:
    """\b
    Example: gmd train check runs/first/latest.pt

    Check that recon-zero works with a CHECKPOINT, by default the network that comes with gmd.

    Its belief must be valid, its senses and moves legal, and some games against reconchess's RandomBot must come to an
    end. The exit status is 1 if a check fails.
    """
    try:
        status = _smoke(checkpoint, read_options(options), games, max_moves, seed)
    except BotUnusable as error:
        raise click.UsageError(str(error)) from None
    sys.exit(status)


def _smoke(checkpoint: Path | None, options: dict[str, str], games: int, max_moves: int | None, seed: int) -> int:
    """Check the bot with these options, and print a table; return the exit status.

    :raises BotUnusable: an option is wrong, or a library is not installed.
    """
    if checkpoint is not None:
        options["checkpoint"] = str(checkpoint)
    entry.make(**options)  # checked first: the code below imports the libraries
    if find_spec("reconchess") is None:
        raise BotUnusable(f"the checks need the package reconchess: {how_to_install('reconchess')}")
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
    error = float(abs(belief.sum(axis=0) - 1).max())
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
