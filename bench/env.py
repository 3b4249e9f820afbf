"""The environment for research, gm_env, beside OpenSpiel's ``rbc``: turns a second of processor time.

Everybody plays at random. OpenSpiel's games differ: it lists 36 squares to sense, and all its promotions by another
table. Its loop in C++ is ``evaluate_bots`` with two of its own random bots, one call a game: rules, bots and loop are
C++. From Python it is stepped an action at a time, alone and with its observation tensor for each action. The
interfaces for Gymnasium and PettingZoo show observations and masks for each action, drawn from the action spaces; in
those for Gymnasium every other turn is the random opponent's.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from . import recon

#: Turns that each plays in a round, about.
TURNS = 20_000
#: Sizes of the batches.
SIZES = (64, 1_024)

Play = Callable[[int], int]


def measure(rounds: int) -> None:
    """Print turns a second, their ratios to OpenSpiel's loop round by round, memory, and the time to import."""
    try:
        from gm_env import BatchedRbc
    except ImportError as error:
        print(f"{error}: .venv/bin/pip install -e '.[env]'")
        return
    players: dict[str, Play] = _open_spiel()
    players["gm_recon"] = _games(lambda seed: recon.random_game(seed).ply, TURNS // 10)
    for n in SIZES:
        batch = BatchedRbc(n, 1)
        players[f"gm_env, {n:,} games"] = _batch(batch, shows=False)
        players[f"gm_env, {n:,}, masks and observations"] = _batch(batch, shows=True)
    players |= _interfaces()
    for play in players.values():
        play(0)
    results = [{name: _rate(play, 1 + number) for name, play in players.items()} for number in range(rounds)]
    peers = [name for name in ("OpenSpiel in C++", "OpenSpiel, tensors") if name in players]
    print(f"{'a turn: sense, move':40}{'turns/s':>12}" + "".join(f"{'of ' + peer:>24}" for peer in peers))
    for name in players:
        line = f"{name:40}{median(result[name] for result in results):>12,.0f}"
        for peer in peers:
            line += f"{median(result[name] / result[peer] for result in results):>24.1f}"
        print(line)
    print("aims: 15 times OpenSpiel in C++; with masks and observations 5 times, and 20 times OpenSpiel with tensors;")
    print("1,024 of Gymnasium's 14 times OpenSpiel with tensors; 10,000 turns/s by interfaces of one game")
    print(
        f"memory: {_memory(BatchedRbc(1_024)):,} bytes a game; {_memory(_shown(BatchedRbc(1_024))):,} with both views"
    )
    _measure_import()


def _rate(play: Play, seed: int) -> float:
    begun = time.process_time()
    return play(seed) / (time.process_time() - begun)


def _batch(batch: Any, shows: bool) -> Play:
    steps = TURNS // int(batch.n)

    def play(seed: int) -> int:
        for _ in range(steps):
            batch.sense(batch.sample_senses())
            if shows:
                batch.observations(copy=False)
                batch.masks(copy=False)
            batch.move(batch.sample_moves())
        return steps * int(batch.n)

    return play


def _interfaces() -> dict[str, Play]:
    """Return the interfaces' players; none where their libraries are not installed."""
    try:
        from gm_env import rbc_v0
        from gm_env.gymnasium import RbcEnv, RbcVectorEnv
    except ImportError as error:
        print(f"{error}: pip install -e '.[env]'")
        return {}
    return {
        **{f"Gymnasium, {n:,} games": _vector(RbcVectorEnv(n)) for n in SIZES},
        "Gymnasium, one game": _single(RbcEnv()),
        "PettingZoo": _agents(rbc_v0.env()),
        "PettingZoo, parallel": _parallel(rbc_v0.parallel_env()),
    }


def _vector(envs: Any) -> Play:
    steps = TURNS // int(envs.num_envs)

    def play(seed: int) -> int:
        envs.reset(seed=seed)
        envs.action_space.seed(seed)
        for _ in range(steps):
            envs.step(envs.action_space.sample())
        return steps * int(envs.num_envs)

    return play


def _single(env: Any) -> Play:
    def play(seed: int) -> int:
        env.reset(seed=seed)
        env.action_space.seed(seed)
        for _ in range(TURNS // 4):
            if env.step(env.action_space.sample())[2]:
                env.reset()
        return TURNS // 4

    return play


def _agents(env: Any) -> Play:
    def play(seed: int) -> int:
        done = 0
        for agent in env.possible_agents:
            env.action_space(agent).seed(seed)
        while done < TURNS // 4:
            env.reset()
            for agent in env.agent_iter():
                observation, _, over, _, _ = env.last()
                env.step(None if over else int(env.action_space(agent).sample(observation["action_mask"])))
                done += not over
        return done // 2

    return play


def _parallel(env: Any) -> Play:
    def play(seed: int) -> int:
        done = 0
        for agent in env.possible_agents:
            env.action_space(agent).seed(seed)
        while done < TURNS // 4:
            env.reset()
            while env.agents:
                env.step({agent: int(env.action_space(agent).sample()) for agent in env.agents})
                done += 1
        return done // 2

    return play


def _games(play: recon.Game, turns: int) -> Play:
    """Return a player of games one after the other."""

    def play_all(seed: int) -> int:
        seeds, done = count(1_000 * seed), 0
        while done < turns:
            done += play(next(seeds))
        return done

    return play_all


def _open_spiel() -> dict[str, Play]:
    """Return OpenSpiel's players; none where it is not installed."""
    from_python, tensors = recon.open_spiel(), recon.open_spiel(tensors=True)
    if from_python is None or tensors is None:
        print("OpenSpiel is not installed: .venv/bin/pip install -e '.[bench]'")
        return {}
    import pyspiel

    rules: Any = pyspiel.load_game("rbc")
    bots = [pyspiel.make_uniform_random_bot(player, player + 1) for player in (0, 1)]

    def in_cpp(seed: int) -> int:
        state = rules.new_initial_state()
        pyspiel.evaluate_bots(state, bots, seed)
        return int(state.move_number()) // 2

    return {
        "OpenSpiel in C++": _games(in_cpp, TURNS),
        "OpenSpiel from Python": _games(from_python, TURNS // 10),
        "OpenSpiel, tensors": _games(tensors, TURNS // 20),
    }


def _memory(batch: Any) -> int:
    """Return the bytes of a batch's arrays for each game."""
    views = [vars(view).get("_kept") for view in (batch._masks, batch._observations)]
    arrays = [value for value in vars(batch).values() if hasattr(value, "nbytes") and value.base is None]
    return int(sum(array.nbytes for array in [*arrays, *views] if array is not None)) // int(batch.n)


def _shown(batch: Any) -> Any:
    batch.masks(copy=False)
    batch.observations(copy=False)
    return batch


def _measure_import() -> None:
    """Print the processor time of new processes: compiling what they need, cached, and from a read-only cache."""
    with tempfile.TemporaryDirectory() as folder:
        batch = "from gm_env import BatchedRbc as B; b = B(2); b.sense(b.sample_senses()); b.move(b.sample_moves())"
        learner = "from gm_env.gymnasium import RbcEnv as E; e = E(); e.reset(); e.step(4673); e.step(4672)"
        times = [_seconds(statement, folder) for statement in (batch, batch, learner, learner, "import numba")]
        for path in Path(folder).rglob("*"):
            if path.is_dir():
                path.chmod(0o500)
        times.append(_seconds(batch, folder))
        for path in Path(folder).rglob("*"):
            if path.is_dir():
                path.chmod(0o700)
    first, cached, more, learning, numba, frozen = times
    print(f"a batch's first turn: {first:.1f} s compiling, then {cached:.1f} s, of which numba {numba:.1f} s", end="")
    print(f"; with the cache read-only {frozen:.1f} s")
    print(f"Gymnasium's first turn: {more:.1f} s more compiling, then {learning:.1f} s")


def _seconds(statement: str, cache: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", statement], check=True, env=env, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
