"""The columns of a game's row that concern its seats and players."""

from __future__ import annotations

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gm_protocol.endings import Ending
from gm_protocol.messages import GameStatus
from gm_protocol.options import VARIANT_TRAITS
from gmd.games.events import Created, Joined
from gmd.games.game import GameSummary, Seating

from .interface import RankedResult
from .store import GameAppend

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
