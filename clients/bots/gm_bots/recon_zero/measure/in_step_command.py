"""``gmd evaluate --in-step``: who plays, and what is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gm_arena.bot import BotUnusable
from gm_arena.match.settings import name_and_spec
from gm_arena.specs import read_options
from gm_arena.stockfish import stockfish

from .. import entry
from ..checkpoint_files import is_checkpoint
from ..league.members import ATTACKER, RANDOM, TROUT, Program, checkpoint_name
from .in_step import MAX_PLIES, Ended, Own, Part, play_opponent, pool_of, table_text
from .opponents import NO_STOCKFISH, RECONCHESS, older, switches

if TYPE_CHECKING:
    from ..lockstep.judging import Precision

#: reconchess's bots as they play in step, and those that are played by default.
_PROGRAMS = {"RandomBot": RANDOM, "AttackerBot": ATTACKER, "TroutBot": TROUT}
_DEFAULT = ("AttackerBot", "TroutBot")
#: The exit status after Ctrl-C, as shells have it.
INTERRUPTED = 130
#: Options of the command that have no meaning for games in step.
_ONLY_MATCHES = ("clock", "movetime", "json_out", "results_out", "resume", "league", "verbose")


def evaluate_in_step(checkpoint: Path | None, options: Mapping[str, str], given: Mapping[str, Any]) -> int:
    """Play the evaluation, print its table, and return the exit status.

    :param given: the command's options.
    :raises BotUnusable: an opponent or the bot cannot play.
    """
    for name in _ONLY_MATCHES:
        if given[name]:
            raise click.UsageError(f"--in-step plays without clocks and records: leave out --{name.replace('_', '-')}")
    ours = _own(checkpoint, options)
    opponents = [*_against(given["against"], given["ablation"], ours), *_older(checkpoint, given["older"], ours)]
    if given["ablation"]:
        opponents += _switched(checkpoint, options)
    if not opponents:
        raise BotUnusable("no opponent is left: name one with --against")
    _check_names([name for name, _ in opponents])
    precision: Precision = given["precision"]
    if find_spec("torch") is not None and (remark := _remark_on(precision)):
        click.echo(remark, err=True)
    plies = MAX_PLIES if given["max_moves"] is None else 2 * given["max_moves"]
    played: dict[str, list[Ended]] = {}
    try:
        with pool_of(given["concurrency"]) as pool:
            for name, theirs in opponents:
                part = Part(ours, theirs, (f"{given['seed']}", name), plies, precision)
                for ended in play_opponent(name, given["games"], given["in_step"], part, pool, _tell(given)):
                    played.setdefault(name, []).extend(ended)
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:  # an evaluation that is broken off shows what it has measured
        if played:
            title = ",".join(f"{name}={value}" for name, value in options.items())
            click.echo(table_text(f"{entry.NAME}{':' if title else ''}{title}, in step", played), nl=False)


def _remark_on(precision: Precision) -> str | None:
    from ..devices import remark_on

    return remark_on(precision)


def _check_names(names: Sequence[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise BotUnusable(f"--against: {times} opponents are called {name}: name one, as in other=FILE.pt")


def _tell(given: Mapping[str, Any]) -> Any:
    return (lambda text: None) if given["quiet"] else (lambda text: click.echo(text, err=True))


def _own(checkpoint: Path | None, options: Mapping[str, str]) -> Own:
    read = entry.read(options if checkpoint is None else {**options, "checkpoint": str(checkpoint)})
    return Own(read.checkpoint, read.settings)


def _against(texts: tuple[str, ...], is_ablation: bool, ours: Own) -> list[tuple[str, Own | Program]]:
    found: list[tuple[str, Own | Program]] = []
    for text in texts or (() if is_ablation else _DEFAULT):
        if text == "TroutBot" and not texts and stockfish() is None:
            click.echo(NO_STOCKFISH, err=True)
            continue
        name, spec = (text, text) if is_checkpoint(text) else name_and_spec(text)
        found.append((checkpoint_name(Path(name)) if is_checkpoint(name) else name, _opponent(spec, ours)))
    return found


def _opponent(spec: str, ours: Own) -> Own | Program:
    if is_checkpoint(spec):
        return Own(Path(spec), ours.settings)
    name, _, options = spec.partition(":")
    if name == entry.NAME:
        return _own(None, read_options(name, options))
    known = {**_PROGRAMS, **{module: _PROGRAMS[name] for name, module in RECONCHESS.items()}}
    program = Program(known.get(spec, spec))
    program.check()
    return program


def _older(checkpoint: Path | None, number: int, ours: Own) -> list[tuple[str, Own | Program]]:
    return [(path.stem, Own(path, ours.settings)) for path in older(checkpoint, number)]


def _switched(checkpoint: Path | None, options: Mapping[str, str]) -> list[tuple[str, Own | Program]]:
    """Return the bot with one switch turned at a time."""
    return [(f"{name}={turned[name]}", _own(checkpoint, {**options, **turned})) for name, turned in switches(options)]
