"""Tells games that nobody plays any more from games in which somebody waits.

Both questions are about games without a clock: a game with a clock ends by itself.
"""

from __future__ import annotations

import time
from collections.abc import Collection

import trio

from gm_client.blocking import Color, GameState
from gm_client.trio_client import Client
from gmd.utc import read_time

#: Seconds without a move after which a game is taken to be abandoned when a bot comes for it.
ABANDONED_SECONDS = 3600.0
#: Seconds that a bot which is to leave goes on waiting for an opponent's move.
LEAVING_SECONDS = 30.0
#: Seconds of one request; the server may answer sooner.
MAX_WAIT_SECONDS = 600.0


async def abandoned_since(client: Client, state: GameState, seconds: float) -> str | None:
    """Return when a game was last moved in, as the server writes it, if that is too long ago; else None.

    :param seconds: how long is too long, by this machine's clock.
    """
    if state["clock"] is not None:
        return None
    rows = (await client.games(before=state["game_id"] + 1, limit=1))["games"]
    if not rows or rows[0]["game_id"] != state["game_id"]:  # removed meanwhile
        return None
    changed: str | None = rows[0].get("changed")  # an older server's rows have none
    return changed if changed is not None and time.time() - read_time(changed) > seconds else None


async def falls_silent(client: Client, game_id: int, colors: Collection[Color], seconds: float) -> bool:
    """Wait until a game is over, or nobody moves where it is the turn of somebody else; return whether it was that.

    :param client: asks as nobody, so that no clock starts and nothing counts as being there.
    :param colors: the sides whose moves are not waited for.
    :param seconds: how long the others may take for a move.
    """
    state = (await client.state(game_id, player=None, brief=True))["state"]
    ply, since = state["ply_index"], trio.current_time()
    while state["clock"] is None and state["phase"] != "over":
        if state["ply_index"] != ply or state["turn"] in colors:
            ply, since = state["ply_index"], trio.current_time()
        left = since + seconds - trio.current_time()
        if left <= 0:
            return True
        shown = await client.wait(game_id, player=None, ply=ply, timeout=min(left, MAX_WAIT_SECONDS), brief=True)
        assert shown["state"] is not None  # only a wait for several games has none
        state = shown["state"]
    return False
