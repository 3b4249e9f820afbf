"""``gmd train``: let a bot learn by playing against itself."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gm_arena.bot import BotUnusable
from gm_arena.command_line import read_ray
from gm_arena.extras import how_to_install
from gm_arena.pool import LOCAL

from .measure.smoke import smoke
from .opponent_command import opponents
from .training_options import options_of_a_plan
from .training_progress import line_of, progress, status

if TYPE_CHECKING:
    from .pipeline import Training
    from .pool import Workers
    from .request import Request


DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.group()
def train() -> None:
    """\b
    Example: gmd train recon-zero --out runs/first --iterations 10

    Train a bot that learns.
    """


@train.command("recon-zero", short_help="Train recon-zero, or continue its training.")
@click.option("--out", metavar="DIR", type=DIRECTORY, help="Directory of the training; a training in it is continued.")
@click.option(
    "--resume", metavar="DIR", type=DIRECTORY, help="Continue the training in this directory with its own settings."
)
@click.option(
    "--recipe",
    metavar="shipped|RUN.json",
    help="Take all settings from the record of a training, or from the one that makes the network that comes with gmd.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    help="Iterations in total.  [default: 8, or those of the training or recipe]",
)
@options_of_a_plan
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
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Device of the training steps, and of games played in this process; auto is a GPU if there is one.",
)
def recon_zero(
    out: Path | None,
    resume: Path | None,
    recipe: str | None,
    iterations: int | None,
    workers: int,
    ray: str | None,
    device: str,
    **settings: Any,
) -> None:
    """\b
    Example: gmd train recon-zero --out runs/first --iterations 10

    Train the network of recon-zero. Each iteration plays games against itself, learns in steps, plays games against a
    random mover, and writes a checkpoint. With --league some of the games are against others.

    DIR/latest.pt is the newest checkpoint: gmd connect recon-zero:checkpoint=DIR/latest.pt plays with it. --resume DIR
    continues a training that was interrupted; with more --iterations it goes on. DIR/run.json has the settings and
    versions, DIR/log.jsonl a line for each iteration; plots are drawn from it if matplotlib is installed.
    DIR/results.csv has the columns of the notebook that recon-zero began with.
    """
    _need("numpy", "torch", *(["ray"] if ray is not None else []))
    request = _request(out, resume, recipe, iterations, settings)
    _need(*(["numba"] if request.plan.in_step else []))
    for remark in request.remarks:
        click.echo(remark, err=True)
    from . import run_record
    from .checkpoint import BadCheckpoint
    from .devices import NoDevice, device_of, remark_on
    from .pipeline import Training
    from .plan import BadTraining
    from .replay import BadSamples
    from .results import BadResults

    pool = _workers(workers, ray) if workers > 1 or ray is not None else None
    try:
        on = device_of(device)
        if slow := remark_on(request.plan.precision, on):
            click.echo(slow, err=True)
        training = Training(request.directory, request.plan, pool, on, files=request.files, start=request.start)
        session = {"iteration": training.iteration, "workers": workers, "device": on}
        run_record.begin_session(request.directory, request.plan, request.iterations, session)
    except (BadCheckpoint, BadResults, BadSamples, BadTraining, BotUnusable, NoDevice, OSError) as error:
        raise click.ClickException(str(error)) from None
    _run(training, request.iterations, pool)


def _request(
    out: Path | None, resume: Path | None, recipe: str | None, iterations: int | None, settings: dict[str, Any]
) -> Request:
    """Return the training that the command line asks for.

    :raises click.UsageError: the options contradict each other or a training.
    """
    if (out is None) == (resume is None):
        raise click.UsageError("give --out DIR for a new training, or --resume DIR to continue one")
    from . import request
    from .checkpoint import BadCheckpoint
    from .plan import BadTraining, check_played

    context = click.get_current_context()
    given = {
        name: value
        for name, value in settings.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    try:
        if resume is not None:
            if recipe is not None:
                raise BadTraining("--recipe: a training continues with its own settings: leave it out")
            asked = request.resumed(resume, given, iterations)
        elif out is not None and recipe is not None:
            asked = request.repeated(recipe, out, given, iterations)
        else:
            assert out is not None
            asked = request.new(out, settings, iterations)
        check_played(asked.plan)
    except (BadCheckpoint, BadTraining, BotUnusable) as error:
        raise click.UsageError(str(error)) from None
    return asked


def _need(*libraries: str) -> None:
    for library in libraries:
        if find_spec(library) is None:
            raise click.ClickException(f"{library} is not installed: {how_to_install('train')}")


def _run(training: Training, iterations: int, pool: Workers | None) -> None:
    from gm_arena.pool import NoWorkers

    try:
        with ExitStack() as stack:
            if pool is not None:
                with status("Starting the workers"):
                    stack.enter_context(pool)
            # SIGTERM is how service managers and clusters end programs. Ray's own handler would dump its stack.
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, signal.default_int_handler))
            _iterate(training, iterations)
    except KeyboardInterrupt:
        click.echo(f"Interrupted. {_how_to_go_on(training)}", err=True)
        sys.exit(130)
    except (BotUnusable, NoWorkers) as error:
        raise click.ClickException(f"{error}. {_how_to_go_on(training)}") from None


def _workers(count: int, ray: str | None) -> Workers:
    from .pool import Workers

    return Workers(count, ray, notice=lambda line: click.echo(line, err=True))


def _iterate(training: Training, iterations: int) -> None:
    draws = _can_draw()
    if training.iteration >= iterations:
        click.echo(_has_them(training, iterations), err=True)
    while training.iteration < iterations:
        with progress(training, f"Iteration {training.iteration + 1} of {iterations}") as tell:
            done = training.iterate(tell)
        click.echo(line_of(done))
        if draws:
            _draw_if_it_can_be(training.directory)
    training.keep_network()


train.add_command(opponents)
train.add_command(smoke)


@train.command("plot", short_help="Plot a training's log.")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
def plot(directory: Path) -> None:
    """\b
    Example: gmd train plot runs/first

    Plot DIR/loss.png and DIR/win-rate.png from DIR/log.jsonl, the log of a training; and DIR/league.png, if it had a
    league.
    """
    if not _can_draw():
        raise SystemExit(1)
    from .plots import BadLog, draw

    try:
        for path in draw(directory):
            click.echo(path)
    except (BadLog, OSError) as error:
        raise click.ClickException(str(error)) from None


@train.command("network", short_help="Write only the network of a checkpoint.")
@click.argument("checkpoint", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def network(checkpoint: Path, file: Path) -> None:
    """\b
    Example: gmd train network runs/first/latest.pt network.pt

    Write only the network of a CHECKPOINT to FILE: enough for a bot to play with, and a third of the size.

    No training can continue from it.
    """
    _need("numpy", "torch")
    if file.exists() and file.samefile(checkpoint):
        raise click.UsageError(
            f"FILE: {file} is the CHECKPOINT, from which a training could no longer continue: name another file"
        )
    from .checkpoint import BadCheckpoint, keep_network

    try:
        keep_network(checkpoint, file)
    except (BadCheckpoint, OSError) as error:
        raise click.ClickException(str(error)) from None


def _can_draw() -> bool:
    """Return whether matplotlib is installed; print a message if not."""
    there = find_spec("matplotlib") is not None
    if not there:
        click.echo(f"no plots: matplotlib is not installed: {how_to_install('plot')}", err=True)
    return there


def _draw_if_it_can_be(directory: Path) -> None:
    """Draw the plots; an error in writing them does not end the training."""
    from .plots import draw

    try:
        draw(directory)
    except OSError as error:
        click.echo(f"no plots: {error}", err=True)


def _how_to_go_on(training: Training) -> str:
    if not training.iteration:
        return "No iteration is finished: the same command starts again from the beginning."
    command = f"gmd train recon-zero --resume {training.directory}"
    return f"{command} continues from iteration {training.iteration}, the last one finished."


def _has_them(training: Training, iterations: int) -> str:
    done = f"{training.iteration} iterations are finished"
    return f"{done}, and {iterations} were asked for: give --iterations with a larger number to go on"
