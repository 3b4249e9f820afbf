"""``gmd train``: let a bot learn by playing against itself."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from gm_arena.extras import how_to_install

from .training_options import options_of_a_plan, plan_of
from .training_progress import line_of, progress, status

if TYPE_CHECKING:
    from .pipeline import Training
    from .workers import Workers


@click.group()
def train() -> None:
    """\b
    Example: gmd train recon-zero --out runs/first --iterations 10

    Train a bot that learns.
    """


@train.command("recon-zero", short_help="Train recon-zero, or continue its training.")
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the training; a training in it is continued.",
)
@click.option("--iterations", type=click.IntRange(1), default=8, show_default=True, help="Iterations in total.")
@options_of_a_plan
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Games at the same time; from 2 on by Ray, with a processor each.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT",
    help="Run the workers in the Ray cluster at this address, which includes this machine; auto: the local one.",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Device of the training steps; auto is a GPU if there is one.",
)
def recon_zero(out: Path, iterations: int, workers: int, ray_address: str | None, device: str, **settings: Any) -> None:
    """\b
    Example: gmd train recon-zero --out runs/first --iterations 10

    Train the network of recon-zero. Each iteration plays games against itself, learns in steps, plays games against a
    random mover, and writes a checkpoint.

    DIR/latest.pt is the newest checkpoint: gmd connect recon-zero:checkpoint=DIR/latest.pt plays with it. A training
    that was killed continues from it when started again with the same options. DIR/log.jsonl has a line for each
    iteration; DIR/loss.png and DIR/win-rate.png are plotted from it if matplotlib is installed. DIR/results.csv has
    the columns of the notebook that recon-zero began with.
    """
    in_ray = workers > 1 or ray_address is not None
    _need("numpy", "torch", *(["ray"] if in_ray else []), *(["numba"] if settings["in_step"] else []))
    if settings["in_step"] and settings["learnt"] != "position":
        raise click.UsageError("--learnt belief: games in step are learnt from true positions; add --in-step 0")
    from .checkpoint import BadCheckpoint
    from .devices import NoDevice, device_of
    from .pipeline import Training
    from .plan import BadTraining
    from .replay import BadSamples
    from .results import BadResults

    plan, pool = plan_of(settings), _workers(workers, ray_address) if in_ray else None
    try:
        training = Training(out, plan, pool, device_of(device))
    except (BadCheckpoint, BadResults, BadSamples, BadTraining, NoDevice, OSError) as error:
        raise click.ClickException(str(error)) from None
    _run(training, iterations, pool)


def _need(*libraries: str) -> None:
    for library in libraries:
        if find_spec(library) is None:
            raise click.ClickException(f"{library} is not installed: {how_to_install('train')}")


def _run(training: Training, iterations: int, pool: Workers | None) -> None:
    from .pool import NoWorkers

    try:
        with ExitStack() as stack:
            if pool is not None:
                with status("Starting Ray"):
                    stack.enter_context(pool)
            # SIGTERM is how service managers and clusters end programs. Ray's own handler would dump its stack.
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, _interrupt))
            _iterate(training, iterations)
    except KeyboardInterrupt:
        click.echo(f"Interrupted. {_how_to_go_on(training)}", err=True)
        sys.exit(130)
    except NoWorkers as error:
        raise click.ClickException(f"{error}. {_how_to_go_on(training)}") from None


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _workers(count: int, address: str | None) -> Workers:
    from .workers import Workers

    return Workers(count, address, notice=lambda line: click.echo(line, err=True))


def _iterate(training: Training, iterations: int) -> None:
    draws = _can_draw()
    while training.iteration < iterations:
        with progress(training, f"Iteration {training.iteration + 1} of {iterations}") as tell:
            done = training.iterate(tell)
        click.echo(line_of(done))
        if draws:
            _draw_if_it_can_be(training.directory)


@train.command("plot", short_help="Plot a training's log.")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
def plot(directory: Path) -> None:
    """\b
    Example: gmd train plot runs/first

    Plot DIR/loss.png and DIR/win-rate.png from DIR/log.jsonl, the log of a training.
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
    Example: gmd train network runs/first/latest.pt network.npz

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
    return f"The same command continues from iteration {training.iteration}, the last one finished."
