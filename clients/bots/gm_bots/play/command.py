"""``gmd play``: a game against a bot, in the terminal."""

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

#: The engine that chess is played against.
ENGINE = "minimax"


def _board(ctx: click.Context, param: click.Parameter, fen: str | None) -> chess.Board:
    try:
        board = chess.Board(fen or chess.STARTING_FEN)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if not board.is_valid() or board.has_chess960_castling_rights():
        raise click.BadParameter(f"{fen!r} is no position that chess could come to")
    return board


@click.command(epilog=f"Levels of minimax: {'; '.join(level.describe() for level in LEVELS.values())}.")
@click.argument("bot", metavar="BOT")
@click.option(
    "--variant",
    type=click.Choice(["standard", "rbc"]),
    help="Chess, or reconnaissance blind chess.  [default: chess, or what BOT plays]",
)
@click.option(
    "--color", type=click.Choice(["white", "black", "random"]), default="white", show_default=True, help="Yours."
)
@click.option(
    "--level", type=click.Choice(list(LEVELS)), default=DEFAULT_LEVEL, show_default=True, help="How strong minimax is."
)
@click.option("--fen", "board", callback=_board, help="The position to start from.  [default: the usual one]")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the bot's random choices: the same seed repeats them."
)
@click.pass_context
def play(
    ctx: click.Context, bot: str, variant: str | None, color: str, level: str, board: chess.Board, seed: int | None
) -> None:
    """\b
    Example: gmd play minimax --level club

    Play against BOT: chess against minimax, blind chess against any bot that plays it.

    \b
    gmd play recon-zero
    gmd play random --variant rbc
    gmd play minimax --variant rbc --color black

    In chess, type moves as SAN (Nf3), UCI (g1f3), or from and to (g1 f3). In blind chess, type a square to sense
    around, and then a move to ask for. 'help' shows what else there is.

    For blind chess, BOT is named as for gmd connect: minimax:depth=3, recon-zero:movetime=2, reconchess:my_bot.py.
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
    """The player's, in a game that is about to begin."""
    if wanted is not None:
        return wanted
    return random.choice(chess.COLORS) if color == "random" else color == "white"


def _chess(color: str, level: str, board: chess.Board, seed: int | None) -> bool:
    """Play chess; whether it was played to an end."""
    from gm_bots.minimax.play.game import Game
    from gm_bots.minimax.play.table import Table

    chosen = LEVELS[level]

    def begin(wanted: chess.Color | None) -> Game:
        errs_by = random.randrange(2**31) if seed is None else seed
        return Game(_color(color, wanted), chosen, board.copy(), errs_by if chosen.margin else None)

    return Table(begin, Console(highlight=False)).play()


def _blind_bots(bot: str, variant: str | None, level: str | None, seed: int | None) -> Bots:
    """The bots that a text names, if they play blind chess and are to.

    :raises click.UsageError: they do not, or cannot.
    """
    from gm_arena.bot import BotUnusable
    from gm_arena.specs import KINDS, bots_of

    if level is not None and bot != ENGINE:
        raise click.UsageError(f"--level is {ENGINE}'s, where no options follow its name; {bot} has none")
    if seed is not None and bot.partition(":")[0] in KINDS:
        raise click.UsageError(f"--seed is for bots that are installed, and {bot} is none")
    try:
        bots = bots_of(bot, options=_options(bot, level, seed), seconds=None, depth=None, nodes=None)
    except BotUnusable as error:
        raise click.UsageError(str(error)) from None
    wanted = variant or ("rbc" if bots.variants == {"rbc"} else "standard")
    if wanted not in bots.variants:
        raise click.UsageError(f"{bot} plays {', '.join(sorted(bots.variants))}, and not {wanted}")
    if wanted == "standard":
        hint = f"; for blind chess: gmd play {bot} --variant rbc" if "rbc" in bots.variants else ""
        raise click.UsageError(f"{bot}: chess is played here against {ENGINE}, with --level in place of options{hint}")
    return bots


def _options(bot: str, level: str | None, seed: int | None) -> dict[str, str]:
    """The options that a level and a seed are."""
    options = {} if seed is None else {"seed": str(seed)}
    if bot != ENGINE:
        return options
    chosen = LEVELS[level or DEFAULT_LEVEL]
    if chosen.limit.seconds:
        return {**options, "movetime": f"{chosen.limit.seconds:g}"}
    errs_by = random.randrange(1, 2**31) if seed is None else seed
    return {"depth": str(chosen.limit.depth), "margin": str(chosen.margin), "seed": str(errs_by)}


def _blind_chess(bots: Bots, bot: str, color: str, board: chess.Board) -> bool:
    """Play blind chess; whether it was played to an end."""
    import gmd
    from gm_arena.bot import BotFailed

    from .blind.match import Match
    from .blind.table import Table

    fen = board.fen() if board.fen() != chess.STARTING_FEN else None
    with gmd.background_daemon() as daemon:

        def begin(wanted: chess.Color | None) -> Match:
            return Match(daemon.port, bots, _color(color, wanted), fen=fen, name=bot)

        try:
            return Table(begin, Console(highlight=False), bot).play()
        except BotFailed as failure:
            raise click.ClickException(f"{bot}: {failure}") from None
