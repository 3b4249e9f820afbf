"""Results of trainings: as CSV, with the columns of the notebook that ``recon-zero`` began with, for programs that read
its file; and as TensorBoard's events.

``gmd train`` writes a row for each iteration. The games counted are those against a random mover, as in the notebook.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from .checkpoint_files import checkpoint_of

COLUMNS = (
    "timestamp", "iter", "buffer_size",
    "loss", "loss_policy", "loss_value",
    "eval_wins", "eval_losses", "eval_draws",
    "sims_selfplay", "sims_eval",
    "games_per_iter", "train_steps_per_iter", "batch_size",
    "ckpt_path",
)  # fmt: skip

FILE = "results.csv"
#: The folder of TensorBoard's event files.
EVENTS = "events"

Row = dict[str, Any]


class BadResults(ValueError):
    """A file has other columns, and must not be written to."""


def now() -> str:
    """Return the local time to the second, as the notebook writes it."""
    return datetime.now().isoformat(timespec="seconds")


def row_of(plan: Mapping[str, Any], done: Mapping[str, Any]) -> Row:
    """Return the results of an iteration, without a timestamp and the checkpoint's path.

    :param plan: the training's plan, as a checkpoint has it.
    :param done: the results of the iteration.
    """
    simulations = plan["player"]["simulations"]
    return {
        "iter": done["iteration"],
        "buffer_size": done["kept"],
        "loss": done["loss"],
        "loss_policy": done["policy_loss"],
        "loss_value": done["value_loss"],
        "eval_wins": done["won_against_random"],
        "eval_losses": done["lost_against_random"],
        "eval_draws": done["drawn_against_random"],
        "sims_selfplay": simulations,
        "sims_eval": simulations,
        "games_per_iter": plan["games"],
        "train_steps_per_iter": plan["steps"],
        "batch_size": plan["batch"],
    }


def write_training(directory: Path, plan: Mapping[str, Any], log: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a training atomically.

    Times stay as in the file; those of iterations that it lacks are their checkpoints'.

    :raises BadResults: the file has other contents.
    """
    path = directory / FILE
    times = {row["iter"]: row["timestamp"] for row in read(path)}
    rows = []
    for done in log:
        made = checkpoint_of(directory, done["iteration"])
        timestamp = times.get(str(done["iteration"])) or _written(made)
        rows.append({**row_of(plan, done), "timestamp": timestamp, "ckpt_path": made})
    partial = path.with_name(f"{FILE}.partial")
    partial.write_text(_text(rows), "utf-8")
    partial.replace(path)


def add_events(directory: Path, done: Mapping[str, Any]) -> None:
    """Write the results of an iteration as TensorBoard's events, in place of those of a try that was killed."""
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(directory / EVENTS), purge_step=done["iteration"]) as writer:
        for name, value in scalars(done):
            writer.add_scalar(name, value, done["iteration"])


def scalars(done: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield what TensorBoard shows of an iteration: losses, samples, and points as shares of all."""
    yield from ((f"loss/{name}", done[f"{name}_loss"]) for name in ("policy", "value"))
    yield "samples", done["samples"]
    met = {"random": [done[f"{end}_against_random"] for end in ("won", "drawn", "lost")], **done["league"]}
    for name, (won, drawn, lost) in met.items():
        if won + drawn + lost:
            yield f"points/{name}", (won + drawn / 2) / (won + drawn + lost)


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file; none where there is no file, or an empty one.

    :raises BadResults: the file has other contents.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise BadResults(f"{path} cannot be read: {error}") from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if text and tuple(reader.fieldnames or ()) != COLUMNS:
        raise BadResults(f"{path} has other columns than {FILE} of a training: move it away, or name another file")
    return list(reader)


def _text(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _written(path: Path) -> str | None:
    """Return when a file was written; None if it no longer exists."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime).isoformat(timespec="seconds")
    except FileNotFoundError:
        return None
