"""The rows of an append other than its events."""

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
    """A database state that an append did not expect."""


def seat_row(append: GameAppend, now: float) -> dict[str, Any]:
    """Return the changes of a game's row when a seat is taken; ``id`` is the game's."""
    summary = append.summary
    assert summary.seating is not None
    seating = dict(zip(COLUMNS, summary.seating, strict=True))
    return {"id": append.game_id, "status": status_of(summary), "changed": now, **seating}


def new_row(append: GameAppend, now: float) -> dict[str, Any]:
    """Return the row of a new game in the table of games.

    :raises Missed: the first event is not the game's creation.
    """
    created, summary = append.events[0], append.summary
    if not isinstance(created, Created):
        raise Missed(f"game {append.game_id} does not begin with its creation: the log has its beginning already")
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
    """Return the digest under which a player's token is stored."""
    return sha256(b"%b %b" % (str(player).encode(), token)).digest()


def token_row(append: GameAppend) -> dict[str, Any]:
    """Return the row of the token under which a game is created."""
    token = append.token
    assert token is not None
    key = token_key(token.player, token.token)
    return {"token": key, "game_id": append.game_id, "content": token.content}
