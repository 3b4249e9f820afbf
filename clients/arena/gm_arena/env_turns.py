"""A bot's turns in a game of :mod:`gm_env`: the states and replies that a server would give it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast

import chess
from chess import Move, Piece

from gm_client.blocking import GameState, HistoryReply, MoveReply, SenseReply, Square, StateReply, TurnView
from gm_client.trio_client import Turn
from gm_env import PASS, action_of, sense_of
from gm_env.observed_turn import ObservedTurn
from gm_env.opponents import RESIGN
from gm_env.turns import FIRST_SENSE
from gm_protocol.endings import ON, Cause, Ending
from gm_protocol.state import COLOR_NAMES
from gm_recon import Cell, History, ReconBoard

from .bot import BotFailed
from .endings import CAUSES

#: The players' ids in states: the learner's and the bot's.
LEARNER, BOT = 1, 2

_LETTERS = " pNBRQK"


class Ended:
    """The end of a game, with what the bot observed last."""

    def __init__(self, observed: ObservedTurn, history: History) -> None:
        self.observed, self.history = observed, history


class Table(Protocol):
    """The place where a bot and the environment exchange actions and what they lead to.

    :ivar own: the fields ``last_sense`` and ``last_result`` of the bot's state.
    """

    game_id: int
    start_fen: str
    own: dict[str, Any]

    async def act(self, action: int) -> ObservedTurn | Ended:
        """Take an action; return what the player observes next."""


class EnvTurn(Turn):
    """One turn of a bot. Its replies are those of a server without a clock, to requests that are ``brief``.

    The reply to a move comes when the bot's next turn begins or the game ends.
    """

    def __init__(self, table: Table, observed: ObservedTurn) -> None:
        """Begin the turn with what the bot observes before it senses."""
        self._table, self._observed, self._board = table, observed, ReconBoard.of(observed.own_board())
        moves = self._board.move_actions()
        reply: Any = {
            "state": state_of(table, observed, "sense"),
            "sense_actions": list(chess.SQUARE_NAMES),
            "move_actions": [move.uci() for move in moves],
        }
        TurnView.__init__(self, reply)
        self.following: ObservedTurn | Ended | None = None

    async def sense(self, square: Square | None) -> SenseReply:
        """Sense around a square, or None to sense nothing.

        :raises BotFailed: there is no such square, or the bot has sensed.
        """
        self._check_turn()
        if not self.sense_actions:
            raise BotFailed(f"sense {square!r} is not possible: the bot has sensed in this turn", fault="illegal move")
        if square not in (None, *chess.SQUARES, *chess.SQUARE_NAMES):
            raise BotFailed(f"sense {square!r} is not possible: there is no such square", fault="illegal move")
        await self._sense(chess.parse_square(square) if isinstance(square, str) else square)
        return {"sense_result": shown(self._observed.cells()), "state": self.state, "error": None}

    async def move(self, move: str | None, *, offer_draw: bool = False, claim_draw: bool = False) -> MoveReply:
        """Move, or None to pass; this ends the turn.

        :raises BotFailed: the move is none of ``move_actions``, or the bot has moved.
        """
        self._check_turn()
        requested = None if move is None else self._read(move)
        if self.sense_actions:
            await self._sense(None)
        self.following = await self._table.act(
            PASS if requested is None else action_of(requested, self._observed.color)
        )
        ends = isinstance(self.following, Ended) and len(self.following.history.turns) == self.ply + 1
        observed = self.following.observed if isinstance(self.following, Ended) else self.following
        made, capture = observed.made(requested), observed.captured()
        result = {
            "requested_move": move,
            "taken_move": None if made is None else made.uci(),
            "capture_square": None if capture is None else chess.square_name(capture),
        }
        self._table.own["last_result"] = {"ply": self.ply, **result}
        self.state = over(self._table, self.following) if ends else self._after(made)
        reply = {**result, "state": self.state, "error": None}
        return cast(MoveReply, reply)

    async def end_game(self, termination: str) -> StateReply:
        """Resign.

        :raises BotFailed: the termination is not the bot's resignation.
        """
        self._check_turn()
        if termination != Ending.by(Cause.RESIGNATION, self._observed.color).termination:
            raise BotFailed(f"end_game {termination!r} is not possible: only a resignation is", fault="illegal move")
        self.following = await self._table.act(RESIGN)
        self.state = over(self._table, self.following)
        reply = {"state": self.state, "error": None}
        return cast(StateReply, reply)

    def _check_turn(self) -> None:
        if self.following is not None:
            raise BotFailed("it has acted after its turn", fault="protocol")

    async def _sense(self, square: chess.Square | None) -> None:
        observed = await self._table.act(FIRST_SENSE + sense_of(square, self._observed.color))
        assert isinstance(observed, ObservedTurn)  # no game ends by a sense
        self._observed, self.sense_actions = observed, []
        name = None if square is None else chess.square_name(square)
        self._table.own["last_sense"] = {"ply": self.ply, "square": name, "sense_result": shown(observed.cells())}
        self.state = state_of(self._table, observed, "move")

    def _after(self, made: Move | None) -> GameState:
        """Return the state after the move, before the opponent's turn."""
        board = self._observed.own_board()
        board.push(made or Move.null())
        return state_of(self._table, self._observed, None, board)

    def _read(self, move: str) -> Move:
        try:
            requested = self._board.promoting(Move.from_uci(move))
        except ValueError:
            requested = Move.null()
        if requested not in self._board.move_actions():
            raise BotFailed(f"move {move!r} is not in move_actions", fault="illegal move")
        return requested


