"""What ``gmd train recon-zero`` shows while it works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .pipeline import Training


def line_of(done: dict[str, Any]) -> str:
    """Return the line that a user sees of an iteration."""
    points = done["points_against_random"]
    against = "" if points is None else f", {points:.0%} against a random mover"
    if done["points_against_older"] is not None:
        against += f", {done['points_against_older']:.0%} against iteration {done['older_iteration']}"
    if done["league"]:
        won, drawn, lost = (sum(each) for each in zip(*done["league"].values(), strict=True))
        against += f", {(won + drawn / 2) / (won + drawn + lost):.0%} against the league"
    losses = f"loss {done['policy_loss']:.3f} + {done['value_loss']:.3f}"
    return f"Iteration {done['iteration']}: {done['samples']} samples, {losses}{against}"


@contextmanager
def status(text: str) -> Iterator[None]:
    """Show a status on the terminal, if there is one, for what takes seconds."""
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def progress(training: Training, text: str) -> Iterator[Callable[[str], None]]:
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
