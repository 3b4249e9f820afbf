"""``gmd play``: play a game against a bot, in the terminal."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import chess
import click
from click.core import ParameterSource
from rich.console import Console

from gm_bots.minimax.play.levels import DEFAULT_LEVEL, LEVELS

if TYPE_CHECKING:
    from gm_arena.bot import Bots

#: The engine to play chess against.
ENGINE = "minimax"


def _board(ctx: click.Context, param: click.Parameter, fen: str | None) -> chess.Board:
    try:
        board = chess.Board(fen or chess.STARTING_FEN)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if not board.is_valid() or board.has_chess960_castling_rights():
        raise click.BadParameter(f"{fen!r} is not a legal position of chess")
    return board


@click.command(epilog=f"Levels of minimax: {'; '.join(level.describe() for level in LEVELS.values())}.")
@click.argument("bot", metavar="BOT")
@click.option(
    "--variant",
    type=click.Choice(["standard", "rbc"]),
    help="Chess (standard) or reconnaissance blind chess (rbc).  [default: standard, or what BOT plays]",
)
@click.option(
    "--color", type=click.Choice(["white", "black", "random"]), default="white", show_default=True, help="Your colour."
)
@click.option(
    "--level", type=click.Choice(list(LEVELS)), default=DEFAULT_LEVEL, show_default=True, help="Strength of minimax."
)
@click.option("--fen", "board", callback=_board, help="Start position.  [default: that of chess]")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the bot's random choices: the same seed repeats them."
)
@click.pass_context
def play(
    ctx: click.Context, bot: str, variant: str | None, color: str, level: str, board: chess.Board, seed: int | None
) -> None:
    """\b
    Example: gmd play minimax --level club

    Play against BOT: chess against minimax, or blind chess against any bot that plays it.

    \b
    gmd play recon-zero
    gmd play expectation
    gmd play random --variant rbc
    gmd play minimax --variant rbc --color black

    In chess, type moves as SAN (Nf3), UCI (g1f3), or from and to (g1 f3). In blind chess, type a square to sense
    around, and then a move to ask for. Type 'help' for the other commands.

    In blind chess, BOT is written as for gmd connect: minimax:depth=3, recon-zero:movetime=2, reconchess:my_bot.py.
    """
    if variant in (None, "standard") and bot == ENGINE:
        finished = _chess(color, level, board, seed)
    else:
        leveled = ctx.get_parameter_source("level") != ParameterSource.DEFAULT
        finished = _blind_chess(_blind_bots(bot, variant, level if leveled else None, seed), bot, color, board)
    if not finished:
        click.echo("\nYou left the game.")
    sys.exit(0)


def _color(color: str, wanted: chess.Color | None) -> chess.Color:
    """Return the player's colour in a game that is about to begin."""
    if wanted is not None:
        return wanted
    return random.choice(chess.COLORS) if color == "random" else color == "white"


def _chess(color: str, level: str, board: chess.Board, seed: int | None) -> bool:
    """Play chess; return whether the game was played to its end."""
    from gm_bots.minimax.play.game import Game
    from gm_bots.minimax.play.table import TerminalGame

    chosen = LEVELS[level]

    def begin(wanted: chess.Color | None) -> Game:
        errs_by = random.randrange(2**31) if seed is None else seed
        return Game(_color(color, wanted), chosen, board.copy(), errs_by if chosen.margin else None)

    return TerminalGame(begin, Console(highlight=False)).play()


def _blind_bots(bot: str, variant: str | None, level: str | None, seed: int | None) -> Bots:
    """Return the bots that a text names.

    :raises click.UsageError: they do not play the variant, or cannot be used.
    """
    from gm_arena.bot import BotUnusable
    from gm_arena.specs import KINDS, bots_of

    if level is not None and bot != ENGINE:
        raise click.UsageError(f"--level applies only to {ENGINE} without options, and not to {bot}")
    if seed is not None and bot.partition(":")[0] in KINDS:
        raise click.UsageError(f"--seed applies only to installed bots, and {bot} is not one")
    try:
        bots = bots_of(bot, options=_options(bot, level, seed), seconds=None, depth=None, nodes=None)
    except BotUnusable as error:
        raise click.UsageError(str(error)) from None
    wanted = variant or ("rbc" if bots.variants == {"rbc"} else "standard")
    if wanted not in bots.variants:
        raise click.UsageError(f"{bot} plays {', '.join(sorted(bots.variants))}, and not {wanted}")
    if wanted == "standard":
        hint = f"; for blind chess: gmd play {bot} --variant rbc" if "rbc" in bots.variants else ""
        raise click.UsageError(f"{bot}: to play chess, give {ENGINE}, with --level instead of options{hint}")
    return bots


def _options(bot: str, level: str | None, seed: int | None) -> dict[str, str]:
    """Return the options that a level and a seed stand for."""
    options = {} if seed is None else {"seed": str(seed)}
    if bot != ENGINE:
        return options
    chosen = LEVELS[level or DEFAULT_LEVEL]
    if chosen.limit.seconds:
        return {**options, "movetime": f"{chosen.limit.seconds:g}"}
    errs_by = random.randrange(1, 2**31) if seed is None else seed
    return {"depth": str(chosen.limit.depth), "margin": str(chosen.margin), "seed": str(errs_by)}


def _blind_chess(bots: Bots, bot: str, color: str, board: chess.Board) -> bool:
    """Play blind chess; return whether the game was played to its end."""
    import gmd
    from gm_arena.bot import BotFailed

    from .blind.match import Match
    from .blind.table import BlindTerminalGame

    fen = board.fen() if board.fen() != chess.STARTING_FEN else None
    with gmd.background_daemon() as daemon:

        def begin(wanted: chess.Color | None) -> Match:
            return Match(daemon.port, bots, _color(color, wanted), fen=fen, name=bot)

        try:
            return BlindTerminalGame(begin, Console(highlight=False), bot).play()
        except BotFailed as failure:
            raise click.ClickException(f"{bot}: {failure}") from None
