"""``gmd match``: play bots against each other, and say which is the stronger."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import click

from gm_client.blocking import BadReply, ConnectionLost, GmError
from gm_protocol.options import VARIANT_TRAITS

from ..bot import BotUnusable
from ..command_line import KEY_VARIABLE, VARIANTS, read_addresses, read_clock, read_ray, unreachable
from ..pool import LOCAL, NoWorkers
from . import settings
from .adjudication import DRAW, RESIGN
from .game import MatchError
from .match import play_match
from .openings import START, Opening, OpeningsUnusable
from .options import EACH, OPENINGS, WordsCommand, resolved
from .plan import fixtures
from .record import RecordUnusable
from .settings import Entrant
from .workers import in_step


class MatchCommand(WordsCommand):
    """``gmd match``, with its options of several words."""

    of_words = (settings.SPRT, RESIGN, DRAW, EACH, OPENINGS)
    groups: ClassVar = {
        "Games": ("games", "rounds", "tournament", "concurrency", "in_step", "ray", "seed", "resume"),
        "Rules": ("variant", "clock", "each", "max_moves", "openings", "resign", "draw", "sprt", "referee"),
        "Output": ("pgn_out", "json_out", "csv_out", "verbose"),
        "Another server": ("server", "tls", "player", "key"),
    }


FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(cls=MatchCommand)
@click.argument("bots", nargs=-1)
@click.option(
    "--games", type=click.IntRange(1), help="Games that two bots play against each other; of each round.  [default: 2]"
)
@click.option("--rounds", type=click.IntRange(1), help="Rounds, each of --games games.  [default: 1]")
@click.option(
    "--each",
    multiple=True,
    metavar="tc=CLOCK option.NAME=VALUE ...",
    help="For all engines: tc= (as --clock), st= (seconds a move), depth=, nodes=, timemargin= (ms), option.NAME=.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(0, 100),
    help="The most games to play at the same time; 0 for as many as there are processors.  [default: 1; with --ray 0]",
)
@click.option(
    "--in-step",
    type=click.IntRange(1),
    metavar="N",
    help="Play N games of recon-zero at a time in each process, taking their turns together: faster, without clocks.",
)
@click.option(
    "--ray",
    is_flag=False,
    flag_value=LOCAL,
    callback=read_ray,
    metavar="[HOST:PORT|auto|local]",
    help="Play on the machines of a Ray cluster; local, or no value, starts one on this machine.",
)
@click.option(
    "--tournament",
    type=click.Choice(["round-robin", "gauntlet"]),
    default="round-robin",
    show_default=True,
    help="With more than two bots: all play all others, or the first plays all others.",
)
@click.option(
    "--referee",
    type=click.Choice(["codingame"]),
    help="Play two games by all rules of CodinGame's chess puzzle; the bots are commands.",
)
@click.option("--variant", type=VARIANTS, help="Variant of all games.  [default: the first bot's]")
@click.option(
    "--clock",
    callback=read_clock,
    metavar="CLOCK",
    help="Clock in seconds: 300, 180+2, 1/0.05 (first move/each later move), none.  [default: none; rbc: 900+5]",
)
@click.option("--max-moves", "--maxmoves", type=click.IntRange(1), help="Draw a game after so many moves of each side.")
@click.option(
    "--openings",
    multiple=True,
    metavar="file=FILE plies=N order=sequential",
    help="Openings: a .pgn file, plies= of each game, or EPD or FEN, one a line; in random order by default.",
)
@click.option("--seed", "--srand", type=int, help="Seed of all random choices.  [default: 0; with --referee random]")
@click.option(
    "--sprt",
    multiple=True,
    metavar="elo0=N elo1=N ...",
    help="End as soon as this sequential test is decided; also alpha=, beta=, model=.",
)
@click.option(
    "--resign",
    multiple=True,
    metavar="movecount=N score=N ...",
    help="Adjudicate a loss after N moves with a score of -N centipawns or less; twosided=true: both bots' scores.",
)
@click.option(
    "--draw",
    multiple=True,
    metavar="movenumber=N ...",
    help="Adjudicate a draw after that move: movecount=N moves of both with scores within score=N centipawns of 0.",
)
@click.option("--pgn-out", "--pgnout", type=FILE, metavar="FILE", help="Write the games to this file as PGN.")
@click.option(
    "--json-out", type=FILE, metavar="FILE", help="Write a JSON line for each game; --resume continues from it."
)
@click.option(
    "--csv-out", type=FILE, metavar="FILE", help="Write every move, with its times and the bot's score, as CSV."
)
@click.option("--resume", is_flag=True, help="Continue the match in the --json-out file.")
@click.option(
    "--server",
    callback=read_addresses,
    metavar="HOST:PORT[,...]",
    help="The server to play on.  [default: a daemon inside the command]",
)
@click.option("--tls", is_flag=True, help="With --server: use TLS, and verify the server's certificate.")
@click.option("--player", metavar="ID|NAME", help="With --server: the player as whom the local bots play.")
@click.option("--key", help=f"The player's key, or @FILE to read it from a file.  [default: ${KEY_VARIABLE}, if set]")
@click.option(
    "--verbose/--quiet", default=None, help="Show what bots write to their standard error; or no line for each game."
)
def match(bots: tuple[str, ...], **given: Any) -> None:
    """\b
    Example: gmd match new=uci:./new old=uci:./old --games 400 --clock 10+0.1 --concurrency 0

    Play BOTS against each other, with alternating colours and several games at once, each bot of each game in a process
    of its own, unless the match names those that are not. Say which bot is the stronger, and how sure that is.

    A bot is reconchess:FILE.py, reconchess:MODULE, uci:COMMAND, codingame:COMMAND, an installed bot (minimax, random),
    or gm:PLAYER, a player who plays on the server independently. NAME=BOT gives a bot a name;
    uci[movetime=0.1,Hash=16]:... gives one engine settings of its own, --each gives them to all.

    The exit status is 0, even if bots fail in their games; 1 if the match cannot be played to its end; 2 if the command
    line is wrong, or a bot cannot be started. With --referee it is 1 if a bot lost by failing, 3 without a verdict.
    """
    with complaints():
        status = _match(bots, resolved(given))
    sys.exit(status)


def defaults() -> dict[str, Any]:
    """Return the default options of ``gmd match``, by name, for other commands that play matches."""
    given = match.make_context("match", ["nobody"]).params
    del given["bots"]
    return resolved(given)


@contextmanager
def complaints() -> Iterator[None]:
    """Raise the errors of a match as click's errors."""
    try:
        yield
    except (BotUnusable, OpeningsUnusable) as error:
        raise click.UsageError(str(error)) from None
    except ConnectionLost as error:
        raise click.ClickException(unreachable(error)) from None
    except (RecordUnusable, MatchError, NoWorkers, GmError, BadReply) as error:
        raise click.ClickException(str(error)) from None


