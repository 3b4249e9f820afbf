"""The seats of a game, by python-chess's colours: who holds them, and a game made for the holder of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import chess

from gm_client.blocking import GameState, NewGameReply
from gm_client.trio_client import Client
from gm_protocol.state import COLOR_NAMES


def player_in(state: GameState, color: chess.Color) -> int | None:
    """Return the player of a seat; None if nobody has taken it."""
    return state["player_white"] if color else state["player_black"]


async def made_as(
    client: Client, opponent: int | str | None, color: chess.Color, fields: Mapping[str, Any]
) -> NewGameReply:
    """Make a game in which the client's player has the given colour."""
    if isinstance(opponent, str):
        return await client.challenge(opponent, color=COLOR_NAMES[color], brief=True, **fields)
    white, black = (client.player, opponent) if color else (opponent, client.player)
    return await client.new_game(white, black, brief=True, **fields)
