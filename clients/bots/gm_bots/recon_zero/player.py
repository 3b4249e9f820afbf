"""One player of one game: its knowledge, its senses and its moves. It needs no server."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import chess
from chess import Color, Move, Square

from gm_recon import Cell, ReconBoard

from .determinise import determinise
from .encoder import Planes, encode
from .evaluation import Evaluator
from .knowledge import Knowledge
from .positions import Attacked, Weights
from .search import C_PUCT, Found, Search
from .sensing import entropy_sense, information_sense
from .weights import attacked_in, weights_of

#: Simulations between two checks of the time: with a network one in each position takes some ten milliseconds.
STEP = 4


@dataclass(frozen=True)
class Settings:
    """The settings of a player. Each except the numbers is a switch between the notebook's way and an improvement.

    :ivar positions: whether to keep the possible positions, or only a belief about squares.
    :ivar sensing: choose a sense by its expected information about those positions, or by the squares' entropies.
    :ivar danger: the factor on the weight of a position, for senses and for drawing the positions to search, if the
        opponent attacks the player's king there; 1 changes nothing.
    :ivar plausible: the factor on the weight of a position, likewise, for each pawn's value by which the opponent's
        pieces stand better there; 1 changes nothing.
    :ivar alarm: the factor on a sense's information about an attack on the king, which is added (:mod:`.sensing`).
    :ivar determinisations: how many positions are searched; with 1, the notebook's way.
    :ivar together: whether a simulation tries one move in all of them, or each position is searched by itself.
    :ivar check: whether the search assumes that both follow the rules of chess, and not those of blind chess.
    :ivar unseen: the assumed probability that an attack on a king is not seen by the king's side.
    :ivar simulations: simulations in each position, unless the time ends sooner.
    :ivar c_puct: see :mod:`.search`.
    :ivar exploring: half-moves from the beginning of the game in which moves are drawn by their visit counts, instead
        of taking the best; for games that are learnt from.
    """

    positions: bool = True
    sensing: Literal["information", "entropy"] = "information"
    danger: float = 10.0
    alarm: float = 30.0
    plausible: float = 3.0
    determinisations: int = 8
    together: bool = True
    check: bool = False
    unseen: float = 0.3
    simulations: int = 100
    c_puct: float = C_PUCT
    exploring: int = 0


@dataclass(frozen=True)
class Decision:
    """The basis of a move's choice, for the network to learn from.

    :ivar believed: the player's knowledge.
    :ivar found: the result of the search.
    """

    believed: Planes
    found: Found


class Player:
    """A player. All events must be reported in the order in which they happen.

    :ivar decisions: one for each move that was chosen, if they are kept.
    """

    def __init__(
        self,
        color: Color,
        evaluator: Evaluator,
        settings: Settings,
        rng: random.Random,
        *,
        fen: str = chess.STARTING_FEN,
        keep: bool = False,
    ) -> None:
        self._evaluator, self._settings, self._rng, self._keep = evaluator, settings, rng, keep
        self._moves = 0
        self.decisions: list[Decision] = []
        self.knowledge = Knowledge(color, fen, positions=settings.positions, rng=rng)

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self.knowledge.opponent_moved(capture)

    def choose_sense(self, squares: Iterable[Square]) -> Square:
        """Return the square to sense, of those allowed."""
        allowed = list(squares)
        if self._settings.sensing == "information":
            weights, attacked = self._weights()
            best = information_sense(self.knowledge.channels(), allowed, weights, attacked, self._settings.alarm)
            if best is not None:
                return best
        return entropy_sense(self.knowledge.belief(), allowed)

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record the result of the sense."""
        self.knowledge.saw(cells)

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None:
        """Return the move to request, of those allowed; None to pass.

        :param seconds: seconds after which the search ends, finished or not; None for no limit.
        """
        began = time.monotonic()
        knowledge, settings = self.knowledge, self._settings
        boards = determinise(knowledge, settings.determinisations, self._rng, self._weights()[0])
        positions = [ReconBoard.of(board) for board in boards]
        search = Search(
            positions,
            [*actions, None],
            self._evaluator,
            settings.c_puct,
            together=settings.together,
            unseen=settings.unseen,
            check=settings.check,
        )
        done = 0
        while done < settings.simulations and (seconds is None or not done or time.monotonic() - began < seconds):
            search.deepen(min(STEP, settings.simulations - done))
            done += STEP
        found = search.found()
        if self._keep:
            self.decisions.append(Decision(encode(knowledge.own, knowledge.color, knowledge.belief()), found))
        return self._pick(found)

    def _weights(self) -> tuple[Weights, Attacked]:
        """Return the weight of each position, and in which positions the king is attacked."""
        knowledge, settings = self.knowledge, self._settings
        channels, color = knowledge.channels(), knowledge.color
        attacked = attacked_in(knowledge.positions(), color)
        return weights_of(channels, attacked, color, settings.danger, settings.plausible), attacked

    def _pick(self, found: Found) -> Move | None:
        self._moves += 1
        if 2 * self._moves > self._settings.exploring:
            return found.best()
        return self._rng.choices(list(found.visits), list(found.visits.values()))[0]

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the move, after which the game goes on."""
        self.knowledge.player_moved(requested, taken, capture)
