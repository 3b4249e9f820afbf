"""A tabular bandit that learns where and when to look for an attack.

Black is ``Attacker``, which runs for the king by one of six openings. White takes an opponent's piece that it has just
seen, the most valuable first, and else does not move: all that it learns is what to sense. The table has for each of
White's turns and each of 36 squares how often the game was not lost after sensing it, and the bandit prefers the best
so far, by an upper confidence bound (UCB1). ``python sensing_bandit.py`` writes ``sensing-bandit.csv``, a line for each
fifty games, and draws ``sensing-bandit.svg``. It needs gm_env and matplotlib.
"""

import argparse
import csv
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

from gm_env import FROM_TO_BY_PLANES, INNER_SQUARES, PASS
from gm_env.policies import Attacker
from gm_env.turns import FIRST_SENSE

TURNS, BOLD, EVERY = 8, 0.3, 50
SOURCES, TARGETS = np.divmod(FROM_TO_BY_PLANES[0, :PASS] // 5 % 4096, 64)
STRAIGHT = SOURCES % 8 == TARGETS % 8


class Bandit:
    """The table: ``kept`` and ``tried`` are (turns, squares)."""

    def __init__(self, seed):
        self.kept, self.tried, self.rng = np.zeros((TURNS, 36)), np.zeros((TURNS, 36)), np.random.default_rng(seed)

    def choose(self, turns):
        tried = np.maximum(self.tried[turns], 1e-3)
        bonus = BOLD * np.sqrt(np.log(1 + tried.sum(1, keepdims=True)) / tried)
        return (self.kept[turns] / tried + bonus + 1e-6 * self.rng.random(tried.shape)).argmax(1)

    def learn(self, squares, kept):
        turns = np.flatnonzero(squares >= 0)
        self.tried[turns, squares[turns]] += 1
        self.kept[turns, squares[turns]] += kept


def take(observed, masks):
    """Return the capture of the most valuable piece in sight for each game, and else no move."""
    planes = observed.reshape(len(observed), -1, 64).astype(np.int64)
    worth = (planes[:, 6:12] * np.arange(1, 7)[:, None]).sum(1)[:, TARGETS] * masks[:, :PASS]
    worth[(planes[:, 0, SOURCES] == 1) & STRAIGHT] = 0  # a pawn takes nothing that stands before it
    return np.where(worth.any(1), worth.argmax(1), PASS)


def play(games, seed, learns=True):
    """Yield after each game whether it was kept, and the bandit."""
    options = {"opponent": Attacker(), "seat": "white", "max_turns": TURNS}
    envs = gymnasium.make_vec("gm_env.gymnasium:gmd/RBC-v0", num_envs=32, **options)
    observed, info = envs.reset(seed=seed)
    bandit, chosen, played = Bandit(seed), np.full((32, TURNS), -1), 0
    while played < games:
        actions, sensing = take(observed, info["action_mask"]), np.flatnonzero(info["action_mask"][:, FIRST_SENSE])
        turns = observed[sensing, 23, 0, 0].astype(int)
        squares = bandit.choose(turns) if learns else bandit.rng.integers(36, size=len(turns))
        chosen[sensing, turns] = squares
        actions[sensing] = FIRST_SENSE + INNER_SQUARES[squares]
        observed, rewards, over, _, info = envs.step(actions)
        for game in np.flatnonzero(over)[: games - played]:
            bandit.learn(chosen[game], rewards[game] >= 0)
            chosen[game], played = -1, played + 1
            yield rewards[game] >= 0, bandit


def draw(shares, chance, bandit, path):
    plt.rcParams["svg.hashsalt"] = "gmd"  # the same plot is the same file
    figure, (curve, board) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(5, 4))
    curve.plot(EVERY * np.arange(1, len(shares) + 1), 100 * np.array(shares), label="by the bandit")
    curve.axhline(100 * chance, color="grey", linestyle="--", label="at random")
    curve.set(xlabel="games", ylabel=f"games not lost, % of {EVERY}", ylim=(0, 101))
    curve.legend()
    squares = board.pcolormesh(bandit.tried[3].reshape(6, 6) / bandit.tried[3].sum(), cmap="Blues")
    board.set_xticks(np.arange(6) + 0.5, "bcdefg")
    board.set_yticks(np.arange(6) + 0.5, "234567")
    board.set(title="What it senses in its fourth turn", aspect="equal")
    figure.colorbar(squares, label="share of the senses")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(), help="the folder of the table and the plot")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    chance = np.mean([kept for kept, _ in play(given.games // 4, given.seed, learns=False)])
    results, tables = zip(*play(given.games, given.seed), strict=True)
    shares = [np.mean(results[at : at + EVERY]) for at in range(0, len(results), EVERY)]
    with open(given.out / "sensing-bandit.csv", "w", newline="") as file:
        csv.writer(file).writerows([("games", "kept"), *((EVERY * n, share) for n, share in enumerate(shares, 1))])
    draw(shares, chance, tables[-1], given.out / "sensing-bandit.svg")
    print(f"not lost: {chance:.0%} at random, {np.mean(shares[-5:]):.0%} in the last {5 * EVERY} games")