def state_of(table: Table, observed: ObservedTurn, phase: str | None, after: chess.Board | None = None) -> GameState:
    """Return the state of a game in progress, as the bot may see it.

    :param after: the bot's own pieces after its move; None in its turn.
    """
    start, lost, board = chess.Board(table.start_fen), observed.lost(), after or observed.own_board()
    ply = _ply_of(start, observed) + (after is not None)
    board.fullmove_number, board.halfmove_clock = start.fullmove_number + (ply + (not start.turn)) // 2, 0
    white, black = (BOT, LEARNER) if observed.color else (LEARNER, BOT)
    found = {
        "available_castles": _castles(board),
        "passant_file": -1,
        "ply_index": ply,
        "fen": board.fen(),
        "draws": 0,
        "termination": ON,
        "in_check": False,
        "game_id": table.game_id,
        "variant": "rbc",
        "player_white": white,
        "player_black": black,
        "start_fen": table.start_fen,
        "turn": COLOR_NAMES[board.turn],
        "phase": phase,
        "result": "*",
        "clock": None,
        "draw_offered": False,
        "last_move": None,
        "opponent_capture": None if lost is None else chess.square_name(lost),
        **table.own,
    }
    return cast(GameState, found)


def _ply_of(start: chess.Board, observed: ObservedTurn) -> int:
    """Return the number of turns that both players have completed when the player's turn begins."""
    return 2 * observed.turns + (start.turn != observed.color)


def over(table: Table, ended: ObservedTurn | Ended) -> GameState:
    """Return the state of a finished game, which shows everything."""
    assert isinstance(ended, Ended)
    history, board = ended.history, chess.Board(ended.history.board().fen())
    turns, color = history.turns, ended.observed.color
    theirs = turns[-1:] if board.turn == color else turns[-2:-1]
    captures = [turn.capture_square for turn in theirs if turn.capture_square is not None]
    assert history.win_reason is not None
    ending = Ending(CAUSES[history.win_reason], winner=history.winner)
    shown = {
        **state_of(table, ended.observed, "over"),
        "available_castles": _castles(board),
        "ply_index": len(turns),
        "fen": history.board().fen(),
        "turn": COLOR_NAMES[board.turn],
        "termination": ending.termination,
        "in_check": board.is_check(),
        "result": ending.result,
        "last_move": turns[-1].taken.uci() if turns and turns[-1].taken else None,
        "opponent_capture": chess.square_name(captures[0]) if captures else None,
    }
    return cast(GameState, shown)


def history_of(ended: Ended) -> Callable[[], Awaitable[HistoryReply]]:
    """Return what asks for the history of a finished game."""

    async def ask() -> HistoryReply:
        reply = {"history": json.loads(ended.history.to_json()), "error": None}
        return cast(HistoryReply, reply)

    return ask


def shown(cells: Sequence[Cell]) -> list[Any]:
    """Return a sense result in the protocol's form."""
    return [[chess.square_name(square), _name(piece)] for square, piece in cells]


def _name(piece: Piece | None) -> str | None:
    return None if piece is None else ("w" if piece.color else "b") + _LETTERS[piece.piece_type]


def _castles(board: chess.Board) -> int:
    rights = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
    return sum(1 << bit for bit, rook in enumerate(rights) if board.castling_rights & rook)
