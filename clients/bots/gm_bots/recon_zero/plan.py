"""The plan of a training: all its settings, which decide what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from .network import NetworkSettings
from .player import Settings
from .self_play import Learnt
from .training import TrainingSettings

if TYPE_CHECKING:
    from .lockstep.network_judge import Precision

#: Settings whose options have other names.
_OPTIONS = {"capacity": "buffer_size"}

#: The settings of a player whose games are learnt from: faster, and not always its best.
LEARNER = Settings(determinisations=4, simulations=60, exploring=10, alarm=8)


class BadTraining(ValueError):
    """A directory has a training with other settings."""


@dataclass(frozen=True)
class Plan:
    """The settings of a training.

    :ivar games: games against itself in each iteration.
    :ivar taught: the first so many iterations play by piece values, not by the network: a network that has learnt
        nothing plays long games from which little can be learnt.
    :ivar steps: steps in each iteration, with ``batch`` samples each.
    :ivar matches: games against a random mover in each iteration, half of them with each colour.
    :ivar matches_older: games against the network as it was some iterations before (:mod:`.older`).
    :ivar eval_simulations: simulations in each position in these two kinds of matches; None for as many as in the
        other games.
    :ivar capacity: samples that are kept; the notebook's. They take a gigabyte.
    :ivar max_plies: half-moves after which a game is drawn.
    :ivar in_step: the games against itself that one process plays in step (:mod:`.lockstep`); 0 to play each by itself.
        The number is part of the plan, since a network's results depend on their batch in the last digits.
    :ivar precision: the numbers that the network computes with in these games.
    :ivar learnt: the input that decisions are learnt from: the true positions, since the network evaluates positions in
        play; or the player's belief, which is the notebook's way; a switch.
    """

    games: int = 100
    taught: int = 7
    steps: int = 500
    batch: int = 64
    matches: int = 10
    matches_older: int = 4
    eval_simulations: int | None = None
    capacity: int = 200_000
    max_plies: int = 200
    in_step: int = 25
    precision: Precision = "float32"
    learnt: Learnt = "position"
    seed: int = 0
    network: NetworkSettings = field(default_factory=NetworkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    player: Settings = LEARNER


def check_same(plan: Plan, before: Mapping[str, Any], where: object) -> None:
    """Check that a training continues with its settings.

    :param before: the settings that it began with. One that the older version lacked may have any value.
    :param where: what belongs to the training, for the error.
    :raises BadTraining: a setting differs.
    """
    known = leaves(before)
    for name, value in leaves(asdict(plan)).items():
        if known.get(name, value) != value:
            was = f"{_OPTIONS.get(name, name)}: {where} belongs to a training with {known[name]}"
            raise BadTraining(f"{was}, not {value}: give the same settings with the same gmd, or another directory")


def leaves(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with each group of settings replaced by its members."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= leaves(value) if isinstance(value, dict) else {name: value}
    return found
