"""The batched environment for research, gm_env, beside OpenSpiel's ``rbc``: turns a second of processor time.

Everybody plays at random. OpenSpiel's games differ: it lists 36 squares to sense, and all its promotions by another
table. Its loop in C++ is ``evaluate_bots`` with two of its own random bots, one call a game: rules, bots and loop are
C++. From Python it is stepped an action at a time, alone and with its observation tensor for each action.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from gm_recon import ReconGame

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
        print(f"{error}: pip install -e '.[env]'")
        return
    players: dict[str, Play] = _open_spiel() | {"gm_recon": _gm_recon}
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
    print("aims: 15 times OpenSpiel in C++; with masks and observations 5 times, and 20 times OpenSpiel with tensors")
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
                batch.observations()
                batch.masks()
            batch.move(batch.sample_moves())
        return steps * int(batch.n)

    return play


def _interfaces() -> dict[str, Play]:
    """Return players through Gymnasium's and PettingZoo's interfaces, and of PettingZoo's own chess if it is there.

    Their spaces draw the actions, as in the libraries' examples, which takes most of the time. A learner's turn in
    Gymnasium is two of the game: the opponent answers it.
    """
    try:
        from gm_env import pettingzoo as rbc
        from gm_env.gymnasium import RbcEnv, RbcVectorEnv
    except ImportError as error:
        print(f"{error}: pip install -e '.[env]'")
        return {}
    envs, env = RbcVectorEnv(64), RbcEnv()

    def vector(seed: int) -> int:
        envs.reset(seed=seed)
        turns = 0
        while turns < TURNS // 4:
            envs.step(envs.action_space.sample())
            turns += 64  # two steps are a turn, which the opponent answers by another
        return turns

    def single(seed: int) -> int:
        _, over, steps = env.reset(seed=seed), False, 0
        while steps < TURNS // 20 or not over:
            if over:
                env.reset()
            over = bool(env.step(env.action_space.sample())[2])
            steps += 1
        return steps

    players: dict[str, Play] = {"gm_env, Gymnasium vector of 64": vector, "gm_env, Gymnasium": single}
    players["gm_env, PettingZoo"] = _agents(rbc.env(), 2)
    try:
        from pettingzoo.classic import chess_v6
    except ImportError as error:
        print(f"PettingZoo's chess is not installed ({error}): pip install 'pettingzoo[classic]'")
        return players
    return players | {"PettingZoo's chess, a move": _agents(chess_v6.env(), 1)}


def _agents(env: Any, acts: int) -> Play:
    """Return a player of a PettingZoo environment, in which a turn is one or two acts."""

    def play(seed: int) -> int:
        env.reset(seed=seed)
        done = 0
        while done < TURNS // 20:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
            done += 1
        return done // acts

    return play


def _gm_recon(seed: int) -> int:
    rng, turns = random.Random(seed), 0
    while turns < TURNS // 10:
        game = ReconGame()
        while not game.is_over():
            game.sense(rng.choice(game.sense_actions()))
            game.move(rng.choice(game.move_actions()))
        turns += game.ply
    return turns


def _open_spiel() -> dict[str, Play]:
    """Return OpenSpiel's players; none where it is not installed."""
    try:
        import pyspiel
    except ImportError:
        print("OpenSpiel is not installed: pip install -e '.[bench]'")
        return {}
    rules: Any = pyspiel.load_game("rbc")
    bots = [pyspiel.make_uniform_random_bot(player, player + 1) for player in (0, 1)]

    def in_cpp(seed: int) -> int:
        actions = 0
        for game in range(40):
            state = rules.new_initial_state()
            pyspiel.evaluate_bots(state, bots, 1_000 * seed + game)
            actions += int(state.move_number())
        return actions // 2

    def from_python(seed: int, games: int, shows: bool) -> int:
        rng, actions = random.Random(seed), 0
        for _ in range(games):
            state = rules.new_initial_state()
            while not state.is_terminal():
                if shows:
                    state.observation_tensor()
                state.apply_action(rng.choice(state.legal_actions()))
                actions += 1
        return actions // 2

    return {
        "OpenSpiel in C++": in_cpp,
        "OpenSpiel from Python": lambda seed: from_python(seed, 40, False),
        "OpenSpiel, tensors": lambda seed: from_python(seed, 20, True),
    }


def _memory(batch: Any) -> int:
    """Return the bytes of a batch's arrays for each game."""
    views = [vars(view).get("words") for view in (batch._masks, batch._observations)]
    arrays = [value for value in vars(batch).values() if hasattr(value, "nbytes") and value.base is None]
    return int(sum(array.nbytes for array in [*arrays, *views] if array is not None)) // int(batch.n)


def _shown(batch: Any) -> Any:
    batch.masks()
    batch.observations()
    return batch


def _measure_import() -> None:
    """Print the processor time of imports in new processes: compiling all, cached, and from a read-only cache."""
    with tempfile.TemporaryDirectory() as folder:
        times = [_seconds("import numba", folder), *(_seconds("import gm_env", folder) for _ in range(2))]
        os.chmod(folder, 0o500)
        times.append(_seconds("import gm_env", folder))
        os.chmod(folder, 0o700)
    numba, first, cached, frozen = times
    print(f"import gm_env: {first:.1f} s compiles it; then {cached:.1f} s, of which numba {numba:.1f} s", end="")
    print(f"; with the cache read-only {frozen:.1f} s")


def _seconds(statement: str, cache: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
