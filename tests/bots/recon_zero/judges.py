"""Evaluators of positions as evaluators of nodes."""

from __future__ import annotations

import chess
import numpy as np

from gm_bots.recon_zero.lockstep.judging import Judge, Values
from gm_bots.recon_zero.lockstep.trees import Indexes, Trees
from gm_env.actions import move_of
from gm_env.positions import read
from gm_recon import ReconBoard
from tests.bots.recon_zero.plain_evaluation import Evaluator


def judge_by(evaluator: Evaluator) -> Judge:
    """Return an evaluator of nodes that asks one of positions, with the moves in the order of their names."""

    def judge(trees: Trees, nodes: Indexes) -> Values:
        asked, edges = [], []
        for node in nodes:
            board = ReconBoard.of(read(trees.states[node], trees.numbers[node]))
            own = np.arange(trees.first[node], trees.first[node] + trees.edges[node])
            pawns = int(board.as_chess().pieces(chess.PAWN, board.turn))
            moves = [move_of(int(action), board.turn, pawns) for action in trees.action[own]]
            order = sorted(range(len(moves)), key=lambda each: str(moves[each]))
            asked.append((board, [moves[each] for each in order]))
            edges.append(own[order])
        judged = evaluator(asked) if asked else []
        for own, (priors, _) in zip(edges, judged, strict=True):
            trees.prior[own] = priors
        return np.array([value for _, value in judged])

    return judge
