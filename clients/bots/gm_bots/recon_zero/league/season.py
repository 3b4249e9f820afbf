"""The games of a training against others than itself: each is against a member that is drawn, all alike."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import chess

from ..checkpoint import load_network
from ..checkpoint_files import checkpoint_of
from ..lockstep.judging import count_material
from ..lockstep.network_judge import NetworkJudge
from ..plan import Plan
from .games import Fixture, Met, Rival
from .members import MATERIAL, Program

#: Every so manieth iteration's network, and the first, are members: the ones between resemble these.
EVERY = 5

#: Games won, drawn and lost by the network that learns.
Results = tuple[int, int, int]


def fixtures_of(plan: Plan, directory: Path, iteration: int) -> list[Fixture]:
    """Return the games of an iteration.

    :param directory: the training's.
    :param iteration: how many are finished.
    """
    seed = f"{plan.seed} league {iteration}"
    names = [*plan.members, *(path.stem for path in _own(directory, iteration))]
    drawn = random.Random(seed).choices(names, k=plan.league_games) if plan.league_games else []
    return [Fixture(f"{seed} {number}", chess.COLORS[number % 2], name) for number, name in enumerate(drawn)]


def rivals_of(plan: Plan, directory: Path, fixtures: Iterable[Fixture]) -> dict[str, Rival]:
    """Return the members of some games, ready to be sent to another process."""

    def rival(name: str) -> Rival:
        if name == MATERIAL:
            return count_material
        if name in plan.members:
            return Program(name)
        return NetworkJudge(load_network(directory / f"{name}.pt"), plan.precision)

    return {name: rival(name) for name in sorted({each.member for each in fixtures})}


def _own(directory: Path, iteration: int) -> list[Path]:
    """Return the checkpoints of this training that are members, as far as they were not removed."""
    made = [number for number in range(1, iteration + 1) if number == 1 or number % EVERY == 0]
    return [path for number in made if (path := checkpoint_of(directory, number)).is_file()]


def results_of(met: Iterable[Met]) -> dict[str, Results]:
    """Return the games won, drawn and lost by the learner against each member, by name."""
    found: dict[str, Counter[float]] = {}
    for game in met:
        found.setdefault(game.member, Counter())[game.outcome] += 1
    return {name: (counts[1.0], counts[0.0], counts[-1.0]) for name, counts in sorted(found.items())}
