"""A recorded game of blind chess played back to a bot, whose choices are compared: ``gmd replay --ask BOT``.

``gm_recon.player.play_turn`` calls the bot, as in a game, with one that answers from the record. What the bot prints
goes to standard error.
"""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, Literal

import chess
import click
from chess import Color, Move, Piece, Square
from rich.console import Console
from rich.progress import Progress

from gm_recon import Cell, History, Player, ReconBoard, WinReason
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
    report = _Report()
    turns = sum(1 for _ in turns_of(recorded, color))
    try:
        with _progress(turns, report) as see:
            play_back(recorded, players_of(bot), color, see)
    except BotFailed as failure:
        report.fails(failure)
    report.sums_up(turns)
    return report.all_same


class _Report:
    """The choices compared so far."""

    def __init__(self) -> None:
        self.same = {"sense": 0, "move": 0}
        self.compared = {"sense": 0, "move": 0}
        self.turn = 0
        self.failed = False

    @property
    def all_same(self) -> bool:
        return not self.failed and self.same == self.compared

    def sees(self, choice: Choice) -> None:
        self.turn = choice.turn
        if not choice.compares:
            click.echo(f"turn {choice.turn}: {choice.what} {choice.chosen}; the record has none")
            return
        self.compared[choice.what] += 1
        self.same[choice.what] += choice.same
        if not choice.same:
            click.echo(f"turn {choice.turn}: {choice.what} {choice.chosen}, recorded {choice.recorded}")

    def fails(self, failure: BotFailed) -> None:
        self.failed = True
        click.echo(f"{failure}\n{failure.details}".rstrip(), err=True)

    def sums_up(self, turns: int) -> None:
        senses, moves = (f"{what}s {self.same[what]} of {self.compared[what]}" for what in ("sense", "move"))
        failed = f"; the bot failed after it had chosen in turn {self.turn}" if self.failed else ""
        click.echo(f"{turns} {'turn' if turns == 1 else 'turns'}, chosen as recorded: {senses}, {moves}{failed}")


@contextmanager
def _progress(turns: int, report: _Report) -> Iterator[Callable[[Choice], None]]:
    """Show a bar on standard error, if that is a terminal: a bot may think for as long as it did in the game."""
    if not sys.stderr.isatty():
        yield report.sees
        return

    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task("turns", total=turns)

        def see(choice: Choice) -> None:
            report.sees(choice)
            bar.update(task, completed=choice.turn)

        yield see


# --- The bot ------------------------------------------------------------------------------------------------------


@dataclass
class Choice:
    """The bot's choice, next to the recorded one.

    :ivar turn: the number of the player's turn.
    :ivar chosen, recorded: squares by name, moves in UCI, or "nothing" for None.
    :ivar compares: whether the record has a choice to compare with; where it ends there is none.
    """

    turn: int
    what: Literal["sense", "move"]
    chosen: str
    recorded: str
    compares: bool
    same: bool


def play_back(game: Recorded, make: Callable[[], Player], color: Color, see: Callable[[Choice], None]) -> None:
    """Give a bot what the player of a colour was shown.

    :param make: makes the bot.
    :param see: called with every choice as the bot makes it.
    :raises BotFailed: the bot raises an exception, or exits.
    :raises BotUnusable: it cannot be made.
    """
    assert game.history is not None
    out = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            player = make()
            board, opponent = ReconBoard(game.history.start_fen).as_chess(), game.black if color else game.white
            player.handle_game_start(color, board, opponent)
            for turn in turns_of(game, color):
                recorded = _RecordedGame(turn, see, out)
                with suppress(_NothingMore):
                    play_turn(recorded, player, recorded.seconds_left)
            tell_end(player, game.history, game.white, game.black)
    except (BotUnusable, KeyboardInterrupt):
        raise
    except BaseException as error:  # a bot may also exit
        text = traceback.format_exc().rstrip()
        raise BotFailed(f"the bot raised {type(error).__name__}: {error}", text) from None


class _NothingMore(Exception):
    """The record ends here."""


