"""``gmd play``: play chess against minimax, in the terminal."""

from __future__ import annotations

import random
import sys

import chess
import click
from rich.console import Console

from .game import Game
from .levels import DEFAULT_LEVEL, LEVELS
from .terminal import TerminalGame

ENGINE = "minimax"
#: What is said to a reader of former instructions, who plays blind chess here.
ELSEWHERE = "gmd play is chess against minimax; play blind chess in the browser, on the pages of gmd serve"


class NotHere(click.ClickException):
    """The game is played elsewhere."""

    exit_code = 2


def _board(ctx: click.Context, param: click.Parameter, fen: str | None) -> chess.Board:
    try:
        board = chess.Board(fen or chess.STARTING_FEN)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if not board.is_valid() or board.has_chess960_castling_rights():
        raise click.BadParameter(f"{fen!r} is not a legal position of chess")
    return board


@click.command(epilog=f"Levels: {'; '.join(level.describe() for level in LEVELS.values())}.")
@click.argument("bot", metavar=f"[{ENGINE}]", default=ENGINE)
@click.option("--variant", default="standard", hidden=True)
@click.option(
    "--color", type=click.Choice(["white", "black", "random"]), default="white", show_default=True, help="Your colour."
)
@click.option(
    "--level", type=click.Choice(list(LEVELS)), default=DEFAULT_LEVEL, show_default=True, help="Strength of minimax."
)
@click.option("--fen", "board", callback=_board, help="Start position.  [default: that of chess]")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the engine's errors: the same seed repeats them."
)
def play(bot: str, variant: str, color: str, level: str, board: chess.Board, seed: int | None) -> None:
    """\b
    Example: gmd play --level club

    Play chess against minimax.

    Type moves as SAN (Nf3), UCI (g1f3), or from and to (g1 f3), and 'help' for the other commands.
    """
    if bot != ENGINE or variant != "standard":
        raise NotHere(ELSEWHERE)
    chosen = LEVELS[level]

    def begin(wanted: chess.Color | None) -> Game:
        errs_by = random.randrange(2**31) if seed is None else seed
        return Game(_color(color, wanted), chosen, board.copy(), errs_by if chosen.margin else None)

    if not TerminalGame(begin, Console(highlight=False)).play():
        click.echo("\nYou left the game.")
    sys.exit(0)


def _color(color: str, wanted: chess.Color | None) -> chess.Color:
    """Return the player's colour in a game that is about to begin."""
    if wanted is not None:
        return wanted
    return random.choice(chess.COLORS) if color == "random" else color == "white"
