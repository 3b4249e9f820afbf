"""A recorded game of blind chess played back to a bot, whose choices are compared: ``gmd replay --ask BOT``.

``gm_recon.player.play_turn`` calls the bot, as in a game, with one that answers from the record. What the bot prints
goes to standard error.
"""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, Literal

import chess
import click
from chess import Color, Move, Piece, Square

from gm_recon import History, Player, ReconBoard, WinReason
from gm_recon.history import Turn
from gm_recon.player import play_turn, tell_end

from ..bot import BotFailed, BotUnusable
from ..specs import players_of
from .recorded import Recorded

#: How far a turn went: to its end; to its sense, without a move; or only to its beginning.
Extent = Literal["whole", "sensed", "begun"]


def ask(recorded: Recorded, bot: str, color: Color) -> bool:
    """Play a game back to a bot, and print its other choices; return whether it chose the same everywhere.

    :param bot: its name, as for :func:`gm_arena.specs.players_of`.
    :param color: the colour of the player whose place it takes.
    :raises BotUnusable: the name is not that of a player of blind chess.
    :raises click.UsageError: the game is not one of blind chess.
    """
    if recorded.history is None:
        raise click.UsageError(f"{recorded.where} is not a game of blind chess")
    out = sys.stdout
    choices: list[Choice] = []

    def see(choice: Choice) -> None:
        choices.append(choice)
        other = f"recorded {choice.recorded}" if choice.recorded is not None else "the record has none"
        if not choice.same:
            click.echo(f"turn {choice.turn}: {choice.what} {choice.chosen}, {other}", file=out)

    failed = ""
    try:
        play_back(recorded, players_of(bot), color, see)
    except BotFailed as failure:
        click.echo(f"{failure}\n{failure.details}".rstrip(), err=True)
        failed = f"; the bot failed after it had chosen in turn {choices[-1].turn if choices else 0}"
    compared = [choice for choice in choices if choice.recorded is not None]
    counts = []
    for what in ("sense", "move"):
        same = [choice.same for choice in compared if choice.what == what]
        counts.append(f"{what}s {sum(same)} of {len(same)}")
    click.echo(f"chosen as recorded: {', '.join(counts)}{failed}")
    return not failed and all(choice.same for choice in compared)


@dataclass
class Choice:
    """The bot's choice, next to the recorded one.

    :ivar turn: the number of the player's turn.
    :ivar chosen, recorded: squares by name, moves in UCI, or "nothing"; None where the record ends.
    """

    turn: int
    what: Literal["sense", "move"]
    chosen: str
    recorded: str | None
    same: bool


def play_back(game: Recorded, make: Callable[[], Player], color: Color, see: Callable[[Choice], None]) -> None:
    """Give a bot what the player of a colour was shown, in its own turns; it has unlimited time.

    :param game: a game of blind chess.
    :param make: makes the bot.
    :param see: called with every choice as the bot makes it.
    :raises BotFailed: the bot raises an exception, or exits.
    :raises BotUnusable: it cannot be made.
    """
    history = game.history
    assert history is not None
    board, lost, number = ReconBoard(history.start_fen), None, 0
    try:
        with redirect_stdout(sys.stderr):
            player = make()
            player.handle_game_start(color, board.as_chess(), game.black if color else game.white)
            for turn, extent in _turns(history):
                if board.turn == color:
                    number += 1
                    with suppress(_NothingMore):
                        play_turn(_RecordedTurn(number, board, turn, extent, lost, see), player, lambda: math.inf)
                board.push(turn.taken, turn.capture_square)
                lost = turn.capture_square
            tell_end(player, history, game.white, game.black)
    except (BotUnusable, KeyboardInterrupt):
        raise
    except BaseException as error:  # a bot may also exit
        text = traceback.format_exc().rstrip()
        raise BotFailed(f"the bot raised {type(error).__name__}: {error}", text) from None


def _turns(history: History) -> Iterator[tuple[Turn, Extent]]:
    """Yield all turns, including the last one, however far it went.

    A player whose time runs out in its own turn, or who resigns then, was asked to act, and may have failed to.
    """
    for turn in history.turns:
        yield turn, "whole"
    if history.unfinished:
        yield Turn(history.unfinished[0], None, None, None), "sensed"
    elif history.win_reason in {WinReason.TIMEOUT, WinReason.RESIGN} and history.winner != history.board().turn:
        yield Turn(None, None, None, None), "begun"


class _NothingMore(Exception):
    """The record ends here."""


class _RecordedTurn:
    """One turn of a recorded game, for ``play_turn``: whatever the bot does, the recorded actions take effect."""

    def __init__(
        self,
        number: int,
        board: ReconBoard,
        turn: Turn,
        extent: Extent,
        lost: Square | None,
        see: Callable[[Choice], None],
    ) -> None:
        """:param board: the true position at the turn's beginning.
        :param lost: the square on which the opponent has just captured.
        """
        self._number, self._board, self._turn, self._extent = number, board, turn, extent
        self._moves, self.opponent_capture, self._see = board.move_actions(), lost, see

    def sense_actions(self) -> list[Square]:
        return list(chess.SQUARES)

    def move_actions(self) -> list[Move]:
        return list(self._moves)

    def sense(self, square: Any) -> list[tuple[Square, Piece | None]]:
        known = square is None or square in chess.SQUARES  # including numpy's numbers
        text = _name(square) if known else f"{square!r}, which is not a square"
        recorded = None if self._extent == "begun" else _name(self._turn.sense)
        self._see(Choice(self._number, "sense", text, recorded, text == recorded))
        if recorded is None:
            raise _NothingMore
        return [] if self._turn.sense is None else list(self._board.window(self._turn.sense))

    def move(self, requested_move: Any) -> tuple[Move | None, Move | None, Square | None]:
        turn, meant = self._turn, self._meant(requested_move)
        text = (
            _uci(requested_move) if requested_move is None or isinstance(requested_move, Move) else repr(requested_move)
        )
        text = text if meant is None or meant in self._moves else f"{text}, which is not among its moves"
        recorded = _uci(turn.requested) if self._extent == "whole" else None
        same = recorded is not None and meant == self._meant(turn.requested)
        self._see(Choice(self._number, "move", text, recorded, same))
        if recorded is None:
            raise _NothingMore
        requested = (
            requested_move if requested_move == turn.requested else turn.requested
        )  # its own object, as in a game
        return requested, turn.taken, turn.capture_square

    def _meant(self, move: Any) -> Any:
        """Return the move that is made: a pawn becomes a queen by default."""
        if not isinstance(move, Move) or move in self._moves or move.promotion is not None:
            return move
        queening = Move(move.from_square, move.to_square, chess.QUEEN)
        return queening if queening in self._moves else move


def _name(square: Square | None) -> str:
    return "nothing" if square is None else chess.SQUARE_NAMES[square]


def _uci(move: Any) -> str:
    return "nothing" if move is None else move.uci() if isinstance(move, Move) else repr(move)
