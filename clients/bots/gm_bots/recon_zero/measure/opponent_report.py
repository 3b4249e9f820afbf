"""Learning a model of opponents from games, and how likely it makes the true position in others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import chess
from chess import Color
from rich.console import Console
from rich.table import Table

from gm_arena.replay.recorded import blind_games
from gm_recon import History
from gm_recon.reading import BadHistory

from ..checkpoint import load_network
from ..checkpoint_files import digest_of, shipped
from ..lockstep.judging import Judge, count_material
from ..lockstep.network_judge import NetworkJudge
from ..lockstep.opponent_model import OpponentModel, learn, model_of
from .likelihood import Likelihood, choices, mean_of, moments

#: The end of a name in a match of a bot against itself.
_SECOND = re.compile(r" #\d+$")
#: The width of the table, as in a terminal.
WIDTH = 120


class Seat(NamedTuple):
    """A player of a game."""

    history: History
    color: Color


@dataclass(frozen=True)
class Learnt:
    """A model, with what it is worth.

    :ivar requests: of each player, how many it was learnt from.
    :ivar likelihoods: of those who played against each player, in the games that were held out; those without any are
        missing.
    """

    model: OpponentModel
    requests: Mapping[str, int]
    likelihoods: Mapping[str, Likelihood]


def learn_and_measure(
    paths: Sequence[Path], held_out: int, checkpoint: Path | None, tell: Callable[[str], None]
) -> Learnt:
    """Learn a model from games, with a kind of opponent for each player, and measure it.

    :param held_out: every so many-th game of a player is for measuring.
    :param checkpoint: of the network that is asked; None for the one that comes with the package, or for piece values.
    :param tell: called with what is being done.
    :raises BadRecord: a game cannot be read.
    :raises BadHistory: a player has no request to learn from.
    :raises BadCheckpoint: the checkpoint cannot be read.
    """
    path, seats = checkpoint or shipped(), seats_in(paths)
    judge: Judge = count_material if path is None else NetworkJudge(load_network(path))
    kinds, requests = {}, {}
    for name, played in seats.items():
        found = [each for index, seat in enumerate(played) if (index + 1) % held_out for each in choices(*seat, judge)]
        if not found:
            raise BadHistory(f"player {name!r}: it has no request to learn from: give more of its games")
        tell(f"learning from {len(found)} requests of {name}")
        kinds[name], requests[name] = learn(found), len(found)
    model, likelihoods = model_of(kinds, None if path is None else digest_of(path)), {}
    for name, played in seats.items():
        measured = played[held_out - 1 :: held_out]
        tell(f"measuring by {len(measured)} games of {name}")
        followed = [list(moments(seat.history, not seat.color, judge, model)) for seat in measured]
        if any(followed):
            likelihoods[name] = mean_of(followed)
    return Learnt(model, requests, likelihoods)


def seats_in(paths: Sequence[Path]) -> dict[str, list[Seat]]:
    """Return by name the players of games.

    :raises BadRecord: a game cannot be read.
    """
    found: dict[str, list[Seat]] = {}
    for path in paths:
        for game in blind_games(path):
            for color, name in ((chess.WHITE, game.white), (chess.BLACK, game.black)):
                found.setdefault(_SECOND.sub("", name or "?"), []).append(Seat(game.history, color))
    return found


def table_of(learnt: Learnt) -> str:
    """Return what is printed of a model."""
    drawn = Table(title="The true position's likelihood in bits, before the sense / after it", title_justify="left")
    for column in ("against", "requests", "turns", "equal weights", "by the moves", "gain, 95 %"):
        drawn.add_column(column, justify="left" if column == "against" else "right")
    for name, count in learnt.requests.items():
        found = learnt.likelihoods.get(name)
        cells = ("0", "", "", "")
        if found is not None:
            cells = f"{found.turns:,}", _both(found.equal), _both(found.moves), _gain(found)
        drawn.add_row(name, f"{count:,}", *cells)
    console = Console(file=StringIO(), width=WIDTH)
    with console.capture() as capture:
        console.print(drawn)
    return capture.get().rstrip("\n")


def _both(bits: tuple[float, float]) -> str:
    return f"{bits[0]:.2f} / {bits[1]:.2f}"


def _gain(found: Likelihood) -> str:
    gains = zip(found.equal, found.moves, found.errors, strict=True)
    return " / ".join(f"{moves - equal:+.2f} ± {error:.2f}" for equal, moves, error in gains)
