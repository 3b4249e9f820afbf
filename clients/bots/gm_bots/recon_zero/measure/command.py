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
_OWN = (
    "against",
    "older",
    "ablation",
    "league",
    "options",
    "simulations",
    "c_puct",
    "results_out",
    "in_step",
    "precision",
)
#: The options of --smoke.
_OF_SMOKE = {"checkpoint", "games", "options", "movetime", "simulations", "c_puct", "max_moves", "seed", "smoke"}
#: Games of --smoke; the same number as in the notebook's run_all_checks.
SMOKE_GAMES = 2

FILE = click.Path(dir_okay=False, path_type=Path)
CLOCK = "Clock in seconds: 300, 180+2, 1/0.05 (first move/each later move), none.  [default: 900+5, reconchess's]"


@click.command()
@click.argument("checkpoint", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--games",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Games against each opponent, with alternating colours.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="FILE.pt|BOT",
    help="An opponent, a checkpoint or a bot of gmd match; repeatable.  [default: RandomBot, AttackerBot, TroutBot]",
)
@click.option(
    "--older",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Also play the N checkpoints before it in its training.",
)
@click.option("--ablation", is_flag=True, help="Also play itself with one switch turned at a time.")
@click.option(
    "--in-step",
    type=click.IntRange(1),
    metavar="N",
    help="Play N games at a time in step, without clocks: minutes instead of hours.",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Numbers that networks compute with in games in step.",
)
@click.option("--league", is_flag=True, help="Let all play each other, and rate them as ranked play does.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set an option of recon-zero; may be given several times.",
)
@click.option("--movetime", type=POSITIVE, help="The most seconds of its turn, with its sense and its move.")
@click.option(
    "--simulations",
    type=click.IntRange(1, entry.MAX_SIMULATIONS),
    help="Simulations of its searches in each position.  [default: the bot's, 400]",
)
@click.option(
    "--c-puct",
    type=click.FloatRange(0, entry.MAX_C_PUCT),
    help="Weight of a move's probability in its searches.  [default: the bot's, 0.5]",
)
@click.option("--smoke", is_flag=True, help="Only check that the bot works, by a few of its decisions and two games.")
@click.option(
    "--concurrency",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    callback=lambda ctx, param, value: value or os.cpu_count() or 1,
    help="The most games to play at the same time; 0 for as many as there are processors.",
)
@click.option("--clock", callback=read_clock, metavar="CLOCK", help=CLOCK)
@click.option("--max-moves", type=click.IntRange(1), help="Draw a game after so many moves of each side.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random choices.")
@click.option("--json-out", type=FILE, metavar="FILE", help="Write a JSON line for each game, and the summary.")
@click.option("--results-out", type=FILE, metavar="FILE", help="Add a row with the columns of gmd train's results.csv.")
@click.option("--resume", is_flag=True, help="Continue the evaluation in the --json-out file.")
@click.option("--quiet", is_flag=True, help="Do not print a line for each game.")
@click.option("--verbose", is_flag=True, help="Show what bots write to their standard error.")
def evaluate(checkpoint: Path | None, **given: Any) -> None:
    """\b
    Example: gmd evaluate --against random --games 20

    Play a CHECKPOINT of recon-zero against others, and say how strong it is. Without one, the bot plays with the
    network that comes with gmd.

    The default opponents are reconchess's own bots, of which TroutBot needs Stockfish. --against gives others: files of
    checkpoints (.pt), names of reconchess's bots, and bots as for gmd match; a checkpoint plays with the same options
    as the measured one. --ablation adds the bot itself with one switch turned: its score against that is what the
    switch is worth; alone it replaces the default opponents.

    --league plays a round robin, by default with minimax and the bot without a network in addition, and prints ratings
    with the points of each against each.

    --in-step plays many games at a time, each search by its number of simulations: against AttackerBot and TroutBot,
    whose engine then searches 20,000 positions a move, checkpoints, the bot with other settings, and any bot of gmd
    match that plays blind chess. Each of --concurrency processes plays N games.

    --smoke plays no match: it checks that the bot's belief is valid and that its senses and moves are legal, plays two
    games, or --games, against reconchess's RandomBot, and prints a table. The exit status is 1 if a check fails.

    The exit status is 0, whoever wins; 1 if the evaluation cannot be played to its end; 2 if the command line is wrong
    or a bot cannot be started; 130 after Ctrl-C, which keeps the games played.
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
        entry.make(**options)  # checked first: the code below imports the libraries
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
    if given["in_step"] is not None:
        entry.read(options)
        from .in_step_command import evaluate_in_step

        return evaluate_in_step(checkpoint, options, given)
    _check_results_out(given)
    entry.read(options)  # checked first: the code below imports numpy
    from ..processes import Processes
    from .opponents import VARIANT, Asked, Gauntlet
    from .ratings import ratings_text
    from .table import EvaluationTable

    asked = Asked(checkpoint, options, given["against"], given["older"], given["ablation"], given["league"])
    settings = _settings(given)
    # A game of two recon-zero bots takes two processes.
    processes = Processes(2 * settings["concurrency"])
    try:
        gauntlet = Gauntlet(asked, settings, processes)
        for remark in gauntlet.remarks:
            click.echo(remark, err=True)
        table = EvaluationTable(gauntlet.measured)
        row = _begun_row(gauntlet.bots) if given["results_out"] else {}
        text = ratings_text if given["league"] else table.text
        status = play_match(gauntlet.texts, gauntlet.entrants, VARIANT, settings, text=text)
        if given["results_out"] and not status:
            _add_row(given["results_out"], row, table.won_drawn_lost(gauntlet.random_mover))
        return status
    finally:
        processes.end()


def _check_results_out(given: dict[str, Any]) -> None:
    """Refuse a file with other columns, and an evaluation without the games that they count."""
    if given["results_out"] is None:
        return
    from .opponents import RANDOM, named

    if given["league"]:
        raise click.UsageError("--results-out: its columns count the games of one bot: leave out --league")
    against = given["against"] or ([] if given["ablation"] else [RANDOM])
    if not any(named(text) == RANDOM for text in against):
        raise click.UsageError(f"--results-out: its columns count games against {RANDOM}: add --against {RANDOM}")
    try:
        results.read(given["results_out"])
    except results.BadResults as error:
        raise click.UsageError(f"--results-out: {error}") from None


def _begun_row(bots: ReconZeroBots) -> results.Row:
    """Return the checkpoint's data, read before the games: a training may replace the file meanwhile."""
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
    """Return the options of recon-zero."""
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
    """Return the options of ``gmd match``."""
    own = {name: value for name, value in given.items() if name not in _OWN}
    own["movetime"] = None  # it applies to recon-zero, not to every engine
    return {**defaults(), **own, "tournament": "round-robin" if given["league"] else "gauntlet"}
