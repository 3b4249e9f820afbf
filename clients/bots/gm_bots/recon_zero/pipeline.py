"""A training from beginning to end: games to learn from, steps, games against a random mover, a checkpoint.

A checkpoint ends each iteration and has everything that the next depends on. So a training that was killed continues
from the latest one, and does what it would have done: random choices in each iteration come from the seed and the
iteration's number; samples added since the checkpoint are added again, in the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import chess
import numpy as np
import torch

from gm_arena.pool import Pool

from . import results
from .checkpoint import keep_network, link, load, save
from .checkpoint_files import checkpoint_of
from .league.games import Fixture, Met, play_league
from .league.members import RANDOM, Program
from .league.season import fixtures_of, results_of, rivals_of
from .lockstep.games import play_together
from .lockstep.judging import Judge
from .network import Network
from .plan import Plan, check_same, plan_from
from .pool import Game, play
from .replay import Replay, Sample
from .teacher import Teaching
from .training import Trainer

T = TypeVar("T")

#: The type of a function that is called with each finished "game", "step" or "match".
Tell = Callable[[str], None]

#: The newest checkpoint, in a training's directory, and the network alone when all iterations are done.
LATEST, NETWORK = "latest.pt", "network.pt"


class Training:
    """A training in a directory: ``latest.pt``, ``iteration-0001.pt`` and so on, results, and samples.

    :ivar directory: the directory.
    :ivar plan: the settings.
    :ivar iteration: how many iterations are finished.
    :ivar log: the results of each.
    :ivar pool: the workers that play the games; None for this process.
    """

    def __init__(
        self,
        directory: Path,
        plan: Plan,
        pool: Pool | None = None,
        device: str = "cpu",
    ) -> None:
        """Begin a training, or continue the one in the directory.

        :param device: PyTorch's name of the device of the steps.
        :raises BadTraining: the directory has a training with another plan.
        :raises BadCheckpoint: its checkpoint cannot be used.
        :raises BadResults: ``results.csv`` is not a training's.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.plan, self.pool = directory, plan, pool
        self.iteration, added = 0, 0
        self.log: list[dict[str, Any]] = []
        if self._latest.exists():
            self._trainer, extra = load(self._latest, device)
            check_same(plan, plan_from(extra["plan"], self._latest), self._latest)
            self.iteration, self.log, added = extra["iteration"], extra["log"], extra["added"]
        else:
            torch.manual_seed(plan.seed)
            self._trainer = Trainer(Network(plan.network).to(device), plan.learning_rate)
        self._replay = Replay(directory / "samples", plan.capacity, added)
        results.write_training(directory, asdict(plan), self.log)

    @property
    def _latest(self) -> Path:
        return self.directory / LATEST

    def keep_network(self) -> None:
        """Write the network of the latest iteration alone, for a bot to play with."""
        keep_network(self._latest, self.directory / NETWORK)

    def iterate(self, tell: Tell = lambda what: None) -> dict[str, Any]:
        """Do one iteration; return its results."""
        samples, league = self._play(tell)
        losses, matches = self._learn(tell), self._match(tell)
        self.iteration += 1
        done = {
            "iteration": self.iteration,
            "samples": samples,
            "kept": len(self._replay),
            "step": self._trainer.step,
            **losses,
            **matches,
            "league": league,
        }
        self.log.append(done)
        self._keep()
        return done

    def _play(self, tell: Tell) -> tuple[int, dict[str, list[int]]]:
        """Play the games to learn from; return the number of samples from them, and the league's results."""
        before, met = self._replay.added, list[Met]()
        player = None if self.iteration < self.plan.taught else self._trainer.network
        for game in self._games(player, tell):
            for sample in game.samples if isinstance(game, Met) else game:
                self._replay.add(sample)
            if isinstance(game, Met):
                met.append(replace(game, samples=[]))
        return self._replay.added - before, {name: list(each) for name, each in results_of(met).items()}

    def _games(self, player: Network | None, tell: Tell) -> Iterator[list[Sample] | Met]:
        """Play all games, those against itself first, though no worker waits for them to begin the league's."""
        plan, fixtures = self.plan, fixtures_of(self.plan, self.directory, self.iteration)
        seeds = [self._seed("game", game) for game in range(plan.games - len(fixtures))]
        common: dict[str, Any] = {"settings": plan.player, "max_plies": plan.max_plies}
        own: list[Game[Any]] = [partial(play_together, seeds=part, **common) for part in batched(seeds, plan.in_step)]
        league: list[Game[Any]] = [
            partial(play_league, fixtures=part, rivals=rivals_of(plan, self.directory, part), **common)
            for part in batched(fixtures, plan.in_step)
        ]
        games = [*self._taught(own, _play_some, "games"), *self._taught(league, _play_others, "league")]
        for played in play(self.pool, games, player, plan.precision):
            for game in played:
                tell("game")
                yield game

    def _taught(self, games: Sequence[Game[T]], ask: Callable[..., T], what: str) -> Sequence[Game[T]]:
        """Return games whose results have what the teacher says of them; the games themselves if there is no teacher.

        :param ask: plays a game, and asks the teacher about it.
        :param what: the kind of games, for the seeds.
        """
        if not self.plan.teacher:
            return games
        return [
            partial(ask, play=play, teaching=Teaching(self.plan.teacher, self._seed(f"teacher {what}", number)))
            for number, play in enumerate(games)
        ]

    def _learn(self, tell: Tell) -> dict[str, float]:
        """Do the steps; return the mean losses."""
        rng = np.random.default_rng([self.plan.seed, self.iteration])
        losses = []
        for _ in range(self.plan.steps):
            losses.append(self._trainer.learn(self._replay.draw(self.plan.batch, rng), self.plan.precision))
            tell("step")
        return {
            "loss": mean(each.total for each in losses),
            "policy_loss": mean(each.policy for each in losses),
            "value_loss": mean(each.value for each in losses),
        }

    def _match(self, tell: Tell) -> dict[str, int]:
        """Play the games against a random mover; return how many were won, drawn and lost."""
        plan = self.plan
        fixtures = [
            Fixture(self._seed("match", match), chess.COLORS[match % 2], RANDOM) for match in range(plan.matches)
        ]
        matches = [
            partial(
                play_league,
                fixtures=part,
                rivals={RANDOM: Program(RANDOM)},
                settings=replace(plan.player, exploring=0),
                max_plies=plan.max_plies,
            )
            for part in batched(fixtures, plan.in_step)
        ]
        outcomes = list[float]()
        for met in play(self.pool, matches, self._trainer.network, plan.precision):
            for game in met:
                outcomes.append(game.outcome)
                tell("match")
        ends = {"won": 1.0, "drawn": 0.0, "lost": -1.0}
        return {f"{end}_against_random": outcomes.count(outcome) for end, outcome in ends.items()}

    def _seed(self, what: str, number: int) -> str:
        return f"{self.plan.seed} {what} {self.iteration} {number}"

    def _keep(self) -> None:
        self._replay.flush()
        results.add_events(self.directory, self.log[-1])  # if it is killed now, those of the next try replace these
        path = checkpoint_of(self.directory, self.iteration)
        extra = {
            "plan": asdict(self.plan),
            "iteration": self.iteration,
            "log": self.log,
            "added": self._replay.added,
        }
        save(path, self._trainer, extra)
        link(path, self._latest)
        results.write_training(self.directory, asdict(self.plan), self.log)


def batched(all_of_them: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the parts of a sequence, each of a size but the last."""
    for start in range(0, len(all_of_them), size):
        yield all_of_them[start : start + size]


def _play_some(judge: Judge, play: Game[list[list[Sample]]], teaching: Teaching) -> list[list[Sample]]:
    """Play some games, and return what there is to learn from each."""
    return teaching.lessons(play(judge))


def _play_others(judge: Judge, play: Game[list[Met]], teaching: Teaching) -> list[Met]:
    """Play games against others, and return them with what there is to learn from each."""
    met = play(judge)
    lessons = teaching.lessons([game.samples for game in met])
    return [replace(game, samples=samples) for game, samples in zip(met, lessons, strict=True)]
