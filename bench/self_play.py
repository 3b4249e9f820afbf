"""The speed of recon-zero's training: games against itself, each by itself and in step, and training steps.

One worker is the process itself, two are Ray's actors, as with ``gmd train recon-zero --workers``. In each round both
play the same whole games in step, with the settings of a training and the network that ships with it. On a busy
machine, two workers may get no more processor time than one; then their ratio is meaningless.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING, TypeAlias

from bench.progress import steps

if TYPE_CHECKING:
    from gm_bots.recon_zero.lockstep.judging import Judge
    from gm_bots.recon_zero.network import Network
    from gm_bots.recon_zero.pool import Pool
    from gm_bots.recon_zero.replay import Replay, Sample

Samples: TypeAlias = "list[list[Sample]]"

#: Games per round that are played each by itself, beside those in step.
EACH = 3
#: Parts of games in step per round, shared equally by two workers.
PARTS = 2
#: Batch sizes of a training step, and positions per round.
BATCHES, POSITIONS = (64, 256), 512


def measure(rounds: int) -> None:
    """Print games and positions a second, or which libraries are missing."""
    if missing := [library for library in ("torch", "ray", "numba") if find_spec(library) is None]:
        print(f"self-play: not installed: {', '.join(missing)}; pip install -e '.[train]'")
        return
    from gm_bots.recon_zero.checkpoint import load_network
    from gm_bots.recon_zero.shipped import FILE

    network = load_network(FILE)
    _measure_in_step(network, rounds)
    samples = _measure_games(network, rounds)
    _measure_steps(network, samples, rounds)


def _measure_in_step(network: Network, rounds: int) -> None:
    """Compare the processor time of a ply in games that are played each by itself and in step, with equal searches."""
    from gm_bots.recon_zero.devices import SLOWER, bfloat16_factor
    from gm_bots.recon_zero.lockstep.games import play_together
    from gm_bots.recon_zero.lockstep.judging import count_material
    from gm_bots.recon_zero.lockstep.network_judge import NetworkJudge
    from gm_bots.recon_zero.plan import Plan
    from gm_bots.recon_zero.pool import one_thread
    from gm_bots.recon_zero.self_play import play_itself

    plan, exact, fast = Plan(), NetworkJudge(network), NetworkJudge(network, "bfloat16")

    def each(judge: Judge, number: int) -> Samples:
        return [play_itself(judge, plan.player, f"{number} {game}", plan.max_plies) for game in range(EACH)]

    def in_step(judge: Judge, number: int) -> Samples:
        seeds = [f"{number} {game}" for game in range(plan.in_step)]
        return play_together(judge, plan.player, seeds, plan.max_plies)

    kinds: list[tuple[str, Callable[[int], Samples], Callable[[int], Samples]]] = [
        ("by piece values", partial(each, count_material), partial(in_step, count_material)),
        ("by the network, float32", partial(each, exact), partial(in_step, exact)),
    ]
    if (factor := bfloat16_factor()) < SLOWER:
        kinds.append(("by the network, bfloat16", partial(each, exact), partial(in_step, fast)))
    else:
        print(f"bfloat16 is left out: this processor takes {factor:.0f} times as long with it as with float32")
    print(f"self-play in step ({plan.in_step} games), processor time of a ply beside that of games by themselves:")
    with one_thread():
        for name, alone, together in kinds:
            together(-1)  # a warm-up, in which kernels are compiled
            pairs = [(_cost(alone, number), _cost(together, number)) for number in steps(range(rounds), name)]
            one, many = median(one for one, _ in pairs) * 1e3, median(many for _, many in pairs) * 1e3
            ratios = sorted(one / many for one, many in pairs)
            print(f"  {name:<26}{one:8.1f} ms{many:8.2f} ms", end="")
            print(f"{median(ratios):8.1f} times as fast ({ratios[0]:.1f} to {ratios[-1]:.1f})")


def _cost(play: Callable[[int], Samples], number: int) -> float:
    """Return the seconds of the processor for each ply."""
    begun = process_time()
    games = play(number)
    return (process_time() - begun) / sum(map(len, games))


def _measure_games(network: Network, rounds: int) -> Sequence[Sample]:
    """Measure self-play, and return the samples of some games."""
    from gm_bots.recon_zero.plan import Plan
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
    games = PARTS * Plan().in_step
    ratio = median(alone / both for alone, both in zip(one, two, strict=True))
    print(
        f"self-play in step, whole games a second (of some {len(samples) / games:.0f} plies), medians of {rounds}:",
        end=" ",
    )
    print(f"1 worker {games / median(one):.2f}, 2 workers {games / median(two):.2f};", end=" ")
    print(f"ratio {ratio:.2f} on {os.cpu_count()} processors")
    return samples


def _seconds_to_play(pool: Pool, network: Network, number: int) -> float:
    begun = perf_counter()
    _play(pool, network, str(number))
    return perf_counter() - begun


def _play(pool: Pool, network: Network, seed: str) -> Sequence[Sample]:
    from gm_bots.recon_zero.lockstep.games import play_together
    from gm_bots.recon_zero.plan import Plan

    plan = Plan()
    part = partial(play_together, settings=plan.player, max_plies=plan.max_plies)
    seeds = [[f"{seed} {number} {game}" for game in range(plan.in_step)] for number in range(PARTS)]
    played = pool.play([partial(part, seeds=some) for some in seeds], network, lambda: None)
    return [sample for games in played for samples in games for sample in samples]


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
