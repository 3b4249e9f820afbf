"""``gmd match``: play bots against each other, and say which is the stronger."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from gm_client.blocking import PATIENCE_SECONDS, BadReply, ConnectionLost, GmError

from ..address import server_options, unreachable
from ..bot import BotUnusable
from ..command_line import KEY_VARIABLE, POSITIVE, VARIANTS, read_clock
from . import settings
from .game import MatchError
from .match import play_match
from .openings import OpeningsUnusable
from .record import RecordUnusable
from .settings import Entrant

FILE = click.Path(dir_okay=False, path_type=Path)


class SprtCommand(click.Command):
    """Takes ``--sprt elo0=0 elo1=10`` as it stands: as many words as there are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words: list[str] = []
        while "--sprt" in args:
            at = args.index("--sprt")
            behind = at + 1
            while behind < len(args) and args[behind].partition("=")[0] in ("elo0", "elo1", "alpha", "beta", "model"):
                behind += 1
            words += [word for test in args[at + 1 : behind] for word in ("--sprt", test)]
            if behind == at + 1:
                raise click.UsageError(f"--sprt needs elo0 and elo1; write {settings.SPRT_EXAMPLE}", ctx)
            args = args[:at] + args[behind:]
        return super().parse_args(ctx, [*words, *args])


@click.command(cls=SprtCommand)
@click.argument("bots", nargs=-1, required=True)
@click.option("--games", type=click.IntRange(1), default=2, show_default=True, help="How many any two who meet play.")
@click.option(
    "--concurrency",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    callback=lambda ctx, param, value: value or os.cpu_count() or 1,
    help="Games at a time; 0 for as many as there are processors.",
)
@click.option(
    "--tournament",
    type=click.Choice(["round-robin", "gauntlet"]),
    default="round-robin",
    show_default=True,
    help="Of more than two: everybody meets everybody, or the first all others.",
)
@click.option("--variant", type=VARIANTS, help="What is played.  [default: what the first bot plays]")
@click.option(
    "--clock",
    callback=read_clock,
    metavar="CLOCK",
    help="In seconds: 300, 180+2, 1/0.05 (first move/each later one), none.  [default: none; rbc: 900+5]",
)
@click.option("--margin", type=click.IntRange(0), default=0, metavar="MS", help="How far a bot may overstep its time.")
@click.option(
    "--lag",
    type=click.IntRange(0),
    metavar="MS",
    help="What of each move may be the machine's time, not the bot's.  [default: 1000 where all bots play here]",
)
@click.option("--max-moves", type=click.IntRange(1), help="A game is drawn after so many moves of each side.")
@click.option("--openings", type=FILE, metavar="FILE", help="What games begin with: .pgn, or EPD or FEN, one a line.")
@click.option("--plies", type=click.IntRange(0), help="How many plies of a PGN's games to take.  [default: all]")
@click.option("--in-order", is_flag=True, help="Take openings as they stand in the file, and not as the seed has it.")
@click.option("--seed", type=int, default=0, show_default=True, help="What decides all that is drawn.")
@click.option("--repeat/--no-repeat", default=True, show_default=True, help="Each opening twice, colours swapped.")
@click.option(
    "--sprt", multiple=True, metavar="elo0=N elo1=N ...", help="End when decided; also alpha=, beta=, model=."
)
@click.option("--pgn-out", type=FILE, metavar="FILE", help="Write the games as PGN.")
@click.option(
    "--histories",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write each game of rbc as reconchess saves it, which GameHistory.from_file and rc-replay read.",
)
@click.option(
    "--json-out", type=FILE, metavar="FILE", help="Write a JSON line for each game; --resume goes on with it."
)
@click.option(
    "--csv-out", type=FILE, metavar="FILE", help="Write every move, with its times and the bot's score, as CSV."
)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw the bots' scores, move by move (.png, .svg, .pdf).")
@click.option("--resume", is_flag=True, help="Go on with the match that --json-out was written by.")
@server_options("Where to play.  [default: in this process]", default=None)
@click.option("--player", metavar="ID|NAME", help="With --server: whom the bots that run here play as.")
@click.option("--key", help=f"Its key, or @FILE.  [default: ${KEY_VARIABLE}, if set]")
@click.option(
    "--patience", type=POSITIVE, default=PATIENCE_SECONDS, show_default=True, help="Seconds without a server."
)
@click.option("--data", metavar="DIRECTORY", help="Without --server: keep the games, as gmd serve does.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Without --server: where to watch the games.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Of all engines; may be given again.")
@click.option(
    "--movetime",
    type=POSITIVE,
    help="Seconds engines think about a move at most, with a clock too.  [default: 1; with a clock, none]",
)
@click.option("--depth", type=click.IntRange(1), help="Plies engines search at most.")
@click.option("--nodes", type=click.IntRange(1), help="Nodes engines search at most.")
@click.option("--stall", type=POSITIVE, default=60.0, show_default=True, help="Seconds for a move without a clock.")
@click.option(
    "--max-memory",
    type=click.IntRange(0),
    metavar="MIB",
    help="What each process of a bot may take; 0 for all.  [default: its share, but 1024 at least]",
)
@click.option("--quiet", is_flag=True, help="No line for each game.")
@click.option("--verbose", is_flag=True, help="Show what bots write to their standard error.")
def match(bots: tuple[str, ...], **given: Any) -> None:
    """\b
    Example: gmd match new=uci:./new old=uci:./old --games 400 --clock 10+0.1 --concurrency 0

    Play BOTS against each other: games with colours in turn, several at once, each bot of each game in a process of
    its own; and say which is the stronger, and how sure that is.

    A bot is reconchess:FILE.py, reconchess:MODULE, uci:COMMAND, codingame:COMMAND, a bot that is installed (minimax,
    random), or gm:PLAYER, who plays on the server by itself. NAME=BOT calls it by a name; uci[movetime=0.1,Hash=16]:...
    gives one engine settings of its own.

    The exit status is 0, also if bots fail in their games; 1 if the match cannot be played to its end; 2 if the command
    line is wrong, or a bot cannot be started at all.
    """
    with complaints():
        status = _match(bots, given)
    sys.exit(status)


