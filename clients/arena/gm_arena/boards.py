"""The board of a game without hidden information, kept in step with the server's, for bots that work on boards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable

import chess

from gm_client.blocking import GameState, HistoryReply
from gm_client.trio_client import Turn
from gm_protocol.endings import Cause, Ending
from gm_protocol.state import side_of
from gmd.games.variants import VARIANTS

from .bot import Bot, BotFailed, Place


def board_of(variant: str, fen: str) -> chess.Board:
    """Return a board that writes moves as the server does.

    It uses Chess960 castling where the rights are given by the rooks' files; a crazyhouse game from another start
    position than the classical one is such a game too.
    """
    return VARIANTS[variant].board(fen)


class Record:
    """A game's moves from its start position to the present one."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.board = board_of(place.variant, place.start_fen)

    async def catch_up(self, state: GameState) -> chess.Board:
        """Return the board at a state of the game, with all moves on its stack; usually one move is missing."""
        missing = state["ply_index"] - len(self.board.move_stack)
        if missing == 1 and state["last_move"] is not None:
            self.board.push_uci(state["last_move"])
        elif missing:
            self.board = board_of(self._place.variant, self._place.start_fen)
            for uci in (await self._place.read_moves())[: state["ply_index"]]:
                self.board.push_uci(uci)
        return self.board


class BoardBot(Bot):
    """A bot that receives boards. It claims every possible draw, since its protocol has no command for that."""

    _record: Record

    async def begin(self, place: Place) -> None:
        self._record = Record(place)

    async def take_turn(self, turn: Turn) -> None:
        if turn.state["draws"]:
            await turn.end_game(Ending.by(Cause.DRAW_CLAIM, side_of(turn.color)).termination)
            return
        await self.choose(turn, await self._record.catch_up(turn.state))

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Do nothing: these protocols have no message for the end of a game, and the process just ends."""

    @abstractmethod
    async def choose(self, turn: Turn, board: chess.Board) -> None:
        """Make the turn's action at a board that must not be changed."""

    async def move(self, turn: Turn, move: chess.Move | None, *, offer_draw: bool = False) -> None:
        """Make a move on the board of the turn.

        :raises BotFailed: the move is not legal.
        """
        board = self._record.board
        if move is None or not board.is_legal(move):
            raise BotFailed(f"{move} is not a legal move in {board.fen()}", fault="illegal move")
        await turn.move(board.uci(move), offer_draw=offer_draw)
        board.push(move)
