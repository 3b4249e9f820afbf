"""Plays a recorded game back to a bot in a process of its own, and compares its choices with the record."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import chess
import trio
from chess import Color

from gm_recon import Cell

from ..bot import BotFailed
from ..process import BotProcess
from ..replay.recorded import Recorded
from .observed import Observed, start_board, turns_of

#: The protocol's letters, in the order of python-chess's piece types.
_LETTERS = " pNBRQK"


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
    command = [sys.executable, "-P", "-u", "-m", "gm_arena.playback.host", bot]
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
