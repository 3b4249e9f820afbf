"""What a game's row says of its seats."""

from __future__ import annotations

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gm_protocol.messages import GameStatus
from gmd.games.events import Created, Joined
from gmd.games.game import Seating, Standing

from .store import GameAppend

#: The columns that hold a :class:`~gmd.games.game.Seating`, in its order.
COLUMNS = ("player_white", "player_black", "white_taken", "black_taken")


def seating_of(created: Created, standing: Standing) -> Seating:
    """Who the seats are for, and who has taken them."""
    return standing.seating or Seating(created.player_white, created.player_black, True, True)


def status_of(standing: Standing) -> GameStatus:
    """The status in a listing: a game that is on is live once both seats are taken."""
    if standing.termination != "available_move":
        return "over"
    return "live" if standing.seating is None or standing.seating.complete else "open"


def has_registered(white: int | None, black: int | None) -> bool:
    """Whether one of the players of a game, or of those its seats are kept for, is a registered one."""
    return any(player is not None and FIRST_REGISTERED <= player <= LAST_REGISTERED for player in (white, black))


def has_joined(append: GameAppend) -> bool:
    """Whether somebody takes a seat with it."""
    return append.standing.seating is not None and any(type(event) is Joined for event in append.events)
