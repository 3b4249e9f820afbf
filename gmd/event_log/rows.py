"""The rows of an append other than its events, and the columns of a game's row for its seats and players."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gm_protocol.endings import Ending
from gm_protocol.messages import GameStatus
from gm_protocol.options import VARIANT_TRAITS
from gmd.event_log.interface import RankedResult
from gmd.event_log.store import GameAppend
from gmd.games.events import Created, Joined
from gmd.games.game import GameSummary, Seating

#: The columns that hold a :class:`~gmd.games.game.Seating`, in its order.
COLUMNS = ("player_white", "player_black", "white_taken", "black_taken")


def seating_of(created: Created, summary: GameSummary) -> Seating:
    """Return the players that the seats are for, and whether they have taken them."""
    return summary.seating or Seating(created.player_white, created.player_black, True, True)


def status_of(summary: GameSummary) -> GameStatus:
    """Return the status in a listing: a game that is not over is live once both seats are taken."""
    if summary.over:
        return "over"
    return "live" if summary.seating is None or summary.seating.complete else "open"


def versions_of(created: Created) -> dict[str, int | None]:
    """Return the columns for the versions of the players' bots; they are None in an unranked game."""
    white, black = created.versions if is_ranked(created) else (None, None)
    return {"white_version": white, "black_version": black}


def is_ranked(created: Created) -> bool:
    """Return whether a game counts for ratings, which exist for blind chess only.

    The server creates no ranked game of another variant or with an open seat, but an imported file may have one.
    """
    named = created.player_white is not None and created.player_black is not None
    return created.ranked and named and VARIANT_TRAITS[created.options.variant].rated


def ranked_result(created: Created, ending: Ending | None) -> RankedResult | None:
    """Return a game's result for ratings; None if it has none. ``ending`` is None for a game in progress."""
    if not is_ranked(created) or ending is None or ending.called_off:
        return None
    assert created.player_white is not None
    assert created.player_black is not None
    of_white, of_black = created.versions
    return RankedResult(created.player_white, of_white, created.player_black, of_black, ending.winner)


def has_registered(white: int | None, black: int | None) -> bool:
    """Return whether one of a game's players, seated or invited, is registered."""
    return any(player is not None and FIRST_REGISTERED <= player <= LAST_REGISTERED for player in (white, black))


def has_joined(append: GameAppend) -> bool:
    """Return whether a seat is taken in an append."""
    return append.summary.seating is not None and any(type(event) is Joined for event in append.events)


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
