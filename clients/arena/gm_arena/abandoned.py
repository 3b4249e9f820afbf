"""Detection of abandoned games and of opponents who have stopped moving.

Both concern games without a clock: a game with a clock ends by itself.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import datetime

import chess
import trio

from gm_client.blocking import GameState
from gm_client.trio_client import Client
from gm_protocol.state import side_of

#: Seconds without a move after which a bot treats a game as abandoned and does not play it.
ABANDONED_SECONDS = 3600.0
#: Seconds that a bot which is about to leave keeps waiting for an opponent's move.
LEAVING_SECONDS = 30.0
#: Longest wait of one request, in seconds; the server may answer sooner.
MAX_WAIT_SECONDS = 600.0


async def abandoned_since(client: Client, state: GameState, seconds: float) -> str | None:
    """Return the time of a game's last move, as the server writes it, if that is too long ago; else None.

    :param seconds: the age, by this machine's clock, from which a game counts as abandoned.
    """
    if state["clock"] is not None:
        return None
    rows = (await client.games(before=state["game_id"] + 1, limit=1))["games"]
    if not rows or rows[0]["game_id"] != state["game_id"]:  # removed meanwhile
        return None
    changed: str | None = rows[0].get("changed")  # rows of older servers lack the field
    return (
        changed if changed is not None and time.time() - datetime.fromisoformat(changed).timestamp() > seconds else None
    )


async def falls_silent(client: Client, game_id: int, colors: Collection[chess.Color], seconds: float) -> bool:
    """Wait until a game is over or the opponent has been silent too long; return True for silence.

    :param client: makes its requests without a player, so that no clock starts and no player counts as present.
    :param colors: the sides whose moves are not waited for.
    :param seconds: seconds that the others may take for a move.
    """
    state = (await client.state(game_id, player=None, brief=True))["state"]
    ply, since = state["ply_index"], trio.current_time()
    while state["clock"] is None and state["phase"] != "over":
        if state["ply_index"] != ply or side_of(state["turn"]) in colors:
            ply, since = state["ply_index"], trio.current_time()
        left = since + seconds - trio.current_time()
        if left <= 0:
            return True
        shown = await client.wait(game_id, player=None, ply=ply, timeout=min(left, MAX_WAIT_SECONDS), brief=True)
        assert shown["state"] is not None  # only a wait for several games has none
        state = shown["state"]
    return False
