"""The tracker of possible positions in blind chess: in Python, compiled, and a simple one on python-chess's boards.

All follow the same games, between players who move at random and sense by ``Tracker.best_sense``. The measure is
processor time per position: of those before the step, or of those after the opponent's move. Ratios are medians over
the games. "By hand" is what a bot's author writes first: a set of boards, all moves of each, and a filter by the
results. "Compiled" is ``Tracker(backend=gm_env.CompiledPositions)``; without numba it is left out.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from statistics import median

import chess
from chess import Board, Move, Square

from gm_client.rbc import simulate_move, simulate_sense
from gm_client.tracker import Tracker
from gm_recon import Cell, ReconGame
from gm_recon.position_sets import PositionSet, PythonPositions
from gm_recon.possible import SAMPLE

#: Plies of a game; and the number of positions above which a game is abandoned, because by hand it would take minutes.
PLIES = 60
MOST = 3_000
#: A cap of positions that is reached without sensing; with the default cap the whole set would take gigabytes.
CROWD = 50_000
#: Positions at the beginning of the turns that are measured one by one, and how often each is.
SIZES, ROUNDS = (1, 10, 100, 1_000, 10_000), 7

OPPONENT, SENSE, PLAYER, CHOICE = "the opponent's move", "a sense", "the player's move", "choosing a sense"


class ByHand:
    """A simple tracker: boards by their FENs."""

    def __init__(self) -> None:
        self._boards = {Board().fen(en_passant="fen"): Board()}

    def opponent_moved(self, capture: Square | None) -> None:
        self._keep(
            (board, move)
            for board in self._boards.values()
            for move in [chess.Move.null(), *board.pseudo_legal_moves]
            if _captures_on(board, move) == capture
        )

    def saw(self, square: Square, cells: list[Cell]) -> None:
        self._boards = {fen: board for fen, board in self._boards.items() if simulate_sense(board, square) == cells}

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        fitting = (board for board in self._boards.values() if simulate_move(board, requested) == (taken, capture))
        self._keep((board, taken or Move.null()) for board in fitting)

    def _keep(self, moves: Iterable[tuple[Board, Move]]) -> None:
        found: dict[str, Board] = {}
        for board, move in moves:
            successor = board.copy(stack=False)
            successor.push(move)
            successor.halfmove_clock = 0
            if chess.popcount(successor.kings) == 2:
                found[successor.fen(en_passant="fen")] = successor
        self._boards = found


def _captures_on(board: Board, move: Move) -> Square | None:
    if not move or not board.is_capture(move):
        return None
    if board.is_en_passant(move):
        return chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
    return move.to_square


class Meter:
    """A meter that adds up the costs of steps."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.positions: dict[str, int] = defaultdict(int)

    def run(self, step: str, positions: int, action: Callable[[], object]) -> None:
        """Run a step, and add its processor time.

        :param positions: the number of positions, by which the cost is divided.
        """
        self.seconds[step] += _seconds(action)
        self.positions[step] += positions

    def microseconds(self, step: str) -> float:
        """Return the microseconds per position of a step."""
        return self.seconds[step] / max(1, self.positions[step]) * 1e6


def _seconds(action: Callable[[], object]) -> float:
    """Return the processor time of an action."""
    begun = time.process_time()
    action()
    return time.process_time() - begun


def measure(games: int) -> None:
    """Print the cost of each step, and the number of positions."""
    backends = _backends()
    rivals = [*backends, "by hand"]
    _play(-1, backends)
    played = [_play(seed, backends) for seed in range(games)]
    print(f"{'microseconds a position':24}" + "".join(f"{name:>10}" for name in rivals), end="")
    print("".join(f"{'Python/' + name:>18}" for name in rivals[1:]))
    for step in (OPPONENT, SENSE, PLAYER, CHOICE):
        meters = [game for game, _ in played if game["Python"].positions[step]]
        names = [name for name in rivals if meters[0][name].positions[step]]
        print(f"{step:24}" + "".join(f"{_middle(meters, name, step):>10.2f}" for name in names), end="")
        ratios = [
            median(game["Python"].microseconds(step) / game[name].microseconds(step) for game in meters)
            for name in names
        ]
        print("".join(f"{ratio:>18.3g}" for ratio in ratios[1:]))
    sizes = [size for _, game in played for size in game]
    before, after = [size for size, _ in sizes], [size for _, size in sizes]
    print(f"positions before a sense: median {median(before):.0f}, most {max(before)}", end="; ")
    print(f"after it: median {median(after):.0f}, most {max(after)}; in {len(sizes)} turns")
    crowd = _crowd()
    _by_size(crowd, backends)
    _at_the_cap(crowd, backends)


def _backends() -> dict[str, type[PositionSet]]:
    found: dict[str, type[PositionSet]] = {"Python": PythonPositions}
    try:
        from gm_env import CompiledPositions
    except ImportError as error:
        print(f"{error}: pip install -e '.[env]'")
    else:
        found["compiled"] = CompiledPositions
    return found


