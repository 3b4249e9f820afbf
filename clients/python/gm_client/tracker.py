"""The positions that are still possible in a game of reconnaissance blind chess, from the server's replies.

They are those of :mod:`gm_recon.possible`, which a program without a server can use as well.
"""

from __future__ import annotations

import random
from typing import Self

from chess import STARTING_FEN, Color

from gm_recon.position_sets import PositionSet, PythonPositions
from gm_recon.possible import CAP, PossiblePositions

from .blocking import GameState, MoveReply, SenseReply
from .chess_turns import Sensed
from .rbc import read_move, read_sense, read_square

__all__ = ["CAP", "Tracker"]


class Tracker(PossiblePositions):
    """The possible positions, given everything that the player has observed.

    In each turn call :meth:`begin`, then :meth:`sensed`, then :meth:`moved`, with the server's replies::

        tracker = None
        for turn in client.turns(game_id):
            tracker = Tracker.of(turn.state) if tracker is None else tracker
            tracker.begin(turn.state)
            tracker.sensed(turn.sense(tracker.best_sense()))
            tracker.moved(turn.move(...))  # chosen with tracker.sample(10), for example
    """

    def __init__(
        self,
        color: Color,
        fen: str = STARTING_FEN,
        *,
        cap: int = CAP,
        rng: random.Random | None = None,
        backend: type[PositionSet] = PythonPositions,
    ) -> None:
        """:param fen: the start position of the game, which both players know.
        :param rng: decides which positions are dropped, and which are drawn by :meth:`sample`.
        :param backend: what keeps the positions. ``gm_env.CompiledPositions`` is faster, and needs numba.
        :raises ValueError: the FEN cannot be read, or is not a possible start position.
        """
        super().__init__(color, fen, cap=cap, rng=rng or random.Random(), backend=backend)

    @classmethod
    def of(
        cls,
        state: GameState,
        *,
        cap: int = CAP,
        rng: random.Random | None = None,
        backend: type[PositionSet] = PythonPositions,
    ) -> Self:
        """Return a tracker for the player whose turn it is in a state, at the beginning of a game.

        :raises ValueError: the player has had a turn already.
        """
        tracker = cls(state["turn"] == "white", state["start_fen"], cap=cap, rng=rng, backend=backend)
        if state["ply_index"] > (tracker._turn != tracker.color):
            raise ValueError(f"ply_index: {state['ply_index']}: a tracker has to see a game from its beginning")
        return tracker

    def begin(self, state: GameState) -> None:
        """Begin the player's turn with this state. A repeated call in the same turn does nothing.

        :raises ValueError: a turn is missing.
        """
        ply = state["ply_index"]
        if ply == self._ply + 1 and self._turn != self.color:
            self.opponent_moved(read_square(state["opponent_capture"]))
        elif ply != self._ply:
            raise ValueError(f"ply_index: {ply}: the tracker has seen the game up to ply {self._ply}")

    def sensed(self, result: Sensed | SenseReply) -> None:
        """Record the player's sense: what ``turn.sense`` returned, or the reply to ``client.sense``."""
        self.saw(read_sense(result["sense_result"]) if isinstance(result, dict) else result)

    def moved(self, reply: MoveReply) -> None:
        """Record the player's move. If it has ended the game, there is nothing more to track."""
        if reply["state"]["phase"] != "over":
            requested, taken = read_move(reply["requested_move"]), read_move(reply["taken_move"])
            self.player_moved(requested, taken, read_square(reply["capture_square"]))
