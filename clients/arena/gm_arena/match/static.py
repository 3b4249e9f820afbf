"""Static values of the positions of a game, without looking ahead: a score of every move, whoever made it.

An evaluation is an entry point of the group ``gmd.evaluations``: a function that takes a ``chess.Board`` and returns
its value to White, in hundredths of a pawn. The first one found evaluates the positions.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from functools import cache

import chess
import chess.pgn

from gm_recon import read_json

from .record import Record

#: The group of entry points of installed evaluations.
GROUP = "gmd.evaluations"

Evaluation = Callable[[chess.Board], int]


@cache
def evaluation() -> Evaluation | None:
    """Return the installed evaluation; None without one."""
    from importlib.metadata import entry_points  # slow to import, and only scored positions need it

    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return found[0].load() if found else None


def static_scores(record: Record) -> list[float]:
    """Return the value to White of the position after each ply of a game, in pawns; empty without an evaluation.

    In blind chess it is the true position. Pieces in hand do not count.
    """
    evaluate = evaluation()
    return [] if evaluate is None else [evaluate(board) / 100.0 for board in _positions(record)]


def _positions(record: Record) -> Iterator[chess.Board]:
    """Yield the position after each ply; the board may be the same object, changed."""
    if "history" in record:
        for turn in read_json(json.dumps(record["history"])).history.replay():
            yield chess.Board(turn.fen_after)
        return
    game = chess.pgn.read_game(io.StringIO(record["pgn"]))
    assert game is not None
    board = game.board()
    for move in game.mainline_moves():
        board.push(move)
        yield board
