"""The process of a bot while a game is played back to it: ``python -m gm_arena.replay.ask_host BOT``.

It works as :mod:`gm_arena.reconchess_host` except in the turns, each of which comes at once with all its results:

    parent -> host                                              host -> parent
    {"turn": {extent, capture, moves, seconds,                  {"chose": square, null, or how it prints}
              sense_result, requested, taken, captured_on}}     {"chose": UCI, null, or how it prints}
                                                                {"done": true}

In a turn that was not played to its end, the bot's turn stops after the last answer.
"""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from typing import Any

import chess
from chess import Move, Piece, Square
from reconchess import Game, play_turn

from gm_client.rbc import read_move, read_sense, read_square

from ..reconchess_host import Channel, Host, Json, run


class NothingMore(Exception):
    """The record ends here."""


class RecordedGame(Game):  # type: ignore[misc]
    """One turn of a recorded game, for ``play_turn``: whatever the bot does, the recorded actions take effect."""

    def __init__(self, channel: Channel, turn: Json) -> None:
        self._channel, self._turn = channel, turn
        seconds = turn["seconds"]
        self._seconds = [math.inf, math.inf] if seconds is None else list(seconds)
        self._sensed = False

    def get_seconds_left(self) -> float:
        seconds: float = self._seconds[self._sensed]
        return seconds

    def sense_actions(self) -> list[Square]:
        return list(chess.SQUARES)

    def move_actions(self) -> list[Move]:
        return [Move.from_uci(uci) for uci in self._turn["moves"]]

    def opponent_move_results(self) -> Square | None:
        return read_square(self._turn["capture"])

    def sense(self, square: Any) -> list[tuple[Square, Piece | None]]:
        is_square = square in chess.SQUARES  # including numpy's numbers
        self._channel.send(chose=int(square) if is_square else square and repr(square))
        if self._turn["extent"] == "begun":
            raise NothingMore
        self._sensed = True
        return [(square, piece) for square, piece in read_sense(self._turn["sense_result"])]

    def move(self, requested_move: Any) -> tuple[Move | None, Move | None, Square | None]:
        is_move = isinstance(requested_move, Move)
        self._channel.send(chose=requested_move.uci() if is_move else requested_move and repr(requested_move))
        if self._turn["extent"] == "sensed":
            raise NothingMore
        turn = self._turn
        requested = read_move(turn["requested"])
        if requested_move == requested:
            requested = requested_move  # the bot's own object, as in a game
        return requested, read_move(turn["taken"]), read_square(turn["captured_on"])

    def end_turn(self) -> None:
        """Do nothing: the move has ended the turn."""


class PlaybackHost(Host):
    """A bot, and the events of the player whom it replaces."""

    def turn(self, turn: Json) -> None:
        with suppress(NothingMore):
            play_turn(RecordedGame(self._channel, turn), self._player, end_turn_last=True)


if __name__ == "__main__":
    sys.exit(run(PlaybackHost))
