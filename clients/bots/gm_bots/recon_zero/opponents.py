"""Learning a model of opponents from games: ``gmd train opponents``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import chess
import numpy as np
from chess import Board, Color

from gm_arena.replay.recorded import blind_games
from gm_env.actions import action_of
from gm_env.kernels.layout import PLANES
from gm_env.positions import written
from gm_recon import BadHistory, History, ReconBoard

from .checkpoint import load_network
from .checkpoint_files import digest_of, shipped
from .lockstep.judging import Judge, count_material
from .lockstep.likelihood import plant_edges
from .lockstep.network_judge import NetworkJudge
from .lockstep.opponent_model import Choice, OpponentModel, learn, model_of
from .lockstep.requests import FEATURES, describe_all
from .lockstep.trees import make
from .lockstep.weighted import MOST_REQUESTS

#: The end of a name in a match of a bot against itself.
_SECOND = re.compile(r" #\d+$")


def learn_from(paths: Sequence[Path], checkpoint: Path | None, tell: Callable[[str], None]) -> OpponentModel:
    """Learn a model from games, with a kind of opponent for each player.

    :param checkpoint: of the network that is asked; None for the one that comes with the package, or for piece values.
    :param tell: called with what is being done.
    :raises BadRecord: a game cannot be read.
    :raises BadHistory: a player has no request to learn from.
    :raises BadCheckpoint: the checkpoint cannot be read.
    """
    path, kinds = checkpoint or shipped(), dict[str, tuple[float, ...]]()
    judge: Judge = count_material if path is None else NetworkJudge(load_network(path))
    for name, played in _seats_in(paths).items():
        found = [each for history, color in played for each in choices(history, color, judge)]
        if not found:
            raise BadHistory(f"player {name!r}: it has no request to learn from: give more of its games")
        tell(f"learning from {len(found)} requests of {name}")
        kinds[name] = learn(found)
    return model_of(kinds, None if path is None else digest_of(path))


def _seats_in(paths: Sequence[Path]) -> dict[str, list[tuple[History, Color]]]:
    """Return by name the games of players, each with the player's colour.

    :raises BadRecord: a game cannot be read.
    """
    found: dict[str, list[tuple[History, Color]]] = {}
    for path in paths:
        for game in blind_games(path):
            for color, name in ((chess.WHITE, game.white), (chess.BLACK, game.black)):
                found.setdefault(_SECOND.sub("", name or "?"), []).append((game.history, color))
    return found


def choices(history: History, color: Color, judge: Judge) -> Iterator[Choice]:
    """Yield the requests that a player of a game made, with those that it did not make."""
    trees, planes = make(0, 0, 1, MOST_REQUESTS, 0), np.empty((1, PLANES), np.uint64)
    for replayed in history.replay():
        if replayed.color != color:
            continue
        state, numbers = written(ReconBoard.of(Board(replayed.fen_before)))
        trees.states[0], trees.numbers[0], trees.used[:] = state, numbers, (1, 0)
        plant_edges(trees, 0, planes)
        judge(trees, np.zeros(1, np.int64))
        table = np.empty((int(trees.edges[0]), len(FEATURES)))
        describe_all(trees, 0, table)
        requests = trees.action[: len(table)].tolist()
        yield Choice(table, requests.index(action_of(replayed.turn.requested, color)))
