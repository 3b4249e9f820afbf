"""``recon-zero`` as a player of the package reconchess, for any program that loads such players.

``rc-bot-match``, ``rc-connect`` and ``reconchess.load_player`` find it by the name ``gm_bots.recon_zero``, by that
folder, or by this file. Imports are absolute, since reconchess imports a file without its package.
"""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any

import chess
from chess import Color, Move, Piece, Square
from reconchess import GameHistory, Player, WinReason

from gm_bots.options import from_environment
from gm_bots.recon_zero.entry import WITHOUT, LibraryMissing, make
from gm_bots.recon_zero.time_rules import TURN_SECONDS
from gm_bots.turn_time import TurnsByReconchess

if TYPE_CHECKING:
    from gm_bots.recon_zero.sensing import Belief

#: The environment variable with the options of players made without any, as by reconchess's programs.
VARIABLE = "GM_RECON_ZERO"


class ReconZero(Player):  # type: ignore[misc]
    """A player for one game after the other, which thinks within the clock as ``gmd connect recon-zero`` does."""

    def __init__(self, **options: Any) -> None:
        """Load the network, before any clock runs.

        :param options: the options of ``recon-zero``, as numbers or text; options not given come from the variable
            ``GM_RECON_ZERO`` (``checkpoint=training/latest.pt,simulations=50``).
        :raises BotUnusable: an option is unknown, its value is not allowed, or a library is missing.
        :raises BotFailed: the checkpoint cannot be read.
        """
        given = {name: str(value) for name, value in options.items()}
        try:
            self._bots = make(**{**from_environment(VARIABLE), **given})
        except LibraryMissing as error:
            raise error.saying(f"{VARIABLE}=checkpoint={WITHOUT}") from None
        self._judge = self._bots.judge()
        self._rng = random.Random(self._bots.seed)

    def handle_game_start(self, color: Color, board: chess.Board, opponent_name: str) -> None:
        from gm_bots.recon_zero.player import Player as Thinker  # behind the complaint of a missing numpy

        fen = board.fen(en_passant="fen")
        self._thinker = Thinker(color, self._judge, self._bots.settings, self._rng, fen=fen)
        self._opponent_has_moved = board.turn != color
        self._unsettled: partial[None] | None = None
        self._turns = TurnsByReconchess(self._bots.seconds, TURN_SECONDS)

    def belief(self) -> Belief:
        """Return the belief about the opponent's pieces: shape (7, 8, 8), for pieces from pawn to king and none, rank,
        and file; each square's seven numbers sum to 1.
        """
        return self._thinker.knowledge.belief()

    def handle_opponent_move_result(self, captured_my_piece: bool, capture_square: Square | None) -> None:
        self._turns.begin()
        self._settle()
        if self._opponent_has_moved:
            self._thinker.opponent_moved(capture_square)
        self._opponent_has_moved = True

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._thinker.choose_sense(sense_actions, self._turns.plan(seconds_left))

    def handle_sense_result(self, sense_result: list[tuple[Square, Piece | None]]) -> None:
        self._thinker.saw(sense_result)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self._thinker.choose_move(move_actions, self._turns.remaining(seconds_left))

    def handle_move_result(
        self,
        requested_move: Move | None,
        taken_move: Move | None,
        captured_opponent_piece: bool,
        capture_square: Square | None,
    ) -> None:
        """Record the result of the move, in the opponent's time.

        A result by which the game may be over waits for the next turn, if there is one: a capture may have been the
        king's, and a refused move may have come too late.
        """
        self._unsettled = partial(self._thinker.moved, requested_move, taken_move, capture_square)
        if capture_square is None and (taken_move is not None or requested_move is None):
            self._settle()

    def handle_game_end(
        self, winner_color: Color | None, win_reason: WinReason | None, game_history: GameHistory
    ) -> None:
        """Do nothing: there is nothing to keep."""

    def _settle(self) -> None:
        unsettled, self._unsettled = self._unsettled, None
        if unsettled is not None:
            unsettled()
