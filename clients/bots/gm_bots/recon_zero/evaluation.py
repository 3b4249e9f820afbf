"""The evaluation of a position for the search: the probability of each move, and the value of the position.

A network may provide it (:mod:`.network`), or this module, which has learnt nothing: material and squares as the engine
``minimax`` evaluates them, and captures first. It lets the bot play without a checkpoint, and a network must beat it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import chess
from chess import Move

from gm_bots.minimax.evaluation import MATERIAL, evaluate
from gm_recon import ReconBoard

#: The moves' probabilities, in order, and the value to the side to move: 1 is won, -1 lost.
Judgement = tuple[Sequence[float], float]

#: The hundredths of a pawn that are worth three quarters of a game, which is about a tanh of 1. In blind chess that is
#: six times as many as in chess, since kings fall to unseen attacks. Of the numbers tried, from 200 to 8,000, this one
#: predicted best how 360 games ended between players that evaluate with this module.
SCALE = 2400.0
#: What a capture adds to the logarithm of a move's probability, for each hundredth of a pawn.
EAGERNESS = 1 / 300
#: What a promotion adds to it.
PROMOTION = 2.0


class Evaluator(Protocol):
    """A function that evaluates positions, several at a time, which is faster for a network."""

    def __call__(self, positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
        """Evaluate positions.

        :param positions: each with the moves of the side to move that are to be compared.
        """
        ...


def count_material(positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
    """Evaluate positions by material, without anything learnt."""
    return [(_priors(board, moves), _value(board)) for board, moves in positions]


def _value(board: ReconBoard) -> float:
    score = evaluate(board.as_chess())
    return math.tanh((score if board.turn else -score) / SCALE)


def _priors(board: ReconBoard, moves: Sequence[Move | None]) -> list[float]:
    weights = [math.exp(_eagerness(board, move)) for move in moves]
    total = sum(weights)
    return [weight / total for weight in weights]


def _eagerness(board: ReconBoard, move: Move | None) -> float:
    if move is None:
        return -1.0
    taken, moving = board.piece_at(move.to_square), board.piece_at(move.from_square)
    eagerness = PROMOTION if move.promotion == chess.QUEEN else 0.0
    if taken is not None and moving is not None and taken.color != board.turn:
        eagerness += (MATERIAL[taken.piece_type] - MATERIAL[moving.piece_type] / 10) * EAGERNESS
    return eagerness
