"""The rows that an append comes to, beside its events."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from gmd.games.events import Created

from .seats import COLUMNS, seating_of, status_of, versions_of
from .store import GameAppend

#: The columns of :func:`new_row`, in its order.
NEW_COLUMNS = (
    *("game_id", "variant", *COLUMNS, "created", "white_version", "black_version", "clocked"),
    *("white_open", "black_open", "status", "termination", "ended"),
    *("events", "turn", "ply_index", "seconds_left", "changed"),
)


class Missed(Exception):
    """Something in the database is not as an append expects it to be."""


def seat_row(append: GameAppend, now: float) -> dict[str, Any]:
    """What changes in a game's row when somebody takes a seat; ``id`` is the game's."""
    summary = append.summary
    assert summary.seating is not None
    seating = dict(zip(COLUMNS, summary.seating, strict=True))
    return {"id": append.game_id, "status": status_of(summary), "changed": now, **seating}


def new_row(append: GameAppend, now: float) -> dict[str, Any]:
    """The row of a new game in the table of games.

    :raises Missed: it does not begin with its creation.
    """
    created, summary = append.events[0], append.summary
    if not isinstance(created, Created):
        raise Missed(f"game {append.game_id} does not begin with its creation: it has begun before")
    return {
        "game_id": append.game_id,
        "variant": created.options.variant,
        **dict(zip(COLUMNS, seating_of(created, summary), strict=True)),
        "created": created.created,
        **versions_of(created),
        "clocked": created.options.clock is not None,
        "white_open": True,
        "black_open": True,
        "status": status_of(summary),
        "termination": summary.termination,
        "ended": now if summary.over else None,
        "events": len(append.events),
        "turn": summary.turn,
        "ply_index": summary.ply_index,
        "seconds_left": summary.seconds_left,
        "changed": now,
    }


def token_key(player: int | None, token: bytes) -> bytes:
    """What a player's token is kept by."""
    return sha256(b"%b %b" % (str(player).encode(), token)).digest()


def token_row(append: GameAppend) -> dict[str, Any]:
    """The row of the token that a game is made under."""
    token = append.token
    assert token is not None
    key = token_key(token.player, token.token)
    return {"token": key, "game_id": append.game_id, "content": token.content}
