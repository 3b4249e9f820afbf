"""The batched environment for research, gm_env, beside OpenSpiel's ``rbc``: turns a second of processor time.

Everybody plays at random. OpenSpiel's games differ: it lists 36 squares to sense, and all its promotions by another
table. Its loop in C++ is ``evaluate_bots`` with two of its own random bots, one call a game: rules, bots and loop are
C++. From Python it is stepped an action at a time, alone and with its observation tensor for each action.
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
