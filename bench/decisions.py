"""What a move costs that recon-zero's search chooses, in positions that are known and in several that may be true.

A game of blind chess is lost by moves that were wrong in the true position: because the player's chess is weak, or
because it had to choose for several positions. The first table has the chess alone: positions as ``bench teacher`` has
them, and what each move gives away of the expected result, by Stockfish's own scores of all moves. The second has
positions that were possible in games of recon-zero against itself, and what the chosen request costs in the true one,
by the rules of :mod:`gm_bots.expectation.results`; the way in which ``expectation`` chooses is measured beside it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import chess
import numpy as np
from chess import Move

from bench.progress import steps
from bench.teacher import positions as positions_of_chess
from gm_arena.stockfish import stockfish
from gm_bots.expectation.choice import values_of, weights_of
from gm_bots.expectation.engine import Stockfish
from gm_bots.expectation.results import Judge as Results
from gm_bots.expectation.results import expected_result
from gm_env.actions import action_of
from gm_env.positions import read, written
from gm_recon import ReconBoard

if TYPE_CHECKING:
    from gm_bots.recon_zero.lockstep.forest import Forest
    from gm_bots.recon_zero.lockstep.judging import Judge
    from gm_bots.recon_zero.lockstep.seats import Examined

Rows = tuple[np.ndarray[tuple[int, int], np.dtype[np.uint64]], np.ndarray[tuple[int, int], np.dtype[np.int32]]]

#: Positions of each table, those that may be true of a decision at most, and the depth of the scores that count.
POSITIONS, POSSIBLE, TRUTH = 300, 16, 10
#: Positions where the best move's expected result is outside are decided.
OPEN = (0.05, 0.95)
#: The simulations of searches, and the positions that are searched at once.
SIMULATIONS, AT_ONCE = (50, 200), 25
#: The games from which the second table's positions are, half-moves of each, and simulations for a move there.
GAMES, PLIES, QUICK = 24, 80, 10
#: The exponents of ``expectation``'s ``plausible`` that are compared.
PLAUSIBLE = (0.0, 2.0, 6.0)
#: The depth at which expectation's way is measured, the share of the worst positions, and the chance of unseen attacks.
DEPTH, CAUTION, UNSEEN = 3, 0.15, 0.15


@dataclass(frozen=True)
class Decision:
    """A position, those that may be it, and what may be requested.

    :ivar rows: the positions that may be true, as :mod:`gm_env` writes them.
    :ivar results: the expected result of each request in the true one.
    """

    rows: Rows
    requests: Sequence[Move | None]
    results: Sequence[float]

    def cost(self, action: int) -> float:
        """Return what a request by its number costs; one that comes to nothing is a pass."""
        turn = bool(self.rows[1][0, 0])
        places = {action_of(move, turn): place for place, move in enumerate(self.requests)}
        return max(self.results) - self.results[places.get(action, len(self.requests) - 1)]


def measure() -> None:
    """Print both tables, or what is missing."""
    path = stockfish()
    if path is None or find_spec("torch") is None:
        print("decisions: needs Stockfish and PyTorch")
        return
    from gm_bots.recon_zero.checkpoint import load_judge
    from gm_bots.recon_zero.shipped import FILE

    judge, engine = load_judge(FILE), Stockfish(path)
    try:
        known = [*_known(engine)]
        print(f"a move's cost in expected result, {len(known)} known positions, by Stockfish at depth {TRUTH}")
        for depth in (1, 3, 6):
            _report(f"Stockfish, depth {depth}", [_engine_cost(engine, depth, each) for each in known])
        _of_searches(judge, known)
        possible = [*_possible(engine, judge)]
        sizes = [len(each.rows[0]) for each in possible]
        print(f"the same where several are possible, {np.median(sizes):.0f} in the median: {len(possible)} decisions")
        for plausible in PLAUSIBLE:
            costs = [each.cost(_expected(engine, plausible, each)) for each in steps(possible, "decisions")]
            _report(f"expectation at depth {DEPTH}, plausible={plausible:g}", costs)
        _of_searches(judge, possible)
    finally:
        engine.close()


def _report(name: str, costs: Sequence[float]) -> None:
    mean, error = np.mean(costs), 1.96 * np.std(costs) / len(costs) ** 0.5
    great = np.mean([cost > 0.3 for cost in costs])
    print(f"  {name:<44}{mean:8.3f} ± {error:.3f}{great:8.1%} cost more than 0.3", flush=True)


def _of_searches(judge: Judge, decisions: Sequence[Decision]) -> None:
    from gm_bots.recon_zero.lockstep.forest import Forest
    from gm_bots.recon_zero.player import Settings

    for simulations in SIMULATIONS:
        for unseen in (0.0, Settings().unseen):
            name = f"recon-zero, {simulations} simulations, unseen={unseen:g}"
            _report(name, _searched(Forest(judge, unseen=unseen), simulations, decisions))


def _searched(forest: Forest, simulations: int, decisions: Sequence[Decision]) -> list[float]:
    costs = []
    for start in range(0, len(decisions), AT_ONCE):
        some = decisions[start : start + AT_ONCE]
        states, numbers = (np.concatenate(part) for part in zip(*(each.rows for each in some), strict=True))
        forest.begin(states, numbers, np.array([len(each.rows[0]) for each in some]))
        forest.deepen(simulations)
        costs += [each.cost(int(action)) for each, action in zip(some, forest.found().best(), strict=True)]
    return costs


def _known(engine: Stockfish) -> Iterator[Decision]:
    """Yield positions of chess."""
    for board in steps(positions_of_chess(engine, random.Random("decisions"), POSITIONS), "decisions"):
        scores = engine.scores(board.fen(), TRUTH)
        moves = [*board.legal_moves]
        results = [expected_result(scores[move.uci()]) for move in moves]
        if not board.is_check() and OPEN[0] < max(results) < OPEN[1]:
            state, numbers = written(ReconBoard.of(board))
            yield Decision((state[None], numbers[None]), [*moves, None], [*results, 0.0])


def _engine_cost(engine: Stockfish, depth: int, decision: Decision) -> float:
    board = read(decision.rows[0][0], decision.rows[1][0])
    scores = engine.scores(board.fen(), depth)
    return decision.cost(action_of(Move.from_uci(max(scores, key=scores.__getitem__)), board.turn))


def _possible(engine: Stockfish, judge: Judge) -> Iterator[Decision]:
    """Yield what players of games knew when they moved."""
    drawn = _drawn(judge)
    random.Random("decisions").shuffle(drawn)
    results, found = Results(engine, TRUTH, UNSEEN), 0
    for examined, truth in drawn:
        requests: list[Move | None] = [*ReconBoard.of(truth).move_actions(), None]
        results.forget()
        results.begin(requests)
        expected = results.results(truth)
        if OPEN[0] < max(expected) < OPEN[1]:
            found += 1
            yield Decision((examined.states, examined.numbers), requests, expected)
        if found == POSITIONS:
            return


def _drawn(judge: Judge) -> list[tuple[Examined, chess.Board]]:
    """Return the positions that were drawn for moves in games, and the true ones, where there were several."""
    from gm_bots.recon_zero.lockstep.games import Games
    from gm_bots.recon_zero.lockstep.seats import Side
    from gm_bots.recon_zero.player import Settings

    drawn: list[tuple[Examined, chess.Board]] = []

    class Noted(Games):
        def _draw(self, game: int) -> Examined:
            found = super()._draw(game)
            truth = read(*(rows[game] for rows in self._batch.privileged_rows))
            if len(found.states) > 1 and not truth.was_into_check():
                drawn.append((found, truth))
            return found

    side = Side(judge, Settings(determinisations=POSSIBLE, simulations=QUICK, exploring=10))
    Noted([dict.fromkeys(chess.COLORS, side)] * GAMES, [f"decisions {game}" for game in range(GAMES)], PLIES).play()
    return drawn


def _expected(engine: Stockfish, plausible: float, decision: Decision) -> int:
    """Return the request that expectation would choose without a second search."""
    results = Results(engine, DEPTH, UNSEEN)
    results.begin(decision.requests)
    rows = [results.results(read(state, numbers)) for state, numbers in zip(*decision.rows, strict=True)]
    values = values_of(rows, weights_of(rows, plausible), CAUTION)
    best = max(range(len(values)), key=values.__getitem__)
    return action_of(decision.requests[best], bool(decision.rows[1][0, 0]))
