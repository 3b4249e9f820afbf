"""The evaluator of many positions that belongs to an evaluator of some."""

from __future__ import annotations

from .. import evaluation
from ..evaluation import Evaluator
from .judging import Judge, Precision, count_material


def judge_for(evaluator: Evaluator, precision: Precision) -> Judge:
    """Return the evaluator of many positions that evaluates each as another one does.

    :param precision: the numbers that a network computes with: see :class:`.network_judge.NetworkJudge`.
    :raises TypeError: it is neither by material nor a network's.
    """
    if evaluator is evaluation.count_material:
        return count_material
    from ..network import NetworkEvaluator  # imported here: who plays by piece values needs no PyTorch
    from .network_judge import NetworkJudge

    if isinstance(evaluator, NetworkEvaluator):
        return NetworkJudge(evaluator.network, precision)
    raise TypeError(f"evaluator: {evaluator!r}: games in step are played by material or by a network")
