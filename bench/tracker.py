"""The tracker of possible positions in blind chess, compared with a simple one on python-chess's boards ("by hand").

Both follow the same games, between players who move at random and sense by ``Tracker.best_sense``. The measure is
processor time per position: of those before the step, or of those after the opponent's move. "By hand" is what a bot's
author writes first: a set of boards, all moves of each, and a filter by the results.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from statistics import median

import chess
from chess import Board, Move, Square

from gm_client.rbc import simulate_move, simulate_sense
from gm_client.tracker import Tracker
from gm_recon import Cell, ReconGame

#: Plies of a game; and the number of positions above which a game is abandoned, because by hand it would take minutes.
PLIES = 60
MOST = 3_000

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

    def run(self, step: str, positions: int | None, action: Callable[[], object]) -> None:
        """Run a step, and add its processor time.

        :param positions: the number of positions, by which the cost is divided; None to add it later.
        """
        begun = time.process_time()
        action()
        self.seconds[step] += time.process_time() - begun
        self.positions[step] += positions or 0

    def microseconds(self, step: str) -> float:
        """Return the microseconds per position of a step."""
        return self.seconds[step] / max(1, self.positions[step]) * 1e6


def measure(games: int) -> None:
    """Print the cost of each step, and the number of positions."""
    tracked, by_hand = Meter(), Meter()
    sizes: list[tuple[int, int]] = []
    for seed in range(games):
        sizes += _play(seed, tracked, by_hand)
    print(f"{'microseconds a position':28}{'tracker':>10}{'by hand':>10}{'ratio':>8}")
    for step in (OPPONENT, SENSE, PLAYER):
        ours, theirs = tracked.microseconds(step), by_hand.microseconds(step)
        print(f"{step:28}{ours:>10.2f}{theirs:>10.1f}{theirs / ours:>8.0f}")
    _at_the_cap()
    before, after = [size for size, _ in sizes], [size for _, size in sizes]
    print(f"choosing a sense: {tracked.seconds[CHOICE] / len(sizes) * 1e3:.0f} ms")
    print(f"positions before a sense: median {median(before):.0f}, most {max(before)}", end="; ")
    print(f"after it: median {median(after):.0f}, most {max(after)}; in {len(sizes)} turns")


#: A cap of positions that is reached without sensing; with the default cap the whole set would take gigabytes.
CROWD = 50_000


def _at_the_cap() -> None:
    """Print the cost of one more move of the opponent after a long time without sensing."""
    tracker = Tracker(chess.BLACK, cap=CROWD, rng=random.Random(1))
    while tracker.complete or len(tracker) < CROWD:
        tracker.opponent_moved(None)
        tracker.player_moved(None, None, None)
    whole = Tracker(chess.BLACK, cap=100 * CROWD)
    whole._positions = set(tracker._positions)
    meter = Meter()
    meter.run(OPPONENT, None, partial(whole.opponent_moved, None))
    meter.positions[OPPONENT] = len(whole)
    capped = Meter()
    capped.run(OPPONENT, None, partial(tracker.opponent_moved, None))
    print(f"{CROWD:,} positions: the opponent's move makes {len(whole):,} of them", end=", ")
    print(f"{meter.microseconds(OPPONENT):.2f} us each; {capped.seconds[OPPONENT]:.2f} s under a cap of {CROWD:,}")


def _play(seed: int, tracked: Meter, by_hand: Meter) -> Iterator[tuple[int, int]]:
    """Play a game until it is over or has too many positions by hand; yield the positions before and after a sense."""
    rng = random.Random(seed)
    game = ReconGame()
    trackers = {color: Tracker(color, cap=1_000_000, rng=rng) for color in chess.COLORS}
    hands = {color: ByHand() for color in chess.COLORS}
    while not game.is_over() and game.ply < PLIES:
        tracker, hand = trackers[game.turn], hands[game.turn]
        if game.ply:
            tracked.run(OPPONENT, None, partial(tracker.opponent_moved, game.opponent_capture))
            tracked.positions[OPPONENT] += len(tracker)
            if len(tracker) > MOST:
                return
            by_hand.run(OPPONENT, len(tracker), partial(hand.opponent_moved, game.opponent_capture))
        before = len(tracker)
        tracked.run(CHOICE, None, tracker.best_sense)
        square = tracker.best_sense()
        cells = game.sense(square)
        tracked.run(SENSE, before, partial(tracker.saw, cells))
        by_hand.run(SENSE, before, partial(hand.saw, square, cells))
        yield before, len(tracker)
        left, decision = len(tracker), game.move(rng.choice([None, *game.move_actions()]))
        if not game.is_over():
            tracked.run(PLAYER, left, partial(tracker.player_moved, *decision))
            by_hand.run(PLAYER, left, partial(hand.player_moved, *decision))
