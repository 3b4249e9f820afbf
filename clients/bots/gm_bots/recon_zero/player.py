"""One player of one game: what it knows, where it senses, and what it asks for. It needs no server."""

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

#: Simulations between two looks at the time: with a network that is one in each position, some ten milliseconds.
STEP = 4


@dataclass(frozen=True)
class Settings:
    """How a player plays. Each but the numbers is a switch between the notebook's way and what is thought better.

    :ivar positions: whether it keeps the positions that are possible, or a belief about squares alone.
    :ivar sensing: by what it is expected to tell of those positions, or by the squares' entropies.
    :ivar danger: how many times as much a position counts, for the sense and in drawing those to be searched, if the
        opponent attacks the player's king there; with 1, no more than any other.
    :ivar plausible: how many times as much a position counts, for the same, for each pawn's worth by which the
        opponent's pieces stand better there; with 1, no more than any other.
    :ivar alarm: how many times again what a sense tells of an attack on the king is counted (:mod:`.sensing`).
    :ivar determinisations: how many positions are searched; with 1, the notebook's.
    :ivar together: whether one move is looked at in all of them at once, or each is searched by itself.
    :ivar check: whether the search takes both to keep the rules of chess, and not those of blind chess.
    :ivar unseen: how likely an attack on a king is taken to be not seen by whose king it is.
    :ivar simulations: in each of them, unless the time ends sooner.
    :ivar c_puct: see :mod:`.search`.
    :ivar exploring: half-moves from the game's beginning in which moves are drawn by how often they were looked at,
        instead of the first of them being taken; for games that are to be learnt from.
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
    """What a move was chosen by, for the network to learn from.

    :ivar believed: what the player knew.
    :ivar found: what the search came to.
    """

    believed: Planes
    found: Found


class Player:
    """A player. To be told of everything in the order in which it happens.

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
        """The opponent has had its turn, and captured on a square, or nothing."""
        self.knowledge.opponent_moved(capture)

    def choose_sense(self, squares: Iterable[Square]) -> Square:
        """Where to sense, of the squares that may be."""
        allowed = list(squares)
        if self._settings.sensing == "information":
            weights, attacked = self._weights()
            best = information_sense(self.knowledge.channels(), allowed, weights, attacked, self._settings.alarm)
            if best is not None:
                return best
        return entropy_sense(self.knowledge.belief(), allowed)

    def saw(self, cells: Iterable[Cell]) -> None:
        """What the sense has shown."""
        self.knowledge.saw(cells)

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None:
        """What to ask for, of what may be asked for; None to pass.

        :param seconds: after which the search ends, done or not; None for as long as it takes.
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
        """How much each position counts, and in which the king is attacked."""
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
        """What has come of it. The game goes on."""
        self.knowledge.player_moved(requested, taken, capture)
