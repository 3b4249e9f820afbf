"""The league of a training: its members, the games of each iteration, and the files that it keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import chess

from ..checkpoint import link, load_network
from ..checkpoint_files import digest_of
from ..lockstep.judging import count_material
from ..lockstep.network_judge import NetworkJudge
from ..older import checkpoint_of
from ..plan import BadTraining, Plan
from . import members
from .fixtures import Fixture, Met, Rival
from .programs import Program
from .standing import Results, draw, shares, standings

#: Every so manieth iteration's network, and the first, are members: the ones between resemble these.
EVERY = 5


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
        self._records = (plan.against,) if plan.against else plan.members
        for record in self._records:
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

    @property
    def games(self) -> int:
        """How many games of an iteration are the league's."""
        return self._plan.league_games

    def fixtures(self, iteration: int, log: Sequence[Mapping[str, Any]]) -> list[Fixture]:
        """Return the games of an iteration.

        :param iteration: how many are finished.
        :param log: their results.
        """
        seed = f"{self._plan.seed} league {iteration}"
        drawn = draw(self.shares(iteration, log), self.games, seed) if self.games else []
        return [Fixture(f"{seed} {number}", chess.COLORS[number % 2], member) for number, member in enumerate(drawn)]

    def shares(self, iteration: int, log: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Return the share of the league's games that each member gets, by name."""
        names = [*map(members.name_of, self._records)]
        if not self._plan.against:
            names += [path.stem for path in self._own(iteration)]
        return shares({name: standing.taken for name, standing in standings(names, log).items()})

    def rivals(self, fixtures: Iterable[Fixture]) -> dict[str, Rival]:
        """Return the members of some games, ready to be sent to another process."""
        records = {members.name_of(record): record for record in self._records}
        return {name: self._rival(records.get(name), name) for name in sorted({each.member for each in fixtures})}

    def _rival(self, record: str | None, name: str) -> Rival:
        if record == members.MATERIAL:
            return count_material
        path = self._directory / f"{name}.pt" if record is None else members.file_of(self._directory, record)
        return Program(name) if path is None else NetworkJudge(load_network(path), self._plan.precision)

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
