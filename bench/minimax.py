"""The minimax engine with all its features, and without each: nodes a second, nodes for a depth, depth in a second.

Without one of the first six a search of a depth comes to the same score by more nodes. Without quiescence or the check
extension it sees less: its nodes are those of another search, and are no measure of a gain.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import fields, replace
from statistics import median

import chess

from gm_bots.minimax.engine import Limit, Options, Result, search
from gm_bots.minimax.features import ALL, Features

from .games import OPENINGS
from .progress import steps

#: Half-moves of the searches whose nodes are counted: plain minimax, at one less, takes minutes even so.
DEPTH = 4

#: Seconds of the searches whose depth is looked at.
SECONDS = 1.0

#: Of the openings, and of the positions that they lead to, one in so many half-moves.
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
    """Print a line for each way to search."""
    _start_position()
    boards = _positions()
    print(f"{len(boards)} positions, medians; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'':28}{f'nodes, depth {DEPTH}':>16}{'ratio':>8}{'nodes/s':>10}{f'depth in {SECONDS:g} s':>14}")
    base: list[int] = []
    for name, features in _ways():
        options = Options(features=features)
        timed = [search(board, Limit(seconds=SECONDS), options) for board in steps(boards, name)]
        # Plain minimax would take minutes for each; what it needs for a ply less is beside the point.
        counted = [] if not features.alpha_beta else [search(board, Limit(depth=DEPTH), options) for board in boards]
        base = base or [result.nodes for result in counted]
        print(_line(name, timed, counted, base), flush=True)


def _line(name: str, timed: list[Result], counted: list[Result], base: list[int]) -> str:
    speed = median(result.nodes / result.seconds for result in timed)
    depth = sum(result.depth for result in timed) / len(timed)
    if not counted:
        return f"{name:28}{'':>16}{'':>8}{speed:>10,.0f}{depth:>14.1f}"
    ratio = math.exp(sum(math.log(r.nodes / b) for r, b in zip(counted, base, strict=True)) / len(base))
    nodes = median(result.nodes for result in counted)
    return f"{name:28}{nodes:>16,.0f}{ratio:>8.2f}{speed:>10,.0f}{depth:>14.1f}"


def _start_position() -> None:
    """Print how long the first depths take from the start position: the fastest of five."""
    for depth in (2, 3, 4, 5):
        best = min((search(chess.Board(), Limit(depth=depth)) for _ in range(5)), key=lambda result: result.seconds)
        print(f"start position, depth {depth}: {best.seconds * 1000:,.1f} ms, {best.nodes:,} nodes")
