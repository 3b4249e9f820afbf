"""One player of one game: its knowledge, its senses and its moves. It needs no server."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import chess
import numpy as np
from chess import Color, Move, Square

from gm_bots.turn_time import SENSE_SHARE
from gm_recon import Cell, ReconBoard

from .determinise import determinise, draw
from .knowledge import Knowledge
from .lockstep.forest import C_PUCT, Forest
from .lockstep.judging import Judge
from .lockstep.opponent_model import read_model
from .lockstep.weighted import CAP, Weighing
from .search import Found, Search
from .sensing import attacked_in, best_of, bits_of_senses, entropy_sense, values_of_senses
from .time_rules import Workload, positions_within

#: Simulations between two checks of the time: with a network one in each position takes some ten milliseconds.
STEP = 4


@dataclass(frozen=True)
class Settings:
    """The settings of a player. Each except the numbers is a switch between the notebook's way and an improvement.

    :ivar positions: whether to keep the possible positions, or only a belief about squares.
    :ivar sensing: choose a sense by its expected information about those positions, or by the squares' entropies.
    :ivar weights: whether positions are as likely as a model of opponents says by their moves so far
        (:mod:`.lockstep.weighted`), or all the same.
    :ivar opponents: the file of that model; None for the one that comes with the package.
    :ivar alarm: the factor on a sense's information about an attack on the king, which is added (:mod:`.sensing`).
    :ivar worth: the bits that a sense's expected gain of value is worth, for a whole point; 0 to sense for
        information alone.
    :ivar searched: positions that are searched to value senses, and ``looks`` simulations in each.
    :ivar determinisations: how many positions are searched; with 1, the notebook's way.
    :ivar together: whether a simulation tries one move in all of them, or each position is searched by itself.
    :ivar unseen: the assumed probability that an attack on a king is not seen by the king's side.
    :ivar simulations: simulations in each position, unless the time ends sooner.
    :ivar c_puct: see :mod:`.search`.
    :ivar exploring: half-moves from the beginning of the game in which moves are drawn by their visit counts, instead
        of taking the best; for games that are learnt from.
    """

    positions: bool = True
    sensing: Literal["information", "entropy"] = "information"
    weights: Literal["moves", "equal"] = "moves"
    opponents: str | None = None
    alarm: float = 30.0
    worth: float = 0.0
    searched: int = 32
    looks: int = 40
    determinisations: int = 16
    together: bool = True
    unseen: float = 0.3
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


class Player:
    """A player. All events must be reported in the order in which they happen.

    :ivar found: what the searches found for each move that was chosen, if that is kept to learn from.
    """

    def __init__(
        self,
        color: Color,
        judge: Judge,
        settings: Settings,
        rng: random.Random,
        *,
        fen: str = chess.STARTING_FEN,
        keep: bool = False,
    ) -> None:
        self._settings, self._rng, self._keep = settings, rng, keep
        self._forest = Forest(judge, settings.c_puct, together=settings.together, unseen=settings.unseen)
        self._moves, self._work = 0, Workload()
        self.found: list[Found] = []
        self.knowledge = Knowledge(
            color, fen, positions=settings.positions, rng=rng, weighing=settings.weighing_with(judge)
        )

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        with self._work.measured():
            self.knowledge.opponent_moved(capture)

    def choose_sense(self, squares: Iterable[Square], seconds: float | None = None) -> Square:
        """Return the square to sense, of those allowed.

        :param seconds: seconds that the whole turn may take, of which a sense by searches takes its share; None for no
            limit. The shorter they are, the fewer possible positions are followed from now on.
        """
        ends = math.inf if seconds is None else time.monotonic() + seconds * SENSE_SHARE
        most = CAP if seconds is None else positions_within(seconds, CAP)
        self.knowledge.limit(most, self._work.share_for(seconds))
        allowed = list(squares)
        if self._settings.sensing == "information":
            best = best_of(self._value_senses(ends), allowed)
            if best is not None:
                return best
        return entropy_sense(self.knowledge.belief(), allowed)

    def _value_senses(self, ends: float) -> dict[Square, float]:
        """Return the value of a sense of each square with a whole window; nothing where no position is known.

        :param ends: the instant at which its searches end, finished or not.
        """
        settings = self._settings
        with self._work.measured():
            channels, weights = self.knowledge.channels(), self.knowledge.weights()
            attacked = attacked_in(self.knowledge.positions(), self.knowledge.color)
            bits = bits_of_senses(channels, weights, attacked, settings.alarm)
        if not settings.worth or len(channels) < 2:
            return bits
        drawn = draw(weights, settings.searched, self._rng)
        known = self.knowledge.positions()
        moves = ReconBoard.of(known[0]).move_actions()
        search = Search(self._forest, [ReconBoard.of(known[each]) for each in drawn], [*moves, None])
        self._deepen(search, settings.looks, ends)
        values, visits = search.by_position()
        seen = visits.min(axis=0) > 0
        if not seen.any():
            return bits
        worths = values_of_senses(channels[drawn], np.ones(len(drawn)), values[:, seen])
        return {square: bits[square] + settings.worth * worth for square, worth in worths.items()}

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record the result of the sense."""
        with self._work.measured():
            self.knowledge.saw(cells)

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None:
        """Return the move to request, of those allowed; None to pass.

        :param seconds: seconds after which the search ends, finished or not; None for no limit.
        """
        ends = math.inf if seconds is None else time.monotonic() + seconds
        knowledge, settings = self.knowledge, self._settings
        with self._work.measured():
            boards = determinise(knowledge, settings.determinisations, self._rng)
        positions = [ReconBoard.of(board) for board in boards]
        search = Search(self._forest, positions, [*actions, None])
        self._deepen(search, settings.simulations, ends, until_decided=not self._keep)
        found = search.found()
        if self._keep:
            self.found.append(found)
        return self._pick(found)

    @staticmethod
    def _deepen(search: Search, simulations: int, ends: float, *, until_decided: bool = False) -> None:
        """Add simulations until the time ends; one in any case.

        :param until_decided: whether it ends sooner if no more simulations can change the best move.
        """
        search.deepen(1)
        for done in range(1, simulations, STEP):
            if time.monotonic() >= ends or (until_decided and search.is_decided(simulations - done)):
                break
            search.deepen(min(STEP, simulations - done))

    def _pick(self, found: Found) -> Move | None:
        self._moves += 1
        if 2 * self._moves > self._settings.exploring:
            return found.best()
        return self._rng.choices(list(found.visits), list(found.visits.values()))[0]

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the move, after which the game goes on."""
        with self._work.measured():
            self.knowledge.player_moved(requested, taken, capture)
