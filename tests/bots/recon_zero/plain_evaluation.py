"""The evaluation of positions in plain Python, one after the other: what the compiled one must find, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import chess
import numpy as np
from chess import Move

from gm_bots.minimax.evaluation import MATERIAL, evaluate
from gm_bots.recon_zero.lockstep.encoding import with_attacks
from gm_bots.recon_zero.lockstep.judging import EAGERNESS, PROMOTION, SCALE
from gm_recon import ReconBoard
from tests.bots.recon_zero.plain_encoding import encode, number_of

if TYPE_CHECKING:
    from gm_bots.recon_zero.network import Network

#: The moves' probabilities, in order, and the value to the side to move: 1 is won, -1 lost.
Judgement = tuple[Sequence[float], float]


class Evaluator(Protocol):
    """A function that evaluates positions, each with the moves of the side to move that are to be compared."""

    def __call__(self, positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]: ...


def plain_material(positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
    """Evaluate positions by material."""
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


def plain_network(network: Network) -> Evaluator:
    """Return the evaluation by a network."""
    import torch

    network.eval()

    def judge(positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
        planes = np.stack([encode(board.as_chess()) for board, _ in positions])
        with torch.inference_mode():
            logits, values = network(torch.from_numpy(with_attacks(planes)))
        judged = zip(positions, logits.numpy(), values.tolist(), strict=True)
        return [(_softmax(each, board, moves), value) for (board, moves), each, value in judged]

    return judge


def _softmax(
    logits: np.ndarray[tuple[int, ...], np.dtype[np.float32]], board: ReconBoard, moves: Sequence[Move | None]
) -> list[float]:
    """Return the probabilities of some moves, normalised among themselves."""
    chosen = logits[[number_of(move, board.turn) for move in moves]].astype(np.float64)
    powers = np.exp(chosen - chosen.max())
    probabilities: list[float] = (powers / powers.sum()).tolist()
    return probabilities
