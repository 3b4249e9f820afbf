"""What moves of a finished game of blind chess were worth, by Stockfish: on the true board, and as a player knew it.

A move's value is its expected result, from 0 (lost) to 1 (won), between players who see the board from then on. Its
cost is what the best request would have had more. On a player's knowledge both are means over a sample of the positions
that were possible for it, alike by all that it had observed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Collection, Iterator, Sequence

import chess
from chess import Board, Color, Move, Piece, Square

from gm_arena.replay.analyse import LEAST_COST, SHARE, AnalysedTurn, Known, NoAnalysis, Value
from gm_arena.stockfish import NOT_FOUND, stockfish
from gm_recon import History, ReconBoard
from gm_recon.history import Turn, window_of
from gm_recon.possible import PossiblePositions

from .expectation.engine import Stockfishes
from .expectation.knowledge import backend, most_kept
from .expectation.results import Judge, Results
from .unseen import Unseen

#: The possible positions that are looked at, drawn at random. All moves are searched there to the first depth, in
#: plies; the best of them to the second, to which the true board is searched.
SAMPLE, FIRST_DEPTH, DEPTH = 30, 4, 8
#: How many of the best moves these are.
CANDIDATES = 4
#: The assumed probability that an attack on a king is overlooked: both players see the board.
UNSEEN = Unseen(0.0)
#: Draws the samples.
SEED = 1


def analyse(history: History, colors: Collection[Color]) -> Iterator[AnalysedTurn]:
    """Yield the turns of some players, judged, in the order of the game.

    :raises NoAnalysis: Stockfish is not installed.
    :raises BotFailed: Stockfish does not start, or has ended.
    """
    path = stockfish()
    if path is None:
        raise NoAnalysis(f"the analysis asks {NOT_FOUND}")
    engine = Stockfishes(path, os.cpu_count() or 1)
    try:
        yield from _analysed(history, colors, engine)
    finally:
        engine.close()


def _analysed(history: History, colors: Collection[Color], engine: Stockfishes) -> Iterator[AnalysedTurn]:
    board, rng = ReconBoard(history.start_fen), random.Random(SEED)
    start, most = board.fen(), most_kept(None)
    players = {color: PossiblePositions(color, start, cap=most, rng=rng, backend=backend()) for color in colors}
    last = len(history.turns) - 1
    for number, turn in enumerate(history.turns):
        color, goes_on = board.turn, number < last
        if color in players:
            yield _judged(number, board.copy(), turn, players[color], engine)
            if goes_on:
                players[color].player_moved(turn.requested, turn.taken, turn.capture_square)
        board.push(turn.taken, turn.capture_square)
        if goes_on and (other := players.get(not color)) is not None:
            other.opponent_moved(turn.capture_square)


def _judged(
    place: int, board: ReconBoard, turn: Turn, positions: PossiblePositions, engine: Stockfishes
) -> AnalysedTurn:
    """Judge a turn, and take its sense into account."""
    before = _number(positions)
    window = window_of(board, turn.sense)
    positions.saw(window)
    requests = [*board.move_actions(), None]
    made = requests.index(None if turn.requested is None else board.promoting(turn.requested))
    truth = board.as_chess()
    judge = Judge(engine, DEPTH, UNSEEN)
    judge.begin(requests)
    row = judge.results(truth)
    # Of requests that are equally good, the best one is made as requested.
    best = max(range(len(row)), key=lambda each: (row[each], _is_made(board, requests[each])))
    value, known = Value(row[made], row[best], requests[best]), None
    is_followed = positions.complete or len(positions) >= SAMPLE  # few of a sample may all be wrong
    if len(positions) == 1 and is_followed:
        known = Known(value, value.best, 1.0)
    elif is_followed:
        known = _known(positions, truth, requests, made, best, value.cost, engine)
    certain = _certain(positions) if value.cost >= LEAST_COST and is_followed else {}
    return AnalysedTurn(place, board, turn, window, before, _number(positions), certain, value, known)


def _known(
    positions: PossiblePositions,
    truth: Board,
    requests: Sequence[Move | None],
    made: int,
    best: int,
    cost: float,
    engine: Stockfishes,
) -> Known:
    """Return what a move was worth as its player knew the board.

    :param made: the place of the move among the requests; ``best`` is that of the best one on the true board.
    :param cost: the move's cost on the true board.
    """
    boards = positions.sample(SAMPLE)
    for each in boards:
        each.halfmove_clock = truth.halfmove_clock  # the opponent's part of it is not known
    judge = Judge(engine, FIRST_DEPTH, UNSEEN)
    judge.begin(requests)
    means = _means(engine.map(judge.results, boards))
    ranked = sorted(range(len(means)), key=means.__getitem__, reverse=True)
    places = list(dict.fromkeys([made, best, *ranked[:CANDIDATES]]))
    rows = engine.map(lambda each: judge.refined(each, places, DEPTH), boards)
    means = _means(rows)
    top = means.index(max(means))
    alike = sum(max(each) - each[0] >= cost * SHARE for each in rows)
    return Known(Value(means[0], means[top], requests[places[top]]), means[places.index(best)], alike / len(rows))


def _is_made(board: ReconBoard, request: Move | None) -> bool:
    return request is not None and board.revise(request)[0] == request


def _means(rows: Sequence[Results]) -> Results:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _certain(positions: PossiblePositions) -> dict[Square, Piece | None]:
    """Return the squares of which all possible positions have the same piece, or none, with that piece."""
    found = ((square, positions.pieces_at(square)) for square in chess.SQUARES)
    return {square: next(iter(pieces)) for square, pieces in found if len(pieces) == 1}


def _number(positions: PossiblePositions) -> int | None:
    return len(positions) if positions.complete else None
