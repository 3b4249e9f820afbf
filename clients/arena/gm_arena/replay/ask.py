"""A recorded game of blind chess played back to a bot, whose choices are compared: ``gmd replay --ask BOT``.

The bot has a process of its own (:mod:`.ask_host`), and is shown what the player was shown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import chess
import click
import trio
from chess import Color, Move, Square
from rich.console import Console
from rich.progress import Progress

from gm_recon import Cell, History, ReconBoard, WinReason

from ..bot import BotFailed
from ..extras import how_to_install
from ..process import BotProcess
from .recorded import Recorded

#: The protocol's letters, in the order of python-chess's piece types.
_LETTERS = " pNBRQK"

#: How far a turn went: to its end; to its sense, without a move; or only to its beginning.
Extent = Literal["whole", "sensed", "begun"]


def ask(recorded: Recorded, bot: str, color: Color) -> bool:
    """Play a game back to a bot, and print its other choices; return whether it chose the same everywhere.

    :param bot: ``reconchess:FILE.py`` or ``reconchess:MODULE``.
    :param color: the colour of the player whose place it takes.
    :raises click.UsageError: the package reconchess is missing, or the game is not one of blind chess.
    """
    if find_spec("reconchess") is None:
        raise click.UsageError(f"bots of blind chess need the package reconchess: {how_to_install('reconchess')}")
    if recorded.history is None:
        raise click.UsageError(f"{recorded.where} is not a game of blind chess")
    report = _Report()
    turns = sum(1 for _ in turns_of(recorded, color))
    try:
        with _progress(turns, report) as see:
            trio.run(play_back, recorded, bot.removeprefix("reconchess:"), color, see)
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


def start_board(history: History) -> chess.Board:
    """Return the start position, which both players know."""
    return ReconBoard(history.start_fen).as_chess()


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


# --- The bot -----------------------------------------------------------------------------------------------------


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


async def play_back(game: Recorded, bot: str, color: Color, see: Callable[[Choice], None]) -> None:
    """Give a bot what the player of a colour was shown.

    :param bot: a file or a module, as reconchess names bots.
    :param see: called with every choice as the bot makes it.
    :raises BotFailed: the bot raises an exception, or ends.
    """
    assert game.history is not None
    command = [sys.executable, "-P", "-u", "-m", "gm_arena.replay.ask_host", bot]
    async with _process(command, bot) as process:
        player = _Player(process)
        await player.receive()
        opponent = game.black if color else game.white
        fen = start_board(game.history).fen(en_passant="fen")
        await player.done(begin={"color": chess.COLOR_NAMES[color], "fen": fen, "opponent": opponent})
        for turn in turns_of(game, color):
            player.send(turn=_message_of(turn))
            see(_sensed(turn, await player.chosen()))
            if turn.extent != "begun":
                see(_moved(turn, await player.chosen()))
            await player.receive()
        saved = json.loads(game.history.to_json(game.white, game.black))
        await player.done(end=saved)
        await process.aclose()


class _Player:
    """The messages to and from the bot's process."""

    def __init__(self, process: BotProcess) -> None:
        self._process = process

    def send(self, **message: Any) -> None:
        self._process.send(json.dumps(message) + "\n")

    async def done(self, **message: Any) -> None:
        """Send a message, and wait until the bot has handled it."""
        self.send(**message)
        await self.receive()

    async def chosen(self) -> Any:
        return (await self.receive())["chose"]

    async def receive(self) -> dict[str, Any]:
        """Receive a message.

        :raises BotFailed: the bot has failed.
        """
        message: dict[str, Any] = json.loads(await self._process.receive())
        if "failed" in message:
            traceback = message["failed"].rstrip()
            raise BotFailed(f"{self._process.label} raised {traceback.splitlines()[-1]}", traceback)
        return message


def _message_of(turn: Observed) -> dict[str, Any]:
    """Return a turn in the host's format."""
    return {
        "extent": turn.extent,
        "capture": _name(turn.captured_on),
        "moves": [move.uci() for move in turn.move_actions],
        "seconds": turn.seconds,
        "sense_result": [_cell(cell) for cell in turn.sense_result],
        "requested": _uci(turn.requested),
        "taken": _uci(turn.taken),
        "captured_on": _name(turn.capture_square),
    }


def _name(square: chess.Square | None) -> str | None:
    return None if square is None else chess.SQUARE_NAMES[square]


def _uci(move: chess.Move | None) -> str | None:
    return None if move is None else move.uci()


def _cell(cell: Cell) -> tuple[str, str | None]:
    square, piece = cell
    if piece is None:
        return chess.SQUARE_NAMES[square], None
    return chess.SQUARE_NAMES[square], ("w" if piece.color else "b") + _LETTERS[piece.piece_type]


def _sensed(turn: Observed, chosen: int | str | None) -> Choice:
    known = chosen is None or (isinstance(chosen, int) and chosen in chess.SQUARES)
    text = (_name(chosen) or "nothing") if known else f"{chosen}, which is not a square"  # type: ignore[arg-type]
    compares = turn.extent != "begun"
    return Choice(turn.number, "sense", text, _name(turn.sense) or "nothing", compares, known and chosen == turn.sense)


def _moved(turn: Observed, chosen: str | None) -> Choice:
    requested = _uci(turn.requested)
    allowed = {move.uci() for move in turn.move_actions}

    def meant(text: str | None) -> str | None:
        return f"{text}q" if f"{text}q" in allowed else text  # a pawn becomes a queen by default

    known = chosen is None or meant(chosen) in allowed
    text = (chosen or "nothing") if known else f"{chosen}, which is not among its moves"
    same = meant(chosen) == meant(requested)
    return Choice(turn.number, "move", text, requested or "nothing", turn.extent == "whole", same)


@asynccontextmanager
async def _process(command: list[str], label: str) -> AsyncIterator[BotProcess]:
    """Run the bot's process; exceptions of the block are raised as they are."""
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        process = await BotProcess.start(command, label, nursery)
        try:
            yield process
        except Exception as error:
            failure = error
        finally:
            await process.kill()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
