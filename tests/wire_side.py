"""gmd's side of a game that is played side by side with reconchess, over the wire."""

from __future__ import annotations

import json
from collections.abc import Sequence

import chess
from chess import Color, Move, Piece, Square

from tests.helpers import Client, Json
from tests.side_by_side import MoveResult

WHITE_PLAYER, BLACK_PLAYER = 1, 2

#: reconchess's winner and reason by gmd's termination.
_RESULTS: dict[str, tuple[Color | None, str]] = {
    "victory_white": (chess.WHITE, "KING_CAPTURE"),
    "victory_black": (chess.BLACK, "KING_CAPTURE"),
    "resignation_white": (chess.BLACK, "RESIGN"),
    "resignation_black": (chess.WHITE, "RESIGN"),
    "draw_fifty_moves": (None, "MOVE_LIMIT"),
    "draw_turn_limit": (None, "TURN_LIMIT"),
}


class WireSide:
    """A client that plays both seats, as two players. See :class:`tests.side_by_side.Side`."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.game_id = 0
        #: The latest reply that had a state.
        self.reply: Json = {}

    async def begin(self, fen: str, reversible_moves: int | None, max_turns: int | None) -> None:
        options: Json = {"fen": fen, "reversible_moves": reversible_moves, "max_turns": max_turns, "clock": None}
        self.reply = await self.client.new_game(WHITE_PLAYER, BLACK_PLAYER, variant="rbc", brief=True, **options)
        self.game_id = self.reply["game_id"]

    async def opponent_capture(self) -> Square | None:
        await self._ask("wait", timeout=0, actions=True)
        return _square(self.reply["state"]["opponent_capture"])

    async def actions(self) -> tuple[list[Square], list[Move]]:
        """Return those that came with the state, at the beginning of the turn."""
        return (
            [chess.parse_square(name) for name in self.reply["sense_actions"]],
            [Move.from_uci(uci) for uci in self.reply["move_actions"]],
        )

    async def sense(self, square: Square | None) -> Sequence[tuple[Square, Piece | None]]:
        await self._ask("sense", square=None if square is None else chess.SQUARE_NAMES[square])
        return [(chess.parse_square(name), _piece(code)) for name, code in self.reply["sense_result"]]

    async def move(self, requested: Move | None) -> MoveResult:
        if requested == Move.null():
            raise ValueError("reconchess allows no null move; on the wire it is a pass")
        await self._ask("move", move=_uci(requested))
        reply = self.reply
        return _move(reply["requested_move"]), _move(reply["taken_move"]), _square(reply["capture_square"])

    async def resign(self) -> None:
        await self._ask("end_game", termination=f"resignation_{self.reply['state']['turn']}")

    async def result(self) -> tuple[Color | None, str] | None:
        return _RESULTS.get(self.reply["state"]["termination"])

    async def history(self) -> str:
        reply = await self.client.ask("history", game_id=self.game_id)
        assert reply["error"] is None, reply
        record = reply["history"]
        assert (record["white_name"], record["black_name"]) == (str(WHITE_PLAYER), str(BLACK_PLAYER))
        return json.dumps(record | {"white_name": None, "black_name": None})

    async def _ask(self, kind: str, **fields: object) -> None:
        """Ask as the side to move.

        :raises ValueError: the move is not among the move actions.
        """
        player = WHITE_PLAYER if self.reply["state"]["turn"] == "white" else BLACK_PLAYER
        reply = await self.client.ask(kind, game_id=self.game_id, player=player, brief=True, **fields)
        if reply.get("code") == "illegal_move":
            raise ValueError(reply["error"])
        assert reply["error"] is None, reply
        self.reply = reply


def _uci(move: Move | None) -> str | None:
    return None if move is None else move.uci()


def _move(uci: str | None) -> Move | None:
    return None if uci is None else Move.from_uci(uci)


def _square(name: str | None) -> Square | None:
    return None if name is None else chess.parse_square(name)


def _piece(code: str | None) -> Piece | None:
    if code is None:
        return None
    return Piece(chess.PIECE_SYMBOLS.index(code[1].lower()), code[0] == "w")
