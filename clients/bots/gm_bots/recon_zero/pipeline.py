"""A training from its beginning to its end: games against itself, steps, games against a random mover, a checkpoint.

A checkpoint ends each iteration and has all that the next depends on. So a training that was killed goes on from the
latest one, and does what it would have done: what chance decides is drawn anew in each iteration, from the seed and the
iteration's number; samples that were added since are added again, in the same places.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import chess
import numpy as np
import torch

from .checkpoint import load, save
from .network import Network, NetworkSettings
from .player import Settings
from .pool import InProcess, Pool
from .replay import Replay
from .self_play import play_itself, play_random
from .training import Trainer, TrainingSettings

#: Told of what was just done: "game", "step" or "match".
Tell = Callable[[str], None]


class BadTraining(ValueError):
    """A directory has a training of other settings."""


@dataclass(frozen=True)
class Plan:
    """What a training does.

    :ivar games: against itself in each iteration.
    :ivar steps: in each iteration, with ``batch`` samples each.
    :ivar matches: games against a random mover in each iteration, half of them with either colour.
    :ivar capacity: samples that are kept; the notebook's. They take a gigabyte.
    :ivar max_plies: half-moves after which a game is drawn.
    """

    games: int = 6
    steps: int = 300
    batch: int = 64
    matches: int = 6
    capacity: int = 200_000
    max_plies: int = 200
    seed: int = 0
    network: NetworkSettings = field(default_factory=NetworkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    player: Settings = field(default_factory=lambda: Settings(determinisations=4, simulations=40, exploring=20))


class Training:
    """A training in a directory: ``latest.pt``, ``iteration-0001.pt`` and so on, ``log.jsonl``, and samples.

    :ivar iteration: how many are done.
    :ivar log: what came of each.
    """

    def __init__(self, directory: Path, plan: Plan, pool: Pool | None = None, device: str = "cpu") -> None:
        """Begin one, or take up the one that is there.

        :param pool: where games are played; in this process, unless something else is said.
        :param device: PyTorch's name of what the steps are made on.
        :raises BadTraining: there is one, of another plan.
        :raises BadCheckpoint: its checkpoint cannot be used.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self._directory, self._plan, self._pool = directory, plan, pool or InProcess()
        self.iteration, added = 0, 0
        self.log: list[dict[str, Any]] = []
        if self._latest.exists():
            self._trainer, extra = load(self._latest, device)
            self._check(extra["plan"])
            self.iteration, self.log, added = extra["iteration"], extra["log"], extra["added"]
        else:
            torch.manual_seed(plan.seed)
            self._trainer = Trainer(Network(plan.network).to(device), plan.training)
        self._replay = Replay(directory / "samples", plan.capacity, added)

    @property
    def _latest(self) -> Path:
        return self._directory / "latest.pt"

    def _check(self, before: dict[str, Any]) -> None:
        for name, value in asdict(self._plan).items():
            if before.get(name) != value:
                was = f"{name}: {self._latest} is of a training with {before.get(name)}"
                raise BadTraining(f"{was}, not {value}: give the same settings, or another directory")

    def iterate(self, tell: Tell = lambda what: None) -> dict[str, Any]:
        """One iteration; what came of it, as the log has it."""
        samples = self._play(tell)
        losses = self._learn(tell)
        points = self._match(tell)
        self.iteration += 1
        done = {"iteration": self.iteration, "samples": samples, "kept": len(self._replay), "step": self._trainer.step}
        self.log.append({**done, **losses, "points_against_random": points})
        self._keep()
        return self.log[-1]

    def _play(self, tell: Tell) -> int:
        """Games against itself; the samples that came of them."""
        before, plan = self._replay.added, self._plan
        games = [
            partial(play_itself, settings=plan.player, seed=self._seed("game", game), max_plies=plan.max_plies)
            for game in range(plan.games)
        ]
        for samples in self._pool.play(games, self._trainer.network, partial(tell, "game")):
            for sample in samples:
                self._replay.add(sample)
        return self._replay.added - before

    def _learn(self, tell: Tell) -> dict[str, float]:
        """Steps; the mean losses."""
        rng = np.random.default_rng([self._plan.seed, self.iteration])
        losses = []
        for _ in range(self._plan.steps):
            losses.append(self._trainer.learn(self._replay.draw(self._plan.batch, rng)))
            tell("step")
        return {
            "policy_loss": mean(each.policy for each in losses),
            "value_loss": mean(each.value for each in losses),
        }

    def _match(self, tell: Tell) -> float | None:
        """The share of the points against a random mover; None where there are no games. Its own moves are its best."""
        player, plies = replace(self._plan.player, exploring=0), self._plan.max_plies
        matches = [
            partial(
                play_random,
                settings=player,
                seed=self._seed("match", match),
                color=chess.COLORS[match % 2],
                max_plies=plies,
            )
            for match in range(self._plan.matches)
        ]
        points = list(self._pool.play(matches, self._trainer.network, partial(tell, "match")))
        return mean(points) if points else None

    def _seed(self, what: str, number: int) -> str:
        return f"{self._plan.seed} {what} {self.iteration} {number}"

    def _keep(self) -> None:
        self._replay.flush()
        extra = {
            "plan": asdict(self._plan),
            "iteration": self.iteration,
            "log": self.log,
            "added": self._replay.added,
        }
        save(self._directory / f"iteration-{self.iteration:04}.pt", self._trainer, extra)
        save(self._latest, self._trainer, extra)
        lines = "".join(json.dumps(each) + "\n" for each in self.log)
        (self._directory / "log.jsonl").write_text(lines)
