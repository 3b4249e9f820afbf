"""``gmd train``: let a bot learn by playing against itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gm_arena.bot import BotUnusable
from gm_arena.command_line import read_ray
from gm_arena.extras import how_to_install
from gm_arena.pool import LOCAL
from gm_bots.expectation.settings import MAX_DEPTH

if TYPE_CHECKING:
    from .pipeline import Training
    from .plan import Plan

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
#: The iterations of a training by default.
ITERATIONS = 3


@click.group()
def train() -> None:
    """\b
    Example: gmd train recon-zero --out runs/first --iterations 10

    Train a bot that learns.
    """


@train.command("recon-zero", short_help="Train recon-zero, or continue its training.")
@click.option(
    "--out",
    metavar="DIR",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the training; one that is there is continued with its own settings.",
)
@click.option(
    "--iterations", type=click.IntRange(1), help=f"Iterations in total.  [default: {ITERATIONS}, or the training's]"
)
@click.option("--games", type=click.IntRange(1), default=240, show_default=True, help="Games in each iteration.")
@click.option(
    "--simulations",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="Simulations of a search in each position.",
)
@click.option(
    "--steps", type=click.IntRange(1), default=1300, show_default=True, help="Training steps in each iteration."
)
@click.option(
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    default=2e-3,
    show_default=True,
    help="Learning rate of the first step; it falls to a half in 1200 steps.",
)
@click.option("--channels", type=click.IntRange(1), default=64, show_default=True, help="Channels of the network.")
@click.option("--layers", type=click.IntRange(1), default=7, show_default=True, help="Layers of the network.")
@click.option(
    "--teacher",
    type=click.IntRange(0, MAX_DEPTH),
    metavar="DEPTH",
    default=1,
    show_default=True,
    help="Learn what Stockfish says of the positions, too, searching so many plies; 0 for no teacher.",
)
@click.option(
    "--league",
    type=click.FloatRange(0, 1),
    default=0.12,
    show_default=True,
    metavar="SHARE",
    help="Share of the games against a league: its own earlier networks, material (the bot by piece values), and "
    "reconchess's AttackerBot and TroutBot.",
)
@click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "bfloat16"]),
    default="auto",
    show_default=True,
    help="Numbers that the network computes with; auto is the kind that is faster here.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed; the same one repeats the training."
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Games at the same time, with a processor each; from 2 on in processes of their own.",
)
@click.option(
    "--ray",
    is_flag=False,
    flag_value=LOCAL,
    callback=read_ray,
    metavar="[HOST:PORT|auto|local]",
    help="Run the workers in a Ray cluster that includes this machine; local, or no value, starts one here.",
)
def recon_zero(out: Path, iterations: int | None, workers: int, ray: str | None, **settings: Any) -> None:
    """\b
    Example: gmd train recon-zero --out runs/first --workers 2

    Train the network of recon-zero. Each iteration plays games against itself and against a league, learns in steps,
    plays against a random mover, and writes a checkpoint. The defaults are those with which the network that comes with
    gmd was trained; they need Stockfish.

    The same command continues a training that was interrupted; with more --iterations it goes on. DIR/latest.pt is the
    newest checkpoint: gmd connect recon-zero:checkpoint=DIR/latest.pt plays with it. DIR/run.json has the settings and
    versions, DIR/results.csv a row for each iteration; tensorboard --logdir DIR shows its curves.
    """
    _need("numpy", "numba", "torch", "tensorboard", *(["ray"] if ray is not None else []))
    from .checkpoint import BadCheckpoint
    from .devices import device
    from .pipeline import Training
    from .plan import BadTraining, begin_session
    from .replay import BadSamples
    from .results import BadResults

    try:
        plan, asked = _asked(out, settings)
    except BadTraining as error:
        raise click.UsageError(str(error)) from None
    on, iterations = device(), iterations or asked
    try:
        training = Training(out, plan, device=on)
        session = {"iteration": training.iteration, "workers": workers, "device": on}
        begin_session(out, plan, iterations, session)
    except (BadCheckpoint, BadResults, BadSamples, BadTraining, OSError) as error:
        raise click.ClickException(str(error)) from None
    _run(training, iterations, workers, ray)


def _asked(directory: Path, settings: dict[str, Any]) -> tuple[Plan, int]:
    """Return the training that the command line asks for: its plan, and its iterations unless it asks for others.

    :raises BadTraining: the directory has a training, and an option is not its own.
    """
    from .devices import best_precision
    from .plan import Plan, check_same, read_record

    context = click.get_current_context()
    if settings["precision"] == "auto":
        del settings["precision"]
    if (known := read_record(directory)) is None:
        members = _members() if settings["league"] else ()
        return Plan(precision=best_precision(), members=members).changed(settings), ITERATIONS
    given = {
        name: value
        for name, value in settings.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    check_same(known.plan.changed(given), known.plan, directory)
    return known.plan, known.iterations


def _members() -> tuple[str, ...]:
    """Return the members of a league that can play here; say why the others cannot."""
    from .league.members import MATERIAL, MEMBERS, Program

    found = list[str]()
    for name in MEMBERS:
        try:
            if name != MATERIAL:
                Program(name).check()
            found.append(name)
        except BotUnusable as error:
            click.echo(f"{name} is no member of the league: {error}", err=True)
    return tuple(found)


def _need(*libraries: str) -> None:
    for library in libraries:
        if find_spec(library) is None:
            raise click.ClickException(f"{library} is not installed: {how_to_install('train')}")


def _run(training: Training, iterations: int, workers: int, ray: str | None) -> None:
    from gm_arena.pool import NoWorkers, open_pool

    try:
        with ExitStack() as stack:
            if workers > 1 or ray is not None:
                with _status("Starting the workers"):
                    pool = open_pool(workers, ray, notice=lambda line: click.echo(line, err=True))
                    training.pool = stack.enter_context(pool)
            # SIGTERM is how service managers and clusters end programs. Ray's own handler would dump its stack.
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, signal.default_int_handler))
            _iterate(training, iterations)
    except KeyboardInterrupt:
        click.echo(f"Interrupted. {_how_to_go_on(training)}", err=True)
        sys.exit(130)
    except (BotUnusable, NoWorkers) as error:
        raise click.ClickException(f"{error}. {_how_to_go_on(training)}") from None


def _iterate(training: Training, iterations: int) -> None:
    if training.iteration >= iterations:
        has = f"{training.iteration} iterations are finished, and {iterations} were asked for"
        click.echo(f"{has}: give --iterations with a larger number to go on", err=True)
    while training.iteration < iterations:
        with _progress(training, f"Iteration {training.iteration + 1} of {iterations}") as tell:
            done = training.iterate(tell)
        click.echo(_line_of(done))
    training.keep_network()


def _how_to_go_on(training: Training) -> str:
    if not training.iteration:
        return "No iteration is finished: the same command starts again from the beginning."
    command = f"gmd train recon-zero --out {training.directory}"
    return f"{command} continues from iteration {training.iteration}, the last one finished."


def _line_of(done: dict[str, Any]) -> str:
    """Return the line that a user sees of an iteration."""
    from .results import scalars

    losses = f"loss {done['policy_loss']:.3f} + {done['value_loss']:.3f}"
    points = "".join(
        f", {value:.0%} against {name.partition('/')[2]}" for name, value in scalars(done) if name.startswith("points/")
    )
    return f"Iteration {done['iteration']}: {done['samples']} samples, {losses}{points}"


@contextmanager
def _status(text: str) -> Iterator[None]:
    """Show a status on the terminal, if there is one, for what takes seconds."""
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def _progress(training: Training, text: str) -> Iterator[Callable[[str], None]]:
    """Show a bar on the terminal, if there is one, which advances with every game, step and match."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[doing]}"), TimeElapsedColumn()
    # A game takes some fifty times as long as a step: with these weights the bar moves evenly.
    worth = {"game": 50, "match": 50, "step": 1}
    plan = training.plan
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=50 * (plan.games + plan.matches) + plan.steps, doing="game")
        yield lambda what: bar.update(task, advance=worth[what], doing=what)


@train.command("opponents", short_help="Learn how opponents move, to weigh possible positions.")
@click.argument("games", metavar="GAMES.pgn...", nargs=-1, required=True, type=FILE)
@click.option("--checkpoint", type=FILE, help="The network to ask.  [default: the one that comes with gmd]")
@click.option(
    "--out",
    metavar="FILE.json",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write, for recon-zero:opponents=FILE.json.",
)
def opponents(games: tuple[Path, ...], checkpoint: Path | None, out: Path) -> None:
    """\b
    Example: gmd train opponents games.pgn --out opponents.json

    Learn a kind of opponent from each player in GAMES of blind chess, as gmd match --variant rbc --pgn-out writes them.
    """
    _need("numpy", "numba", "torch")
    from gm_arena.replay.recorded import BadRecord
    from gm_recon.reading import BadHistory

    from .checkpoint import BadCheckpoint
    from .opponents import learn_from

    try:
        out.write_text(learn_from(games, checkpoint, tell=lambda line: click.echo(line, err=True)).as_json())
    except BadRecord as error:
        raise click.UsageError(str(error)) from None
    except (BadHistory, BadCheckpoint, OSError) as error:
        raise click.ClickException(str(error)) from None
