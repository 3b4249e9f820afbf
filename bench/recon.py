"""Games of reconnaissance blind chess in one process: gmd's rules compared with reconchess's and OpenSpiel's.

The players choose at random from the lists of actions. Those of gmd and reconchess are equal, so the same seeds lead to
the same games, which is checked. OpenSpiel serves as a limit; its games differ: its lists are others (36 squares to
sense, promotions to a queen only), it keeps no record, and its players would still have to parse what they see.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from chess import Move, Square
from reconchess import LocalGame

from gm_recon import Player, ReconGame, play_local

#: Games that each plays before the measurement: tables fill, and the interpreter specialises.
WARM_UP = 200
#: Games that each plays in turn, so that a slow phase of the machine slows all of them alike.
SLICE = 20
#: The offset of the seeds for the implementation that must not repeat games that its tables have just seen.
ELSEWHERE = 1_000_000

Game = Callable[[int], int]


def measure(games: int, rounds: int) -> None:
    """Print a line for each: turns per second of processor time, and the medians of the ratios round by round.

    :param games: games per round.
    """
    players: dict[str, Game] = {
        "LocalGame": _local,
        "gmd, history read": _gmd_read,
        "gmd, history kept": _gmd,
        "gmd, play_local": _played_locally,
    }
    if (spiel := open_spiel()) is not None:
        players["OpenSpiel"] = spiel
    else:
        print("OpenSpiel is not installed: .venv/bin/pip install -e '.[bench]'")
    for play in players.values():
        for seed in range(WARM_UP):
            play(seed)
    results = [_times(players, range(first, first + games)) for first in _firsts(games, rounds)]
    limit = "of OpenSpiel" if spiel else ""
    print(f"{'a turn: sense, move':22}{'turns/s':>10}{'us':>8}{'of LocalGame':>14}{limit:>14}")
    for name in players:
        each = median(result[name] for result in results)
        ratio = median(result["LocalGame"] / result[name] for result in results)
        line = f"{name:22}{1 / each:>10,.0f}{each * 1e6:>8.2f}{ratio:>14.1f}"
        if spiel:
            line += f"{median(result['OpenSpiel'] / result[name] for result in results):>14.2f}"
        print(line)
    print("aim: 12 times LocalGame with the full history, 10 times by play_local, 0.5 of OpenSpiel")


def _firsts(games: int, rounds: int) -> Iterator[int]:
    """Yield the first seed of each round. No seed is played twice, or tables would know more than in new games."""
    yield from range(WARM_UP, WARM_UP + games * rounds, games)


def _times(players: dict[str, Game], seeds: range) -> dict[str, float]:
    """Return the seconds of processor time per turn."""
    seconds, turns = dict.fromkeys(players, 0.0), dict.fromkeys(players, 0)
    for first in range(seeds.start, seeds.stop, SLICE):
        for name, play in players.items():
            begun = time.process_time()
            turns[name] += sum(play(seed) for seed in range(first, min(first + SLICE, seeds.stop)))
            seconds[name] += time.process_time() - begun
    assert turns["LocalGame"] == turns["gmd, history read"], "the same seeds made other games"
    return {name: seconds[name] / turns[name] for name in players}


def _local(seed: int) -> int:
    rng = random.Random(seed)
    game = LocalGame(None, None)
    game.start()
    turns = 0
    while not game.is_over():
        squares, moves = game.sense_actions(), game.move_actions()
        game.sense(rng.choice(squares))
        game.move(rng.choice(moves))
        game.end_turn()
        turns += 1
    game.end()
    game.get_game_history()
    return turns


def _gmd(seed: int) -> int:
    return random_game(seed + ELSEWHERE).ply


class AtRandom(Player):
    """A player that senses and moves at random."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._rng.choice(sense_actions)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self._rng.choice(move_actions)


def _played_locally(seed: int) -> int:
    player = AtRandom(random.Random(seed + 2 * ELSEWHERE))
    return len(play_local(player, player, seconds=None).turns)


def _gmd_read(seed: int) -> int:
    """Play a game, and make both FENs and the sense result of every turn, as LocalGame does; return its turns."""
    game = random_game(seed)
    return len(list(game.history().replay()))


def random_game(seed: int) -> ReconGame:
    """Play a game by gmd's rules."""
    rng = random.Random(seed)
    game = ReconGame()
    while not game.is_over():
        squares, moves = game.sense_actions(), game.move_actions()
        game.sense(rng.choice(squares))
        game.move(rng.choice(moves))
    return game


def open_spiel(*, tensors: bool = False) -> Game | None:
    """Return OpenSpiel's player of a game, which returns its turns; None where OpenSpiel is not installed.

    :param tensors: whether it reads the observation tensor before each action.
    """
    try:
        import pyspiel
    except ImportError:
        return None
    rules: Any = pyspiel.load_game("rbc")

    def play(seed: int) -> int:
        rng = random.Random(seed)
        state = rules.new_initial_state()
        actions = 0
        while not state.is_terminal():
            if tensors:
                state.observation_tensor()
            state.apply_action(rng.choice(state.legal_actions()))
            actions += 1
        return (actions + 1) // 2

    return play
