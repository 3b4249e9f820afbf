"""The speed of recon-zero's training: games against itself with one worker and with two, and training steps.

One worker is the process itself, two are Ray's actors, as with ``gmd train recon-zero --workers``. In each round both
play the same whole games, with the settings of a training and the network that ships with it. On a busy machine, two
workers may get no more processor time than one; then their ratio is meaningless.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from bench.progress import steps

if TYPE_CHECKING:
    from gm_bots.recon_zero.network import Network
    from gm_bots.recon_zero.pool import Pool
    from gm_bots.recon_zero.replay import Replay, Sample

#: Games per round, shared equally by two workers.
GAMES = 4
#: Batch sizes of a training step, and positions per round.
BATCHES, POSITIONS = (64, 256), 512


def measure(rounds: int) -> None:
    """Print games and positions a second, or which libraries are missing."""
    if missing := [library for library in ("torch", "ray") if find_spec(library) is None]:
        print(f"self-play: not installed: {', '.join(missing)}; pip install -e '.[train]'")
        return
    from gm_bots.recon_zero.checkpoint import load_network
    from gm_bots.recon_zero.shipped import FILE

    network = load_network(FILE)
    samples = _measure_games(network, rounds)
    _measure_steps(network, samples, rounds)


def _measure_games(network: Network, rounds: int) -> Sequence[Sample]:
    """Measure self-play, and return the samples of some games."""
    from gm_bots.recon_zero.pool import InProcess
    from gm_bots.recon_zero.workers import Workers

    one, two = [], []
    with Workers(2) as workers:
        workers.wait()
        _play(workers, network, "before")  # a warm-up
        samples = _play(InProcess(), network, "before")
        for number in steps(range(rounds), "self-play"):
            one.append(_seconds_to_play(InProcess(), network, number))
            two.append(_seconds_to_play(workers, network, number))
    ratio = median(alone / both for alone, both in zip(one, two, strict=True))
    plies = len(samples) / GAMES
    print(f"self-play, whole games a second (of some {plies:.0f} plies), medians of {rounds}:", end=" ")
    print(f"1 worker {GAMES / median(one):.3f}, 2 workers {GAMES / median(two):.3f};", end=" ")
    print(f"ratio {ratio:.2f} on {os.cpu_count()} processors")
    return samples


def _seconds_to_play(pool: Pool, network: Network, number: int) -> float:
    begun = perf_counter()
    _play(pool, network, str(number))
    return perf_counter() - begun


def _play(pool: Pool, network: Network, seed: str) -> Sequence[Sample]:
    from gm_bots.recon_zero.pipeline import Plan
    from gm_bots.recon_zero.self_play import play_itself

    plan = Plan()
    game = partial(play_itself, settings=plan.player, max_plies=plan.max_plies)
    games = [partial(game, seed=f"{seed} {number}") for number in range(GAMES)]
    return [sample for samples in pool.play(games, network, lambda: None) for sample in samples]


def _measure_steps(network: Network, samples: Sequence[Sample], rounds: int) -> None:
    from gm_bots.recon_zero.devices import device_of
    from gm_bots.recon_zero.replay import Replay

    device = device_of("auto")
    with TemporaryDirectory() as directory:
        replay = Replay(Path(directory), capacity=len(samples))
        for sample in samples:
            replay.add(sample)
        for batch in BATCHES:
            seconds = _seconds_to_learn(network.to(device), replay, batch, rounds)
            print(f"training on {device}, batches of {batch}: {POSITIONS / median(seconds):.0f} positions a second")


def _seconds_to_learn(network: Network, replay: Replay, batch: int, rounds: int) -> list[float]:
    import numpy as np

    from gm_bots.recon_zero.training import Trainer, TrainingSettings

    trainer, rng, seconds = Trainer(network, TrainingSettings()), np.random.default_rng(1), []
    trainer.learn(replay.draw(batch, rng))
    for _ in steps(range(rounds), f"training, batches of {batch}"):
        begun = perf_counter()
        for _ in range(POSITIONS // batch):
            trainer.learn(replay.draw(batch, rng))
        seconds.append(perf_counter() - begun)
    return seconds
