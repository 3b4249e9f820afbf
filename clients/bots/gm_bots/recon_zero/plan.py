"""The plan of a training: all its settings, which decide what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .former import as_today, without_former
from .network import NetworkSettings
from .player import Settings
from .training import TrainingSettings

if TYPE_CHECKING:
    from .lockstep.judging import Precision

#: Settings whose options have other names.
OPTIONS = {"capacity": "buffer_size"}

#: The settings of a player whose games are learnt from: faster, and not always its best.
LEARNER = Settings(determinisations=4, simulations=60, exploring=10, alarm=8)


class BadTraining(ValueError):
    """A directory has a training with other settings."""


@dataclass(frozen=True)
class Plan:
    """The settings of a training.

    :ivar games: games to learn from in each iteration.
    :ivar taught: the first so many iterations play by piece values, not by the network: a network that has learnt
        nothing plays long games from which little can be learnt.
    :ivar teacher: the depth of Stockfish's searches of the positions to learn from (:mod:`.teacher`); None to learn
        what the player's own searches found.
    :ivar followed: positions after each that it is asked about too, each by a move from the one before.
    :ivar own_searches: whether it learns what the player's own searches found as well, where there is a teacher.
    :ivar steps: steps in each iteration, with ``batch`` samples each.
    :ivar matches: games against a random mover in each iteration, half of them with each colour.
    :ivar matches_older: games against the network as it was some iterations before (:mod:`.older`).
    :ivar eval_simulations: simulations in each position in these two kinds of matches; None for as many as in the
        other games.
    :ivar capacity: samples that are kept; the notebook's. They take a gigabyte.
    :ivar max_plies: half-moves after which a game is drawn.
    :ivar in_step: the games against itself that one process plays in step (:mod:`.lockstep`); 0 to play each by itself.
        The number is part of the plan, since a network's results depend on their batch in the last digits.
    :ivar precision: the numbers that the network computes with in these games and in the steps.
    :ivar league: the share of the games that is played against members of a league (:mod:`.league`), not against
        itself.
    :ivar members: the league's members beside its own earlier networks, as :mod:`.league.members` records them.
    :ivar against: one member, which all games are played against: to find out what can be learnt against it.
    :ivar start: the hash of the checkpoint with whose network the training begins; None for random weights.
    """

    games: int = 100
    taught: int = 7
    teacher: int | None = None
    followed: int = 2
    own_searches: bool = False
    steps: int = 500
    batch: int = 64
    matches: int = 10
    matches_older: int = 4
    eval_simulations: int | None = None
    capacity: int = 200_000
    max_plies: int = 200
    in_step: int = 25
    precision: Precision = "float32"
    league: float = 0.0
    members: tuple[str, ...] = ()
    against: str | None = None
    start: str | None = None
    seed: int = 0
    network: NetworkSettings = field(default_factory=NetworkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    player: Settings = LEARNER

    @property
    def league_games(self) -> int:
        """How many games of an iteration are played against members of the league."""
        if self.against:
            return self.games
        return max(1, round(self.league * self.games)) if self.league else 0

    @property
    def own_games(self) -> int:
        """How many games of an iteration are played against itself."""
        return self.games - self.league_games


def plan_from(recorded: Mapping[str, Any], where: object) -> Plan:
    """Return a plan that was recorded, by ``asdict`` or as JSON. Settings that an older version lacked have defaults.

    :param where: the record, for the error.
    :raises BadTraining: a setting is unknown, or has a value that was removed.
    """
    groups: dict[str, Any] = {"network": NetworkSettings(), "training": TrainingSettings(), "player": LEARNER}
    try:
        read = without_former({name: value for name, value in recorded.items() if name not in groups})
        grouped = {name: without_former(recorded.get(name, {})) for name in ("training", "player")}
        grouped["network"] = as_today(recorded.get("network", {}))
    except ValueError as error:
        raise BadTraining(f"{where}: {error}") from None
    _check_known({"": read, **grouped}, where)
    read |= {name: replace(plain, **grouped[name]) for name, plain in groups.items()}
    return Plan(**{**read, "members": tuple(recorded.get("members", ()))})


def _check_known(groups: Mapping[str, Mapping[str, Any]], where: object) -> None:
    known = asdict(Plan())
    for group, settings in groups.items():
        for name in settings:
            if name not in (known[group] if group else known):
                unknown = "has this setting, which this version of gmd does not know: use the one that wrote it"
                raise BadTraining(f"{name}: {where} {unknown}")


def check_played(plan: Plan) -> None:
    """Check that the settings go together.

    :raises BadTraining: they do not.
    """
    if plan.own_searches and not plan.teacher:
        raise BadTraining("--own-searches: without a teacher nothing else is learnt; leave it out, or give --teacher")
    if plan.league_games and not plan.in_step:
        raise BadTraining("--in-step 0: games against others are played in step; give --in-step 1 or more")
    if plan.league and len(plan.members) < 2:
        members = ", ".join(plan.members) or "nobody"
        raise BadTraining(f"--member: the league has {members} alone; name another, or train --against one")


def check_same(plan: Plan, before: Mapping[str, Any], where: object) -> None:
    """Check that a training continues with its settings. Only its league may have more members than before.

    :param before: the settings that it began with. One that the older version lacked may have any value.
    :param where: what belongs to the training, for the error.
    :raises BadTraining: a setting differs.
    """
    try:
        known = as_today(leaves(before))
    except ValueError as error:
        raise BadTraining(f"{where}: {error}") from None
    for name, value in leaves(asdict(plan)).items():
        was = known.get(name, value)
        if name == "members" and value[: len(was)] == tuple(was):
            continue
        if was != value:
            said = f"{OPTIONS.get(name, name)}: {where} belongs to a training with {was}"
            raise BadTraining(f"{said}, not {value}: give the same settings with the same gmd, or another directory")


def leaves(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with each group of settings replaced by its members."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= leaves(value) if isinstance(value, dict) else {name: value}
    return found
