"""The minimax engine with all features, and without each: nodes a second, nodes for a depth, depth in a second.

Without one of the first six features, a search to a depth finds the same score with more nodes. Without quiescence or
the check extension it sees less: its nodes are those of another search, and do not measure a gain.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from statistics import median

import chess

from gm_bots.minimax.engine import Limit, Options, search
from gm_bots.minimax.features import ALL, Features

from .games import OPENINGS
from .progress import steps

#: Depth in half-moves of the searches whose nodes are counted; plain minimax takes minutes even at one less.
DEPTH = 4

#: Seconds of the searches whose depth is measured.
SECONDS = 1.0

#: Nodes of the searches that are timed.
SAMPLE = 40_000

#: The half-moves of the openings that are played to reach the positions, in turn.
PLIES = (8, 16)


def _positions() -> list[chess.Board]:
    boards = []
    for line, plies in zip(OPENINGS, PLIES * len(OPENINGS), strict=False):
        board = chess.Board()
        for san in line.split()[:plies]:
            board.push_san(san)
        boards.append(board)
    return boards


def _ways() -> Iterator[tuple[str, Features]]:
    yield "all features", ALL
    for feature in fields(Features):
        yield f"without {feature.name.replace('_', ' ')}", replace(ALL, **{feature.name: False})


def measure() -> None:
    """Print a line for each way to search. All search each position in turn, so that the load is the same."""
    _start_position()
    boards, ways = _positions(), dict(_ways())
    runs: dict[str, list[Run]] = {name: [] for name in ways}
    for board in steps(boards, "positions"):
        for name, features in ways.items():
            runs[name].append(_run(board, Options(features=features)))
    print(f"{len(boards)} positions, medians; seconds are the processor's; load {os.getloadavg()[0]:.1f}")
    print(f"{'':28}{f'nodes, depth {DEPTH}':>16}{'ratio':>8}{'nodes/s':>10}{f'depth in {SECONDS:g} s':>14}")
    for name, found in runs.items():
        print(_line(name, found, runs["all features"]))


@dataclass(frozen=True)
class Run:
    """The search of one position in one way.

    :ivar nodes: nodes of the search to a depth; None for plain minimax, which would take minutes per position.
    :ivar speed: nodes a second.
    :ivar depth: the depth reached with the nodes of one second.
    """

    nodes: int | None
    speed: float
    depth: int


def _run(board: chess.Board, options: Options) -> Run:
    began = time.process_time()
    nodes = search(board, Limit(nodes=SAMPLE), options).nodes
    speed = nodes / (time.process_time() - began)
    depth = search(board, Limit(nodes=round(speed * SECONDS)), options).depth
    counted = search(board, Limit(depth=DEPTH), options).nodes if options.features.alpha_beta else None
    return Run(counted, speed, depth)


def _line(name: str, runs: list[Run], base: list[Run]) -> str:
    speed, depth = median(run.speed for run in runs), sum(run.depth for run in runs) / len(runs)
    counts = [run.nodes for run in runs if run.nodes is not None]
    if not counts:
        return f"{name:28}{'':>16}{'':>8}{speed:>10,.0f}{depth:>14.1f}"
    ratios = [
        math.log(run.nodes / other.nodes) for run, other in zip(runs, base, strict=True) if run.nodes and other.nodes
    ]
    ratio = math.exp(sum(ratios) / len(ratios))
    return f"{name:28}{median(counts):>16,.0f}{ratio:>8.2f}{speed:>10,.0f}{depth:>14.1f}"


def _start_position() -> None:
    """Print the times of the first depths from the start position: the fastest of five searches."""
    for depth in (2, 3, 4, 5):
        best = min((search(chess.Board(), Limit(depth=depth)) for _ in range(5)), key=lambda result: result.seconds)
        print(f"start position, depth {depth}: {best.seconds * 1000:,.1f} ms, {best.nodes:,} nodes")