def defaults() -> dict[str, Any]:
    """The options of ``gmd match``, by their names, where nothing is said: for other commands that play matches."""
    given = match.make_context("match", ["nobody"]).params
    del given["bots"]
    return given


@contextmanager
def complaints() -> Iterator[None]:
    """What is wrong with a match is told as click tells it."""
    try:
        yield
    except (BotUnusable, OpeningsUnusable) as error:
        raise click.UsageError(str(error)) from None
    except ConnectionLost as error:
        raise click.ClickException(unreachable(error)) from None
    except (RecordUnusable, MatchError, GmError, BadReply) as error:
        raise click.ClickException(str(error)) from None


def _match(bots: Sequence[str], given: dict[str, Any]) -> int:
    """The exit status."""
    _check(bots, given)
    sprt = settings.sprt_of(given["sprt"])
    if sprt is not None and len(bots) > 2:
        raise click.UsageError("--sprt is for two bots")
    entrants = settings.entrants_of(bots, given)
    variant = settings.variant_of(entrants, given)
    _check_places(entrants, variant, given)
    if given["histories"] is not None and variant != "rbc":
        raise click.UsageError(f"--histories needs --variant rbc; for {variant} use --pgn-out")
    return play_match(bots, entrants, variant, given, sprt=sprt)


def _check(bots: Sequence[str], given: dict[str, Any]) -> None:
    if len(bots) < 2:
        raise click.UsageError("a match needs two bots, or more")
    if given["resume"] and given["json_out"] is None:
        raise click.UsageError("--resume needs --json-out, the record to go on with")
    if given["ca"] is not None and not given["tls"]:
        raise click.UsageError("--ca goes with --tls")
    if given["tls"] and given["server"] is None:
        raise click.UsageError("--tls goes with --server")
    if given["player"] is not None and given["server"] is None:
        raise click.UsageError("--player goes with --server")
    if given["key"] is not None and given["player"] is None:
        raise click.UsageError("--key goes with --player, whose it is")
    for option in ("data", "port"):
        if given[option] and given["server"] is not None:
            raise click.UsageError(
                f"--{option} is of the daemon in this process, and --server is another one: give one of the two"
            )
    if given["plies"] is not None and given["openings"] is None:
        raise click.UsageError("--plies goes with --openings")


def _check_places(entrants: Sequence[Entrant], variant: str, given: dict[str, Any]) -> None:
    """Players of the server's need one, and a clock; and who is challenged by name somebody who may challenge."""
    remote = [entrant for entrant in entrants if entrant.bots is None]
    named = [entrant for entrant in remote if isinstance(entrant.remote, str)]
    if remote and given["server"] is None:
        raise click.UsageError(f"{remote[0].spec} plays on a server: --server says which")
    if remote and given["clock"] is None and variant != "rbc":
        raise click.UsageError(
            f"{remote[0].spec} plays elsewhere: give --clock, or it is waited for without end if it goes (--clock none)"
        )
    if named and given["player"] is None:
        raise click.UsageError(f"{named[0].spec} is challenged by a registered player: --player says by which")
    if len(named) > 1:
        raise click.UsageError(f"{named[0].spec} and {named[1].spec} play elsewhere: give one by its id (gm:4503...)")