class _RecordedGame:
    """One turn of a recorded game, for ``play_turn``: whatever the bot does, the recorded actions take effect."""

    def __init__(self, turn: Observed, see: Callable[[Choice], None], out: Any) -> None:
        self._turn, self._sensed = turn, False
        self._see, self._out = see, out

    def _show(self, choice: Choice) -> None:
        with redirect_stdout(self._out):
            self._see(choice)

    def seconds_left(self) -> float:
        return math.inf if self._turn.seconds is None else self._turn.seconds[self._sensed]

    def sense_actions(self) -> list[Square]:
        return list(chess.SQUARES)

    def move_actions(self) -> list[Move]:
        return list(self._turn.move_actions)

    @property
    def opponent_capture(self) -> Square | None:
        return self._turn.captured_on

    def sense(self, square: Any) -> list[tuple[Square, Piece | None]]:
        self._show(_sensed(self._turn, square))
        if self._turn.extent == "begun":
            raise _NothingMore
        self._sensed = True
        return list(self._turn.sense_result)

    def move(self, requested_move: Any) -> tuple[Move | None, Move | None, Square | None]:
        turn, requested = self._turn, self._turn.requested
        self._show(_moved(turn, requested_move))
        if turn.extent == "sensed":
            raise _NothingMore
        if requested_move == requested:
            requested = requested_move  # the bot's own object, as in a game
        return requested, turn.taken, turn.capture_square


def _sensed(turn: Observed, square: Any) -> Choice:
    known = square is None or square in chess.SQUARES  # including numpy's numbers
    text = _name(square) if known else f"{square!r}, which is not a square"
    compares = turn.extent != "begun"
    return Choice(turn.number, "sense", text, _name(turn.sense), compares, known and square == turn.sense)


def _moved(turn: Observed, move: Any) -> Choice:
    def meant(move: Any) -> Any:
        """Return the move that is made: a pawn becomes a queen by default."""
        if not isinstance(move, Move) or move in turn.move_actions or move.promotion is not None:
            return move
        queening = Move(move.from_square, move.to_square, chess.QUEEN)
        return queening if queening in turn.move_actions else move

    known = move is None or meant(move) in turn.move_actions
    text = _uci(move) if known or isinstance(move, Move) else repr(move)
    text = text if known else f"{text}, which is not among its moves"
    same = meant(move) == meant(turn.requested)
    return Choice(turn.number, "move", text, _uci(turn.requested), turn.extent == "whole", same)


def _name(square: Square | None) -> str:
    return "nothing" if square is None else chess.SQUARE_NAMES[square]


def _uci(move: Move | None) -> str:
    return "nothing" if move is None else move.uci()


# --- What the player was shown -----------------------------------------------------------------------------------


@dataclass
class Observed:
    """One of the player's turns.

    :ivar number: the number of the turn among the player's, from 1.
    :ivar captured_on: the square on which the opponent has just captured.
    :ivar seconds: the player's clock before its sense and before its move; None where that is not recorded.
    :ivar sense, requested: the player's actions.
    :ivar sense_result, taken, capture_square: the results that it was shown.
    """

    number: int
    extent: Extent
    captured_on: Square | None
    move_actions: list[Move]
    seconds: tuple[float, float] | None
    sense: Square | None = None
    sense_result: tuple[Cell, ...] = ()
    requested: Move | None = None
    taken: Move | None = None
    capture_square: Square | None = None


def turns_of(game: Recorded, color: Color) -> Iterator[Observed]:
    """Yield a player's turns, including the last one, however far it went.

    :param game: a game of blind chess.
    """
    history = game.history
    assert history is not None
    board, captured_on, number = ReconBoard(history.start_fen), None, 0
    for ply, turn in enumerate(history.turns):
        if board.turn == color:
            number += 1
            seen = () if turn.sense is None else tuple(board.window(turn.sense))
            yield Observed(
                number,
                "whole",
                captured_on,
                board.move_actions(),
                _seconds(game, ply),
                turn.sense,
                seen,
                turn.requested,
                turn.taken,
                turn.capture_square,
            )
        board.push(turn.taken, turn.capture_square)
        captured_on = turn.capture_square
    if board.turn == color and (extent := _last_extent(history, color)) is not None:
        seconds = _seconds(game, len(history.turns))
        last = Observed(number + 1, extent, captured_on, board.move_actions(), seconds)
        for last.sense in history.unfinished:
            last.sense_result = () if last.sense is None else tuple(board.window(last.sense))
        yield last


def _last_extent(history: History, color: Color) -> Extent | None:
    """Return how far the player came in the game's last turn; None if that turn was not the player's.

    A player whose time runs out in its own turn, or who resigns then, was asked to act, and may have failed to.
    """
    if history.unfinished:
        return "sensed"
    gave_out = history.win_reason in {WinReason.TIMEOUT, WinReason.RESIGN} and history.winner == (not color)
    return "begun" if gave_out else None


def _seconds(game: Recorded, ply: int) -> tuple[float, float] | None:
    return None if game.clocks is None else (game.clocks[ply].at_sense, game.clocks[ply].at_move)
