"""``gmd train``: let a bot learn by playing against itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from gm_arena.extras import how_to_install

from .entry import MAX_C_PUCT

if TYPE_CHECKING:
    from .pipeline import Plan, Training
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
@click.option(
    "--games", type=click.IntRange(1), default=100, show_default=True, help="Games against itself in each iteration."
)
@click.option(
    "--taught",
    type=click.IntRange(0),
    default=7,
    show_default=True,
    help="The first so many iterations play by piece values, not by the network.",
)
@click.option(
    "--steps", type=click.IntRange(1), default=500, show_default=True, help="Training steps in each iteration."
)
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Samples in a step.")
@click.option(
    "--matches",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Games against a random mover in each iteration.",
)
@click.option(
    "--matches-older",
    type=click.IntRange(0),
    default=4,
    show_default=True,
    help="Games against its network of 5 iterations before, in each iteration.",
)
@click.option(
    "--simulations",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    help="Simulations of a search in each position.",
)
@click.option(
    "--determinisations",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Possible positions searched for a move.",
)
@click.option(
    "--eval-simulations",
    type=click.IntRange(1),
    help="Simulations in the matches against a random mover and its older self.  [default: as --simulations]",
)
@click.option(
    "--c-puct",
    type=click.FloatRange(0, MAX_C_PUCT),
    default=0.5,
    show_default=True,
    help="Weight of a move's probability in the search, against its results so far.",
)
@click.option(
    "--max-plies", type=click.IntRange(1), default=200, show_default=True, help="Draw a game after so many plies."
)
@click.option("--channels", type=click.IntRange(1), default=48, show_default=True, help="Channels of the network.")
@click.option("--layers", type=click.IntRange(1), default=5, show_default=True, help="Layers of the network.")
@click.option(
    "--head",
    type=click.Choice(["planes", "dense"]),
    default="planes",
    show_default=True,
    help="Form of the network's output for moves.",
)
@click.option(
    "--material/--no-material",
    default=True,
    show_default=True,
    help="Whether the network's value starts from piece values.",
)
@click.option(
    "--learnt",
    type=click.Choice(["position", "belief"]),
    default="position",
    show_default=True,
    help="Input that decisions are learnt from: true positions, or the player's belief.",
)
@click.option(
    "--in-step",
    type=click.IntRange(0),
    default=25,
    show_default=True,
    help="Games against itself that a process plays in step, many times faster; 0 to play each by itself.",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Numbers that the network computes with in games in step; bfloat16 is faster on processors that know it.",
)
@click.option(
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    default=1e-3,
    show_default=True,
    help="Learning rate of AdamW.",
)
@click.option(
    "--weight-decay",
    type=click.FloatRange(0),
    default=1e-4,
    show_default=True,
    help="Weight decay of AdamW, in each step.",
)
@click.option(
    "--buffer-size",
    "capacity",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    help="Samples kept to learn from, 5 kB each; the oldest are dropped.",
)
@click.option(
    "--value",
    type=click.Choice(["outcome", "search", "both"]),
    default="search",
    show_default=True,
    help="Target of the value: results of games, values of searches, or half of each.",
)
@click.option(
    "--value-weight",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    help="Weight of the value's error against the moves'.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed; the same one repeats the training."
)
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
    from .pipeline import BadTraining, Training
    from .replay import BadSamples
    from .results import BadResults

    plan, pool = _plan(settings), _workers(workers, ray_address) if in_ray else None
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
                with _status("Starting Ray"):
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
        with _progress(training, f"Iteration {training.iteration + 1} of {iterations}") as tell:
            done = training.iterate(tell)
        click.echo(_line(done))
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


def _plan(settings: dict[str, Any]) -> Plan:
    from .network import NetworkSettings
    from .pipeline import Plan
    from .training import TrainingSettings

    player = {name: settings.pop(name) for name in ("simulations", "determinisations", "c_puct")}
    network = NetworkSettings(**{name: settings.pop(name) for name in ("channels", "layers", "head", "material")})
    learning = ("learning_rate", "weight_decay", "value", "value_weight")
    training = TrainingSettings(**{name: settings.pop(name) for name in learning})
    return Plan(network=network, training=training, player=replace(Plan().player, **player), **settings)


def _line(done: dict[str, Any]) -> str:
    points = done["points_against_random"]
    against = "" if points is None else f", {points:.0%} against a random mover"
    if done["points_against_older"] is not None:
        against += f", {done['points_against_older']:.0%} against iteration {done['older_iteration']}"
    losses = f"loss {done['policy_loss']:.3f} + {done['value_loss']:.3f}"
    return f"Iteration {done['iteration']}: {done['samples']} samples, {losses}{against}"


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
    games = plan.games + plan.matches + (plan.matches_older if training.iteration else 0)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=50 * games + plan.steps, doing="game")
        yield lambda what: bar.update(task, advance=worth[what], doing=what)
