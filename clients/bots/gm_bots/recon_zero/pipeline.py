"""A training from beginning to end: games to learn from, steps, games against a random mover, a checkpoint.

A checkpoint ends each iteration and has everything that the next depends on. So a training that was killed continues
from the latest one, and does what it would have done: random choices in each iteration come from the seed and the
iteration's number; samples added since the checkpoint are added again, in the same places.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import chess
import numpy as np
import torch

from . import results
from .checkpoint import keep_network, link, load, load_network, save
from .checkpoint_files import digest_of
from .league.fixtures import Met
from .league.season import League, results_of
from .lockstep.judging import Judge
from .lockstep.network_judge import NetworkJudge
from .network import Network
from .older import checkpoint_of, older_than
from .plan import BadTraining, Plan, check_same
from .player import Settings
from .pool import Game, InProcess, Pool
from .replay import Replay, Sample
from .self_play import play_itself, play_other, play_random
from .teacher import Teaching
from .training import Trainer

T = TypeVar("T")

#: The type of a function that is called with each finished "game", "step" or "match".
Tell = Callable[[str], None]

#: The newest checkpoint, in a training's directory, and the network alone when all iterations are done.
LATEST, NETWORK = "latest.pt", "network.pt"
#: The network that a training begins with, in its directory.
START = "start.pt"

#: The points of a player, by how a game ended for it.
POINTS = {"won": 1.0, "drawn": 0.5, "lost": 0.0}


class Training:
    """A training in a directory: ``latest.pt``, ``iteration-0001.pt`` and so on, ``log.jsonl``, and samples.

    :ivar directory: the directory.
    :ivar plan: the settings.
    :ivar iteration: how many iterations are finished.
    :ivar log: the results of each.
    """

    def __init__(
        self,
        directory: Path,
        plan: Plan,
        pool: Pool | None = None,
        device: str = "cpu",
        files: Mapping[str, Path] | None = None,
        start: Path | None = None,
    ) -> None:
        """Begin a training, or continue the one in the directory.

        :param pool: where games are played; by default in this process.
        :param device: PyTorch's name of the device of the steps.
        :param files: the checkpoints of members that are new to the league, by name.
        :param start: the checkpoint with whose network it begins, if the plan has one.
        :raises plan.BadTraining: the directory has a training with another plan.
        :raises BadCheckpoint: its checkpoint cannot be used.
        :raises BadResults: ``results.csv`` is not a training's.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.plan, self._pool = directory, plan, pool or InProcess()
        self.iteration, added = 0, 0
        self.log: list[dict[str, Any]] = []
        if self._latest.exists():
            self._trainer, extra = load(self._latest, device)
            check_same(plan, extra["plan"], self._latest)
            self.iteration, self.log, added = extra["iteration"], extra["log"], extra["added"]
        else:
            torch.manual_seed(plan.seed)
            self._trainer = Trainer(self._first(start).to(device), plan.training)
        self._league = League(directory, plan, files or {})
        self._replay = Replay(directory / "samples", plan.capacity, added)
        self._write_log()

    @property
    def _latest(self) -> Path:
        return self.directory / LATEST

    def keep_network(self) -> None:
        """Write the network of the latest iteration alone, for a bot to play with."""
        keep_network(self._latest, self.directory / NETWORK)

    def _first(self, start: Path | None) -> Network:
        """Return the network that the training begins with; a file's is kept in the directory until it has begun."""
        plan, path = self.plan, self.directory / START
        if plan.start is None:
            return Network(plan.network)
        if start is not None and not path.exists():
            link(start, path)
        if digest_of(path) != plan.start:
            raise BadTraining(f"start: {path} is not the network that the training began with: restore it")
        network = load_network(path)
        for name, value in asdict(plan.network).items():
            if (has := getattr(network.settings, name)) != value:
                raise BadTraining(f"{name}: {path} is a network with {has}, not {value}: give the same setting")
        return network

    def iterate(self, tell: Tell = lambda what: None) -> dict[str, Any]:
        """Do one iteration; return its results, as logged."""
        samples, league = self._play(tell)
        losses = self._learn(tell)
        matches, older = self._match(tell), self._match_older(tell)
        self.iteration += 1
        done: dict[str, Any] = {
            "iteration": self.iteration,
            "samples": samples,
            "kept": len(self._replay),
            "step": self._trainer.step,
        }
        self.log.append(
            {**done, **losses, **matches, **older, **league, "eval_simulations": self._at_its_best().simulations}
        )
        self._keep()
        return self.log[-1]

    def _play(self, tell: Tell) -> tuple[int, dict[str, Any]]:
        """Play the games to learn from; return the number of samples from them, and the league's results."""
        before = self._replay.added
        player = None if self.iteration < self.plan.taught else self._trainer.network
        met = []
        for game in self._play_in_step(player, tell) if self.plan.in_step else self._play_each(player, tell):
            if isinstance(game, Met):
                self._learn_from(game.samples)
                met.append(replace(game, samples=[]))
            else:
                self._learn_from(game)
        return self._replay.added - before, {"league": {name: list(each) for name, each in results_of(met).items()}}

    def _learn_from(self, samples: list[Sample]) -> None:
        for sample in samples:
            self._replay.add(sample)

    def _taught(self, games: Sequence[Game[T]], ask: Callable[..., T], what: str) -> Sequence[Game[T]]:
        """Return games whose results have what the teacher says of them; the games themselves if there is no teacher.

        :param ask: plays a game, and asks the teacher about it.
        :param what: the kind of games, for the seeds.
        """
        plan = self.plan
        if plan.teacher is None:
            return games
        taught: list[Game[T]] = []
        for number, play in enumerate(games):
            teaching = Teaching(plan.teacher, plan.followed, self._seed(f"teacher {what}", number), plan.own_searches)
            taught.append(partial(ask, play=play, teaching=teaching))
        return taught

    def _play_each(self, player: Network | None, tell: Tell) -> Iterator[list[Sample]]:
        plan = self.plan
        games = [
            partial(
                play_itself,
                settings=plan.player,
                seed=self._seed("game", game),
                max_plies=plan.max_plies,
            )
            for game in range(plan.own_games)
        ]
        return self._pool.play(self._taught(games, _play_one, "game"), player, partial(tell, "game"))

    def _play_in_step(self, player: Network | None, tell: Tell) -> Iterator[list[Sample] | Met]:
        """Play all games, those against itself first, though no worker waits for them to begin the league's."""
        games: list[Game[Any]] = [
            *self._taught(self._own_games(), _play_some, "games"),
            *self._taught(self._league_games(), _play_others, "league"),
        ]
        for played in self._pool.play(games, player, lambda: None, self.plan.precision):
            for game in played:
                tell("game")
                yield game

    def _own_games(self) -> list[Game[list[list[Sample]]]]:
        """Return the games against itself, in parts that are played in step."""
        from .lockstep.games import play_together

        plan = self.plan
        seeds = [self._seed("game", game) for game in range(plan.own_games)]
        return [
            partial(
                play_together,
                settings=plan.player,
                seeds=part,
                max_plies=plan.max_plies,
            )
            for part in batched(seeds, plan.in_step)
        ]

    def _league_games(self) -> list[Game[list[Met]]]:
        """Return the games against members of the league, in parts that are played in step."""
        plan, fixtures = self.plan, self._league.fixtures(self.iteration, self.log)
        if not fixtures:
            return []
        from .league.games import play_league

        return [
            partial(
                play_league,
                fixtures=part,
                rivals=self._league.rivals(part),
                settings=plan.player,
                max_plies=plan.max_plies,
            )
            for part in batched(fixtures, plan.in_step)
        ]

    def _learn(self, tell: Tell) -> dict[str, float]:
        """Do the steps; return the mean losses."""
        rng = np.random.default_rng([self.plan.seed, self.iteration])
        losses = []
        for _ in range(self.plan.steps):
            losses.append(self._trainer.learn(self._replay.draw(self.plan.batch, rng), self.plan.precision))
            tell("step")
        return {
            "policy_loss": mean(each.policy for each in losses),
            "value_loss": mean(each.value for each in losses),
        }

    def _match(self, tell: Tell) -> dict[str, Any]:
        """Play the games against a random mover; return the score, or None where there are no games."""
        player, plies = self._at_its_best(), self.plan.max_plies
        matches = [
            partial(
                play_random,
                settings=player,
                seed=self._seed("match", match),
                color=chess.COLORS[match % 2],
                max_plies=plies,
            )
            for match in range(self.plan.matches)
        ]
        points = list(self._pool.play(matches, self._trainer.network, partial(tell, "match")))
        return {
            "points_against_random": mean(points) if points else None,
            "matches": len(points),
            **{f"{end}_against_random": points.count(worth) for end, worth in POINTS.items()},
        }

    def _match_older(self, tell: Tell) -> dict[str, Any]:
        """Play against an older network; return the score, the older iteration, and the number of games."""
        older, plan = older_than(self.directory, self.iteration + 1), self.plan
        if older is None or not plan.matches_older:
            return {"points_against_older": None, "older_iteration": None, "matches_older": 0}
        iteration, path = older
        matches = [
            partial(
                play_other,
                theirs=NetworkJudge(load_network(path)),
                settings=self._at_its_best(),
                seed=self._seed("older", match),
                color=chess.COLORS[match % 2],
                max_plies=plan.max_plies,
            )
            for match in range(plan.matches_older)
        ]
        points = list(self._pool.play(matches, self._trainer.network, partial(tell, "match")))
        return {"points_against_older": mean(points), "older_iteration": iteration, "matches_older": len(points)}

    def _at_its_best(self) -> Settings:
        """Return the settings of a player where nothing is learnt from its games."""
        plan = self.plan
        return replace(plan.player, exploring=0, simulations=plan.eval_simulations or plan.player.simulations)

    def _seed(self, what: str, number: int) -> str:
        return f"{self.plan.seed} {what} {self.iteration} {number}"

    def _keep(self) -> None:
        self._replay.flush()
        extra = {
            "plan": asdict(self.plan),
            "iteration": self.iteration,
            "log": self.log,
            "added": self._replay.added,
        }
        path = checkpoint_of(self.directory, self.iteration)
        save(path, self._trainer, extra)
        link(path, self._latest)
        self._write_log()

    def _write_log(self) -> None:
        """Write the whole log: the files never have less than the checkpoint."""
        results.write_training(self.directory, asdict(self.plan), self.log)
        if not self.log:
            return
        path = self.directory / "log.jsonl"
        partial_path = path.with_suffix(".partial")
        partial_path.write_text("".join(json.dumps(each) + "\n" for each in self.log))
        partial_path.replace(path)


def batched(all_of_them: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the parts of a sequence, each of a size but the last."""
    for start in range(0, len(all_of_them), size):
        yield all_of_them[start : start + size]


def _play_one(judge: Judge, play: Game[list[Sample]], teaching: Teaching) -> list[Sample]:
    """Play a game, and return what there is to learn from it."""
    return teaching.lessons([play(judge)])[0]


def _play_some(judge: Judge, play: Game[list[list[Sample]]], teaching: Teaching) -> list[list[Sample]]:
    """Play some games, and return what there is to learn from each."""
    return teaching.lessons(play(judge))


def _play_others(judge: Judge, play: Game[list[Met]], teaching: Teaching) -> list[Met]:
    """Play games against others, and return them with what there is to learn from each."""
    met = play(judge)
    lessons = teaching.lessons([game.samples for game in met])
    return [replace(game, samples=samples) for game, samples in zip(met, lessons, strict=True)]