def _middle(meters: list[dict[str, Meter]], name: str, step: str) -> float:
    return median(game[name].microseconds(step) for game in meters)


def _play(seed: int, backends: dict[str, type[PositionSet]]) -> tuple[dict[str, Meter], list[tuple[int, int]]]:
    """Play a game until it is over or has too many positions by hand.

    :returns: what each tracker costs; the positions before and after each sense.
    """
    rng, game = random.Random(seed), ReconGame()
    meters, sizes = {name: Meter() for name in [*backends, "by hand"]}, list[tuple[int, int]]()
    trackers = {
        color: {
            name: Tracker(color, cap=1_000_000, rng=random.Random(seed), backend=each)
            for name, each in backends.items()
        }
        for color in chess.COLORS
    }
    hands = {color: ByHand() for color in chess.COLORS}
    while not game.is_over() and game.ply < PLIES:
        mine, hand = trackers[game.turn], hands[game.turn]
        if game.ply:
            for name, tracker in mine.items():
                meters[name].run(OPPONENT, 0, partial(tracker.opponent_moved, game.opponent_capture))
                meters[name].positions[OPPONENT] += len(tracker)
            if len(mine["Python"]) > MOST:
                break
            meters["by hand"].run(OPPONENT, len(mine["Python"]), partial(hand.opponent_moved, game.opponent_capture))
        before = len(mine["Python"])
        for name, tracker in mine.items():
            meters[name].run(CHOICE, min(before, SAMPLE), tracker.best_sense)
        square = mine["Python"].best_sense()
        cells = game.sense(square)
        for name, tracker in mine.items():
            meters[name].run(SENSE, before, partial(tracker.saw, cells))
        meters["by hand"].run(SENSE, before, partial(hand.saw, square, cells))
        left, decision = len(mine["Python"]), game.move(rng.choice([None, *game.move_actions()]))
        sizes.append((before, left))
        if not game.is_over():
            for name, tracker in mine.items():
                meters[name].run(PLAYER, left, partial(tracker.player_moved, *decision))
            meters["by hand"].run(PLAYER, left, partial(hand.player_moved, *decision))
    return meters, sizes


def _crowd() -> list[int]:
    """Return positions that are possible for Black, who has not sensed for a long time and is to wait for White."""
    tracker = Tracker(chess.BLACK, cap=CROWD, rng=random.Random(1), backend=list(_backends().values())[-1])
    while tracker.complete or len(tracker) < CROWD:
        tracker.opponent_moved(None)
        tracker.player_moved(None, None, None)
    return sorted(tracker._positions)


def _tracker(positions: list[int], backend: type[PositionSet], cap: int = 100 * CROWD) -> Tracker:
    """Return a tracker with these positions."""
    tracker = Tracker(chess.BLACK, cap=cap, rng=random.Random(1), backend=backend)
    tracker._positions = backend.gathered(chess.WHITE, positions)
    return tracker


def _by_size(crowd: list[int], backends: dict[str, type[PositionSet]]) -> None:
    """Print the cost of whole turns by the number of positions that they begin with."""
    print(f"{'a turn from positions':24}" + "".join(f"{name + ', us':>14}" for name in backends) + f"{'ratio':>8}")
    for size in SIZES:
        costs: dict[str, list[float]] = {name: [] for name in backends}
        for seed in range(ROUNDS):
            some = random.Random(seed).sample(crowd, size)
            for name, backend in backends.items():
                costs[name].append(1e6 * _seconds(partial(_take_turn, _tracker(some, backend))))
        line = "".join(f"{median(each):>14,.0f}" for each in costs.values())
        ratio = median(first / last for first, last in zip(costs["Python"], list(costs.values())[-1], strict=True))
        print(f"{size:<24,}{line}{ratio:>8.1f}")


def _take_turn(tracker: Tracker) -> None:
    tracker.opponent_moved(None)
    truth = tracker.sample(1)[0]
    tracker.saw([(square, truth.piece_at(square)) for square in chess.SquareSet(chess.BB_KING_ATTACKS[chess.E4])])
    tracker.player_moved(None, None, None)


def _at_the_cap(crowd: list[int], backends: dict[str, type[PositionSet]]) -> None:
    """Print the cost of one more move of the opponent after a long time without sensing."""
    for name, backend in backends.items():
        whole = _tracker(crowd, backend)
        seconds = _seconds(partial(whole.opponent_moved, None))
        capped = _seconds(partial(_tracker(crowd, backend, CROWD).opponent_moved, None))
        print(f"{name}: {CROWD:,} positions become {len(whole):,}", end=", ")
        print(f"{seconds / len(whole) * 1e6:.2f} us each; {capped:.2f} s under a cap of {CROWD:,}", end="; ")
        print("{} bytes a position, {} at most while they are generated".format(*_memory(crowd[::10], backend)))


def _memory(positions: list[int], backend: type[PositionSet]) -> tuple[int, int]:
    """Return the bytes for each position after a move of the opponent's, and the most meanwhile."""
    tracker = _tracker(positions, backend)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracker.opponent_moved(None)
    after, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) // len(tracker), (most - before) // len(tracker)
