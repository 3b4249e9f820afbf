"""The thought of a player in one game: its knowledge, its senses and its moves."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from math import log2

import chess
from chess import Board, Color, Move, Square

from gm_bots.turn_time import LATEST, SENSE_SHARE
from gm_bots.unseen import Unseen
from gm_recon import Cell, ReconBoard

from .choice import best_sense, values_of
from .knowledge import Knowledge
from .likelihood import MOST_ASKED
from .results import WON, Engine, Judge, Results, score_of
from .settings import Settings

#: Positions that are searched for a decision even if no time is left, and the seconds that each may take then.
LEAST_SEARCHED, LEAST_SECONDS = 2, 0.02
#: How many times as likely positions count in which the king is attacked: much for a sense, which costs little.
SENSE_DANGER, MOVE_DANGER = 20.0, 3.0
#: The seconds that the search of a position takes, until they are measured.
SECONDS_EACH = 0.01
#: Positions that are searched at most where a clock says how many.
MOST_SEARCHED = 1_000
#: The part of a sense's time that may go into weighing the positions.
WEIGHING_SHARE = 0.3
#: By a clock, the best moves are searched so many plies deeper each time, up to the last depth, or until the same one
#: is the best twice and its expected result is better by so much.
DEEPER, DEEPEST, CLEAR = 2, 20, 0.1


class Thinker:
    """The thought of a player in one game. All events must be reported in the order in which they happen.

    :ivar score: the score of the last move that was chosen, in pawns; None if it was not searched.
    """

    def __init__(
        self,
        color: Color,
        engine: Engine,
        settings: Settings,
        rng: random.Random,
        *,
        most: int,
        fen: str = chess.STARTING_FEN,
    ) -> None:
        """:param most: the most possible positions that it keeps."""
        self._settings, self._engine = settings, engine
        self._unseen = Unseen(settings.unseen)
        self._judge = Judge(engine, settings.depth, self._unseen)
        self.knowledge = Knowledge(color, fen, rng, most, engine)
        self.score: float | None = None
        self._pace = SECONDS_EACH

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square on which it captured, if any."""
        self.knowledge.opponent_moved(capture)

    def choose_sense(
        self, squares: Collection[Square], actions: Sequence[Move], seconds: float | None = None
    ) -> Square:
        """Return the square to sense, of those allowed.

        :param actions: the moves that may be requested after it.
        :param seconds: the seconds that the whole turn may take; None for no limit.
        """
        ends = _after(None if seconds is None else seconds * SENSE_SHARE)
        timed = self._spends(seconds)
        self.knowledge.weigh(MOST_ASKED if timed else self._settings.positions, _between(ends, WEIGHING_SHARE))
        bits = self.knowledge.bits(squares)
        if not len(self.knowledge):
            return self.knowledge.guess.best_sense(squares)
        if len(self.knowledge) == 1:
            return next(iter(bits))
        self._judge.begin([*actions, None])
        boards, rows, weights = self._searched(timed, ends, SENSE_DANGER)
        return best_sense(
            boards,
            rows,
            weights,
            bits,
            information=self._settings.information,
            prior=0.0 if len(rows) == len(self.knowledge) else 1.0,
        )

    def saw(self, cells: Collection[Cell]) -> None:
        """Record the result of the sense."""
        self.knowledge.saw(cells)

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None:
        """Return the move to request, of those allowed; None to pass.

        :param seconds: the seconds that this may take; None for no limit.
        """
        ends = _after(seconds)
        requests = [*actions, None]
        self._judge.begin(requests)
        boards, rows, weights = self._searched(self._spends(seconds), _between(ends, 0.5), MOVE_DANGER)
        if not boards:
            self.score = None
            choice = self.knowledge.guess.choose(actions)
            return None if isinstance(choice, Board) else choice
        values = values_of(rows, weights, self._settings.caution)
        places = sorted(range(len(values)), key=values.__getitem__, reverse=True)[: self._settings.candidates]
        if len(places) > 1 and max(values) < WON:
            values = self._deepened(boards, [[row[place] for place in places] for row in rows], weights, places, ends)
        else:
            values = [values[place] for place in places]
        best = max(values)
        self.score = score_of(best)
        request = requests[places[values.index(best)]]
        self._unseen.moves(checks=self._judge.gives_check(request, boards, weights))
        return request

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the result of the move, after which the game goes on."""
        self._judge.forget()
        self._unseen.goes_on()  # before the next turn is searched ahead
        self.knowledge.moved(requested, taken, capture)

    def ponder(self, stopped: Callable[[], bool]) -> None:
        """Search in the opponent's time what the next turn will search, if it captures nothing.

        :param stopped: is asked between two searches whether to end.
        """
        for board in self.knowledge.ahead(stopped):
            if stopped():
                return
            self._judge.begin([*ReconBoard.of(board).move_actions(), None])
            self._judge.results(board)

    def _spends(self, seconds: float | None) -> bool:
        """Return whether the time says how much is searched."""
        return seconds is not None and not self._settings.fixed

    def _searched(self, timed: bool, ends: float, danger: float) -> tuple[list[Board], list[Results], list[float]]:
        """Return some positions with the expected results of all moves in each, and their weights."""
        count = self._settings.positions
        if timed:  # as many as the time allows
            count = max(LEAST_SEARCHED, min(MOST_SEARCHED, int((ends - time.monotonic()) / self._pace)))
        positions = self.knowledge.sample(count, danger)
        boards = [board for board, _ in positions]
        rows = self._results(boards, ends)
        return boards[: len(rows)], rows, [share for _, share in positions[: len(rows)]]

    def _deepened(
        self,
        boards: Sequence[Board],
        rows: list[Results],
        weights: Sequence[float],
        places: Sequence[int],
        ends: float,
    ) -> list[float]:
        """Return the values of some moves by deeper searches: of one depth, or by the clock as deep as its time allows.

        :param rows: the expected results of these moves in each position so far.
        """
        timed = ends < float("inf") and not self._settings.fixed
        depth = self._settings.refined + int(log2(max(1.0, self._settings.positions / len(boards))) / 2)
        leader, values = -1, values_of(rows, weights, self._settings.caution)
        while time.monotonic() < ends:
            self._deepen(boards, rows, places, depth, ends)
            values = values_of(rows, weights, self._settings.caution)
            best, second = sorted(values, reverse=True)[:2]
            last, leader = leader, values.index(best)
            if not timed or depth >= DEEPEST or (leader == last and best - second > CLEAR):
                break
            depth += DEEPER
        return values

    def _deepen(
        self, boards: Sequence[Board], rows: list[Results], places: Sequence[int], depth: int, ends: float
    ) -> None:
        """Replace the results of some moves in each position by those of a deeper search, as far as the time allows."""

        def search(board: Board) -> Results:
            return self._judge.refined(board, places, depth, _until(ends))

        for start in range(0, len(boards), self._engine.size):
            found = self._engine.map(search, boards[start : start + self._engine.size])
            if time.monotonic() >= ends:
                return  # these searches may have been cut off
            rows[start : start + len(found)] = found

    def _results(self, boards: Sequence[Board], ends: float) -> list[Results]:
        """Return the results in as many of the positions as the time allows."""

        def search(board: Board) -> Results:
            return self._judge.results(board, _until(ends))

        rows: list[Results] = []
        began, before = time.monotonic(), self._judge.searched
        while len(rows) < len(boards) and (len(rows) < LEAST_SEARCHED or time.monotonic() < ends):
            rows += self._engine.map(search, boards[len(rows) : len(rows) + self._engine.size])
        if searched := self._judge.searched - before:
            self._pace += LATEST * ((time.monotonic() - began) / searched - self._pace)
        return rows


def _between(ends: float, share: float) -> float:
    """Return the moment after a share of the time from now to another."""
    return time.monotonic() * (1 - share) + ends * share


def _after(seconds: float | None) -> float:
    return float("inf") if seconds is None else time.monotonic() + seconds


def _until(ends: float) -> float | None:
    """Return the seconds that a search may take until some moment; None for no limit."""
    return None if ends == float("inf") else max(LEAST_SECONDS, ends - time.monotonic())
