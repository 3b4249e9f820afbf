"""``gmd train opponents``: learn from games what opponents request, by which recon-zero weighs possible positions."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from gm_arena.extras import how_to_install

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("opponents", short_help="Learn how opponents move, to weigh possible positions.")
@click.argument("games", metavar="GAMES.pgn...", nargs=-1, required=True, type=FILE)
@click.option(
    "--held-out",
    metavar="N",
    type=click.IntRange(2),
    default=4,
    show_default=True,
    help="Every Nth game of a player is not learnt from, but measured by.",
)
@click.option("--checkpoint", type=FILE, help="The network to ask.  [default: the one that comes with gmd]")
@click.option(
    "--out",
    metavar="FILE.json",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the model, for recon-zero:opponents=FILE.json.",
)
def opponents(games: tuple[Path, ...], held_out: int, checkpoint: Path | None, out: Path | None) -> None:
    """\b
    Example: gmd train opponents games.pgn --out opponents.json

    Learn a kind of opponent from each player in GAMES of blind chess, as gmd match --variant rbc --pgn-out writes them.

    It prints how likely the model makes the true position to its opponent, before a sense and after it: the
    mean logarithm in bits, in games that were not learnt from, beside that of equal weights.
    recon-zero:opponents=FILE.json plays by a model.
    """
    for library in ("numpy", "numba", "torch"):
        if find_spec(library) is None:
            raise click.ClickException(f"{library} is not installed: {how_to_install('train')}")
    from gm_arena.replay.recorded import BadRecord
    from gm_recon.reading import BadHistory

    from .checkpoint import BadCheckpoint
    from .measure.opponent_report import learn_and_measure, table_of

    try:
        learnt = learn_and_measure(games, held_out, checkpoint, tell=lambda line: click.echo(line, err=True))
        if out is not None:
            out.write_text(learnt.model.as_json())
    except BadRecord as error:
        raise click.UsageError(str(error)) from None
    except (BadHistory, BadCheckpoint, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(table_of(learnt))
