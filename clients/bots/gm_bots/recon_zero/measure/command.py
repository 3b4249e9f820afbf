"""``gmd evaluate``: play a trained bot against others, and say how strong it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gm_arena.command_line import POSITIVE, read_clock, read_options
from gm_arena.match.command import complaints, defaults
from gm_arena.match.match import play_match

from .. import entry, results
from .without import without_network

if TYPE_CHECKING:
    from ..bot import ReconZeroBots

#: Options that gmd match does not have.
_OWN = ("against", "older", "ablation", "options", "simulations", "c_puct", "results_out")
#: Options that --smoke has.
_OF_SMOKE = {"checkpoint", "games", "options", "movetime", "simulations", "c_puct", "max_moves", "seed", "smoke"}
#: Games of --smoke; as many as the notebook's run_all_checks plays.
SMOKE_GAMES = 2

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
    "--simulations",
    type=click.IntRange(1, entry.MAX_SIMULATIONS),
    help="Of its searches, in each position.  [default: the bot's, 100]",
)
@click.option(
    "--c-puct",
    type=click.FloatRange(0, entry.MAX_C_PUCT),
    help="How much a move's probability counts in its searches.  [default: the bot's, 0.5]",
)
@click.option("--smoke", is_flag=True, help="Only check that it works: a few of its decisions, and two games.")
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
@click.option("--results-out", type=FILE, metavar="FILE", help="Add a row with the columns of gmd train's results.csv.")
@click.option("--resume", is_flag=True, help="Go on with the evaluation that --json-out was written by.")
@click.option("--quiet", is_flag=True, help="No line for each game.")
@click.option("--verbose", is_flag=True, help="Show what bots write to their standard error.")
def evaluate(checkpoint: Path | None, **given: Any) -> None:
    """\b
    Example: gmd evaluate --against random --games 20

    Play a CHECKPOINT of recon-zero against others, and say how strong it is. Without one, the bot plays with the
    network that comes with gmd.

    The others are reconchess's own bots, of which TroutBot needs Stockfish. --against takes others: files of
    checkpoints (.pt), names of reconchess's bots, and bots as gmd match takes them; a checkpoint plays with the same
    options as the one that is measured. --ablation adds the bot itself with one switch turned: what it scores against
    that is what the switch is worth; alone it leaves out the others.

    --smoke plays no match: it checks that the bot keeps its belief, and senses and moves as it may, plays two games, or
    --games, against reconchess's RandomBot, and prints a table. The exit status is 1 if a check fails.

    The exit status is 0 whoever wins; 1 if it cannot be played to its end; 2 if the command line is wrong or a bot
    cannot be started; 130 after Ctrl-C, which keeps what was played.
    """
    with complaints():
        status = _smoke(checkpoint, given) if given.pop("smoke") else _evaluate(checkpoint, given)
    sys.exit(status)


def _smoke(checkpoint: Path | None, given: dict[str, Any]) -> int:
    asked = {name for name in given if _is_given(name)}
    for name in sorted(asked - _OF_SMOKE):
        raise click.UsageError(f"--smoke plays no match: leave out --{name.replace('_', '-')}, or --smoke")
    options = _options(given, checkpoint)
    if checkpoint is not None:
        options["checkpoint"] = str(checkpoint)
    try:
        entry.make(**options)  # all that follows imports what it needs
    except entry.LibraryMissing as error:
        raise error.saying(without_network(checkpoint)) from None
    from .smoke import smoke

    return smoke(options, given["games"] if "games" in asked else SMOKE_GAMES, given["max_moves"], given["seed"])


def _is_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def _evaluate(checkpoint: Path | None, given: dict[str, Any]) -> int:
    if given["resume"] and given["json_out"] is None:
        raise click.UsageError("--resume needs --json-out, the record to continue")
    options = _options(given, checkpoint)
    _check_results_out(given)
    entry.read(options)  # refuses what cannot be; all that follows imports numpy
    from ..processes import Processes
    from .opponents import VARIANT, Asked, Gauntlet
    from .table import Table

    asked = Asked(checkpoint, options, given["against"], given["older"], given["ablation"])
    settings = _settings(given)
    # A game of two of them takes two.
    processes = Processes(2 * settings["concurrency"])
    try:
        gauntlet = Gauntlet(asked, settings, processes)
        for remark in gauntlet.remarks:
            click.echo(remark, err=True)
        table = Table(gauntlet.measured)
        row = _begun_row(gauntlet.bots) if given["results_out"] else {}
        status = play_match(gauntlet.texts, gauntlet.entrants, VARIANT, settings, text=table.text)
        if given["results_out"] and not status:
            _add_row(given["results_out"], row, table.won_drawn_lost(gauntlet.random_mover))
        return status
    finally:
        processes.end()


def _check_results_out(given: dict[str, Any]) -> None:
    """Refuse a file that has no such rows, and an evaluation without the games that these count."""
    if given["results_out"] is None:
        return
    from .opponents import RANDOM, named

    against = given["against"] or ([] if given["ablation"] else [RANDOM])
    if not any(named(text) == RANDOM for text in against):
        raise click.UsageError(f"--results-out: its columns count games against {RANDOM}: add --against {RANDOM}")
    try:
        results.read(given["results_out"])
    except results.BadResults as error:
        raise click.UsageError(f"--results-out: {error}") from None


def _begun_row(bots: ReconZeroBots) -> results.Row:
    """What the checkpoint says, read before the games: a training may replace the file meanwhile."""
    kept: dict[str, Any] = {}
    if bots.checkpoint is not None:
        from ..checkpoint import BadCheckpoint, history

        try:
            kept = history(bots.checkpoint)
        except (BadCheckpoint, OSError) as error:
            raise click.ClickException(str(error)) from None
    log = kept.get("log") or [{"iteration": kept.get("iteration")}]
    row = results.row_of(kept.get("plan", {}), log[-1])
    return {**row, "sims_eval": bots.settings.simulations, "ckpt_path": bots.checkpoint}


def _add_row(path: Path, row: results.Row, counts: tuple[int, int, int]) -> None:
    won, drawn, lost = counts
    row = {**row, "timestamp": results.now(), "eval_wins": won, "eval_draws": drawn, "eval_losses": lost}
    try:
        results.add(path, row)
    except OSError as error:
        raise click.ClickException(f"--results-out: {path} cannot be written: {error.strerror}") from None


def _options(given: dict[str, Any], checkpoint: Path | None) -> dict[str, str]:
    """Those of recon-zero."""
    options = read_options(given["options"])
    if "checkpoint" in options and (checkpoint or options["checkpoint"] != entry.WITHOUT):
        raise click.UsageError(
            "--option checkpoint: the checkpoint is the command's argument, and --against takes others"
        )
    for name in ("movetime", "simulations", "c_puct"):
        if given[name] is not None:
            options[name] = f"{given[name]:g}"
    return options


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The options of ``gmd match``."""
    own = {name: value for name, value in given.items() if name not in _OWN}
    own["movetime"] = None  # it is recon-zero's, not every engine's
    return {**defaults(), **own, "tournament": "gauntlet"}
