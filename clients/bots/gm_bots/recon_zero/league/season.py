"""The league of a training: its members, the games of each iteration, and the files that it keeps.

A member is met the more often, the more it takes from the network that learns. This is the prioritised fictitious
self-play of AlphaStar (Vinyals et al., Nature 575, 2019): a member is drawn with a weight that grows with the square of
the share of points that it takes. Every member keeps some of the games, and none gets most of them: a network that
learns from one opponent alone forgets the others.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from ..checkpoint import link, load_network
from ..checkpoint_files import checkpoint_of, digest_of
from ..lockstep.judging import count_material
from ..lockstep.network_judge import NetworkJudge
from ..plan import BadTraining, Plan
from . import members
from .games import Fixture, Met, Rival

#: Every so manieth iteration's network, and the first, are members: the ones between resemble these.
EVERY = 5
#: How much a game counts one iteration later, since the network has learnt meanwhile: after ten iterations a tenth.
DECAY = 0.8
#: Games that a member is taken to have halved before its first: it is then met as often as an equal opponent.
ASSUMED = 2.0
#: The weight of a member that takes nothing: it is met now and then, so that a network that forgets it is found out.
FLOOR = 0.05
#: The largest share of one member, where there are others.
MOST = 0.5

#: Games won, drawn and lost by the network that learns.
Results = tuple[int, int, int]


@dataclass(frozen=True)
class Standing:
    """A member's results so far, older ones counting less.

    :ivar games: how many games these count as.
    :ivar points: the member's points in them.
    """

    games: float = 0.0
    points: float = 0.0

    @property
    def taken(self) -> float:
        """The share of the points that the member is expected to take, from 0 to 1."""
        return (self.points + ASSUMED / 2) / (self.games + ASSUMED)

    def later(self, results: Sequence[int] = (0, 0, 0)) -> Standing:
        """Return the standing after another iteration with these games, won, drawn and lost by the network."""
        won, drawn, lost = results
        return Standing(DECAY * self.games + won + drawn + lost, DECAY * self.points + lost + drawn / 2)


def standings(members: Iterable[str], log: Iterable[Mapping[str, Any]]) -> dict[str, Standing]:
    """Return the members' standings after the iterations of a training.

    :param log: the training's log, whose lines have the results of each iteration in ``league``.
    """
    found = {member: Standing() for member in members}
    for done in log:
        results = done.get("league") or {}
        found = {member: standing.later(results.get(member, (0, 0, 0))) for member, standing in found.items()}
    return found


def shares(taken: Mapping[str, float]) -> dict[str, float]:
    """Return the share of the league's games that each member gets: all above 0, their sum 1.

    :param taken: the share of the points that each is expected to take.
    """
    weights = {member: FLOOR + share**2 for member, share in taken.items()}
    total = sum(weights.values())
    found = {member: weight / total for member, weight in weights.items()}
    largest = max(found, key=lambda member: found[member], default=None)
    if largest is None or len(found) == 1 or found[largest] <= MOST:
        return found
    others = 1 - found[largest]
    return {member: MOST if member == largest else share * (1 - MOST) / others for member, share in found.items()}


def draw(portions: Mapping[str, float], count: int, seed: str) -> list[str]:
    """Draw the members that are met in so many games, each by its share."""
    return random.Random(seed).choices(list(portions), list(portions.values()), k=count)


class League:
    """The opponents of a training besides itself."""

    def __init__(self, directory: Path, plan: Plan, files: Mapping[str, Path]) -> None:
        """Copy members' checkpoints into the training's directory, unless they are there.

        :param files: the checkpoints of members that are not there yet, by name.
        :raises BadTraining: a member's file is missing, or has other contents than recorded.
        :raises BadCheckpoint: it is not a checkpoint.
        :raises OSError: it cannot be copied.
        """
        self._directory, self._plan = directory, plan
        for record in plan.members:
            self._keep(record, files)

    def _keep(self, record: str, files: Mapping[str, Path]) -> None:
        path = members.file_of(self._directory, record)
        if path is None:
            return
        name = members.name_of(record)
        if not path.exists() and name in files:
            load_network(files[name])
            path.parent.mkdir(exist_ok=True)
            link(files[name], path)
        if not path.exists():
            raise BadTraining(f"member: {path} is missing, the network of member {name}: restore it")
        if not record.endswith(digest_of(path)):
            raise BadTraining(f"member: {path} is not the network that member {name} began with: restore it")

    def fixtures(self, iteration: int, log: Sequence[Mapping[str, Any]]) -> list[Fixture]:
        """Return the games of an iteration.

        :param iteration: how many are finished.
        :param log: their results.
        """
        seed = f"{self._plan.seed} league {iteration}"
        games = self._plan.league_games
        drawn = draw(self.shares(iteration, log), games, seed) if games else []
        return [Fixture(f"{seed} {number}", chess.COLORS[number % 2], member) for number, member in enumerate(drawn)]

    def shares(self, iteration: int, log: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Return the share of the league's games that each member gets, by name."""
        names = [*map(members.name_of, self._plan.members), *(path.stem for path in self._own(iteration))]
        return shares({name: standing.taken for name, standing in standings(names, log).items()})

    def rivals(self, fixtures: Iterable[Fixture]) -> dict[str, Rival]:
        """Return the members of some games, ready to be sent to another process."""
        records = {members.name_of(record): record for record in self._plan.members}
        return {name: self._rival(records.get(name), name) for name in sorted({each.member for each in fixtures})}

    def _rival(self, record: str | None, name: str) -> Rival:
        if record == members.MATERIAL:
            return count_material
        path = self._directory / f"{name}.pt" if record is None else members.file_of(self._directory, record)
        return members.Program(name) if path is None else NetworkJudge(load_network(path), self._plan.precision)

    def _own(self, iteration: int) -> list[Path]:
        """Return the checkpoints of this training that are members, as far as they were not removed."""
        made = [number for number in range(1, iteration + 1) if number == 1 or number % EVERY == 0]
        return [path for number in made if (path := checkpoint_of(self._directory, number)).is_file()]


def results_of(met: Iterable[Met]) -> dict[str, Results]:
    """Return the games won, drawn and lost by the learner against each member, by name."""
    found: dict[str, Counter[float]] = {}
    for game in met:
        found.setdefault(game.member, Counter())[game.outcome] += 1
    return {name: (counts[1.0], counts[0.0], counts[-1.0]) for name, counts in sorted(found.items())}
