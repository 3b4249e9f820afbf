"""The thought of a player in one game: its knowledge, its senses and its moves. It needs no server."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import chess
from chess import Color, Move, Square

from gm_bots.unseen import Unseen
from gm_recon import Cell

from .knowledge import Knowledge
from .lockstep.forest import C_PUCT, Forest
from .lockstep.judging import Judge
from .lockstep.opponent_model import read_model
from .lockstep.weighted import CAP, Weighing
from .search import Search
from .time_rules import Workload, positions_within

#: Simulations between two checks of the time: with a network one in each position takes some ten milliseconds.
STEP = 4


@dataclass(frozen=True)
class Settings:
    """The settings of a player.

    :ivar weights: whether positions are as likely as a model of opponents says by their moves so far
        (:mod:`.lockstep.weighted`), or all the same.
    :ivar opponents: the file of that model; None for the one that comes with the package.
    :ivar alarm: the factor on a sense's information about an attack on the king, which is added
        (:mod:`.lockstep.candidates`).
    :ivar determinisations: how many positions are searched.
    :ivar unseen: the assumed probability that an attack on a king is not seen by the king's side, until the opponent
        has seen one.
    :ivar simulations: simulations in each position, unless the time ends sooner.
    :ivar c_puct: see :mod:`.search`.
    :ivar exploring: half-moves from the beginning of the game in which moves are drawn by their visit counts, instead
        of taking the best; in games in step that are learnt from.
    """

    weights: Literal["moves", "equal"] = "moves"
    opponents: str | None = None
    alarm: float = 30.0
    determinisations: int = 16
    unseen: float = 0.12
    simulations: int = 400
    c_puct: float = C_PUCT
    exploring: int = 0

    def weighing_with(self, judge: Judge) -> Weighing | None:
        """Return what positions weigh by; None if all weigh the same.

        :raises BadModel: the file of the model of opponents cannot be read.
        """
        if self.weights == "equal":
            return None
        return Weighing(judge, read_model() if self.opponents is None else read_model(Path(self.opponents)))


class Thinker:
    """The thought of a player in one game. All events must be reported in the order in which they happen."""

    def __init__(
        self,
        color: Color,
        judge: Judge,
        settings: Settings,
        rng: random.Random,
        *,
        fen: str = chess.STARTING_FEN,
    ) -> None:
        self._settings, self._rng, self._work = settings, rng, Workload()
        self._forest, self._unseen = Forest(judge, settings.c_puct), Unseen(settings.unseen)
        self.knowledge = Knowledge(color, fen, rng=rng, weighing=settings.weighing_with(judge))

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        with self._work.measured():
            self.knowledge.opponent_moved(capture)

    def choose_sense(self, squares: Iterable[Square], seconds: float | None = None) -> Square:
        """Return the square to sense, of those allowed.

        :param seconds: seconds that the whole turn may take; None for no limit. The shorter they are, the fewer
            possible positions are followed from now on.
        """
        most = CAP if seconds is None else positions_within(seconds, CAP)
        self.knowledge.limit(most, self._work.share_for(seconds))
        with self._work.measured():
            return self.knowledge.best_sense(list(squares), self._settings.alarm)

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record the result of the sense."""
        with self._work.measured():
            self.knowledge.saw(cells)

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None:
        """Return the move to request, of those allowed; None to pass.

        :param seconds: seconds after which the search ends, finished or not; None for no limit.
        """
        ends = math.inf if seconds is None else time.monotonic() + seconds
        simulations = self._settings.simulations
        with self._work.measured():
            positions = self.knowledge.drawn(self._settings.determinisations, self._rng)
        search = Search(self._forest, positions, [*actions, None], self.knowledge.color, self._unseen.probability)
        search.deepen(1)
        self._unseen.turn(wins=search.found().value >= 1)
        for done in range(1, simulations, STEP):
            if time.monotonic() >= ends or search.is_decided(simulations - done):
                break
            search.deepen(min(STEP, simulations - done))
        best = search.found().best()
        self._unseen.moves(checks=search.checks(best))
        return best

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the move, after which the game goes on."""
        with self._work.measured():
            self.knowledge.player_moved(requested, taken, capture)