def _match(bots: Sequence[str], given: dict[str, Any]) -> int:
    """Play the match that the options ask for; return the exit status."""
    _check(bots, given)
    if given["referee"] is not None:
        from .referee import judge

        return judge(bots, given, defaults())
    given["seed"] = given["seed"] or 0
    sprt = settings.sprt_of(given["sprt"])
    if sprt is not None and len(bots) > 2:
        raise click.UsageError(f"--sprt needs exactly two bots, and not {', '.join(bots)}")
    entrants = settings.entrants_of(bots, given)
    variant = settings.variant_of(entrants, given)
    _check_places(entrants, variant, given)
    if given["in_step"] is not None:
        _check_in_step(entrants, variant, given)
    return play_match(bots, entrants, variant, given, sprt=sprt)


def _check(bots: Sequence[str], given: dict[str, Any]) -> None:
    if len(bots) < 2:
        raise click.UsageError("BOTS: a match needs at least two bots")
    if given["resume"] and given["json_out"] is None:
        raise click.UsageError("--resume needs --json-out, the record to continue")
    for name in ("tls", "player"):
        if given[name] and given["server"] is None:
            raise click.UsageError(f"--{name} goes with --server")
    if given["key"] is not None and given["player"] is None:
        raise click.UsageError("--key goes with --player")


def _check_places(entrants: Sequence[Entrant], variant: str, given: dict[str, Any]) -> None:
    """Check that remote players have a server and a clock, and that one challenged by name has a challenger."""
    remote = [entrant for entrant in entrants if entrant.bots is None]
    others = [entrant for entrant in remote if isinstance(entrant.remote, str) and entrant.remote != given["player"]]
    if remote and given["server"] is None:
        raise click.UsageError(f"{remote[0].spec} plays on a server: give --server")
    if remote and given["clock"] is None and VARIANT_TRAITS[variant].clock is None:
        raise click.UsageError(
            f"{remote[0].spec} plays elsewhere: give --clock, or --clock none to wait for ever if it leaves"
        )
    if len(others) > 1:
        raise click.UsageError(
            f"one of {others[0].spec} and {others[1].spec} must invite the other: give its name and key, as in "
            f"--player {others[0].remote} --key @FILE"
        )
    if others and given["player"] is None:
        raise click.UsageError(
            f"{others[0].spec} can only be challenged by a registered player: give --player and --key"
        )


#: Options without a meaning for games in step: they have no clock and no server, and begin as blind chess does.
_NOT_IN_STEP = ("clock", "openings", "server", "resign", "draw", "margin")


def _check_in_step(entrants: Sequence[Entrant], variant: str, given: dict[str, Any]) -> None:
    """Check that the games can be played in step.

    :raises BotUnusable: two of the bots cannot.
    """
    for name in _NOT_IN_STEP:
        if given[name]:
            raise click.UsageError(f"--in-step plays without clocks and servers: leave out {name.replace('_', '-')}")
    if variant != "rbc":
        raise click.UsageError(f"--in-step plays rbc, and not {variant}")
    for fixture in fixtures(len(entrants), 1, [Opening(START)], kind=given["tournament"]):
        in_step(entrants, fixture)
