"""``gmd evaluate``: play a trained bot against others, and say how strong it is."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from gm_arena.command_line import POSITIVE, read_clock, read_options
from gm_arena.match.command import complaints, defaults
from gm_arena.match.match import play_match

from .. import entry

FILE = click.Path(dir_okay=False, path_type=Path)
CLOCK = "In seconds: 300, 180+2, 1/0.05 (first move/each later one), none.  [default: 900+5, reconchess's]"


@click.command()
@click.argument("checkpoint", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--games", type=click.IntRange(1), default=20, show_default=True, help="With each, in turn as White.")
@click.option(
    "--against",
    multiple=True,
    metavar="FILE.pt|BOT",
    help="A checkpoint, or a bot of gmd match; may be given again.  [default: RandomBot, AttackerBot, TroutBot]",
)
@click.option(
    "--older", type=click.IntRange(0), default=0, metavar="N", help="Also the N checkpoints of its training before it."
)
@click.option("--ablation", is_flag=True, help="Also itself, with one switch turned at a time.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Of recon-zero; may be given again.")
@click.option("--movetime", type=POSITIVE, help="Seconds that its searches may take.")
@click.option(
    "--concurrency",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    callback=lambda ctx, param, value: value or os.cpu_count() or 1,
    help="Games at a time; 0 for as many as there are processors.",
)
@click.option("--clock", callback=read_clock, metavar="CLOCK", help=CLOCK)
@click.option("--max-moves", type=click.IntRange(1), help="A game is drawn after so many moves of each side.")
@click.option("--seed", type=int, default=0, show_default=True, help="What decides all that is drawn.")
@click.option("--json-out", type=FILE, metavar="FILE", help="Write a JSON line for each game, and the numbers.")
@click.option("--resume", is_flag=True, help="Go on with the evaluation that --json-out was written by.")
@click.option("--quiet", is_flag=True, help="No line for each game.")
@click.option("--verbose", is_flag=True, help="Show what bots write to their standard error.")
def evaluate(checkpoint: Path | None, **given: Any) -> None:
    """\b
    Example: gmd evaluate --against random --games 20

    Play a CHECKPOINT of recon-zero against others, and say how strong it is. Without one, the bot plays as it does
    where nothing is said.

    The others are reconchess's own bots, of which TroutBot needs Stockfish. --against takes others: files of
    checkpoints (.pt), names of reconchess's bots, and bots as gmd match takes them; a checkpoint plays with the same
    options as the one that is measured. --ablation adds the bot itself with one switch turned: what it scores against
    that is what the switch is worth; alone it leaves out the others.

    The exit status is 0 whoever wins; 1 if it cannot be played to its end; 2 if the command line is wrong or a bot
    cannot be started; 130 after Ctrl-C, which keeps what was played.
    """
    with complaints():
        status = _evaluate(checkpoint, given)
    sys.exit(status)


def _evaluate(checkpoint: Path | None, given: dict[str, Any]) -> int:
    if given["resume"] and given["json_out"] is None:
        raise click.UsageError("--resume needs --json-out, the record to go on with")
    options = _options(given, checkpoint)
    entry.make(**options)  # says what is missing; all that follows imports it
    from ..processes import Processes
    from .opponents import VARIANT, Asked, Gauntlet
    from .table import table_text

    asked = Asked(checkpoint, options, given["against"], given["older"], given["ablation"])
    settings = _settings(given)
    # A game of two of them takes two.
    processes = Processes(2 * settings["concurrency"])
    try:
        gauntlet = Gauntlet(asked, settings, processes)
        for remark in gauntlet.remarks:
            click.echo(remark, err=True)
        return play_match(
            gauntlet.texts, gauntlet.entrants, VARIANT, settings, text=partial(table_text, title=gauntlet.measured)
        )
    finally:
        processes.end()


def _options(given: dict[str, Any], checkpoint: Path | None) -> dict[str, str]:
    """Those of recon-zero."""
    options = read_options(given["options"])
    if "checkpoint" in options and (checkpoint or options["checkpoint"] != entry.WITHOUT):
        raise click.UsageError(
            "--option checkpoint: the checkpoint is the command's argument, and --against takes others"
        )
    if given["movetime"] is not None:
        options["movetime"] = f"{given['movetime']:g}"
    return options


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The options of ``gmd match``."""
    own = {name: value for name, value in given.items() if name not in ("against", "older", "ablation", "options")}
    own["movetime"] = None  # it is recon-zero's, not every engine's
    return {**defaults(), **own, "tournament": "gauntlet"}
