"""``gmd play``: a game against a bot of gmd's own, in the terminal."""

from __future__ import annotations

import random
import sys

import chess
import click
from rich.console import Console

from .game import Game
from .levels import DEFAULT_LEVEL, LEVELS, Level
from .table import Table


def _board(ctx: click.Context, param: click.Parameter, fen: str | None) -> chess.Board:
    try:
        board = chess.Board(fen or chess.STARTING_FEN)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if not board.is_valid() or board.has_chess960_castling_rights():
        raise click.BadParameter(f"{fen!r} is no position that chess could come to")
    return board


@click.command(epilog=f"Levels: {'; '.join(level.describe() for level in LEVELS.values())}.")
@click.argument("engine", type=click.Choice(["minimax"]))
@click.option(
    "--color", type=click.Choice(["white", "black", "random"]), default="white", show_default=True, help="Yours."
)
@click.option(
    "--level", type=click.Choice(list(LEVELS)), default=DEFAULT_LEVEL, show_default=True, help="How strong it plays."
)
@click.option("--fen", "board", callback=_board, help="The position to start from.  [default: the usual one]")
@click.option("--seed", type=click.IntRange(0), help="Of what it errs by, to have the same again.  [default: any]")
def play(engine: str, color: str, level: str, board: chess.Board, seed: int | None) -> None:
    """\b
    Example: gmd play minimax --color white

    Play against ENGINE.

    Type moves as SAN (Nf3), UCI (g1f3), or from and to (g1 f3); 'help' shows what else there is: the legal moves, a
    hint, taking back, a draw, resigning.
    """
    chosen: Level = LEVELS[level]
    side = random.choice(chess.COLORS) if color == "random" else color == "white"
    seed = random.randrange(2**31) if seed is None else seed
    console = Console(highlight=False)
    game = Game(side, chosen, board, seed if chosen.margin else None)
    if not Table(game, console).play():
        console.print("\nYou left the game.")
    sys.exit(0)
