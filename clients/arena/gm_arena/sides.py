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
    """Make a game in which the client's player has the given colour.

    :param opponent: an id, which makes a game that waits for that player; the name of a bot of the server's, which
        comes by itself; or that of a registered player who is online, and is challenged. None lets anybody join.
    """
    if isinstance(opponent, str):
        bots = {bot["name"]: bot["player"] for bot in client.bots}
        if opponent not in bots:
            return await client.challenge(opponent, color=COLOR_NAMES[color], brief=True, **fields)
        opponent = bots[opponent]
    white, black = (client.player, opponent) if color else (opponent, client.player)
    return await client.new_game(white, black, brief=True, **fields)
