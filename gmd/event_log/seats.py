"""What a game's row says of its seats."""

from __future__ import annotations

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gm_protocol.endings import Ending
from gm_protocol.messages import GameStatus
from gmd.games.events import Created, Joined
from gmd.games.game import GameSummary, Seating

from .interface import RankedResult
from .store import GameAppend

#: The columns that hold a :class:`~gmd.games.game.Seating`, in its order.
COLUMNS = ("player_white", "player_black", "white_taken", "black_taken")


def seating_of(created: Created, summary: GameSummary) -> Seating:
    """Who the seats are for, and who has taken them."""
    return summary.seating or Seating(created.player_white, created.player_black, True, True)


def status_of(summary: GameSummary) -> GameStatus:
    """The status in a listing: a game that is on is live once both seats are taken."""
    if summary.over:
        return "over"
    return "live" if summary.seating is None or summary.seating.complete else "open"


def versions_of(created: Created) -> dict[str, int | None]:
    """The columns that hold the versions of the players' bots: empty where the game is not ranked."""
    white, black = created.versions if is_ranked(created) else (None, None)
    return {"white_version": white, "black_version": black}


def is_ranked(created: Created) -> bool:
    """Whether it counts for somebody's rating, of which there is one, in blind chess.

    Nothing makes a ranked game of another variant, or for anybody who comes, but a file may have one.
    """
    named = created.player_white is not None and created.player_black is not None
    return created.ranked and named and created.options.variant == "rbc"


def ranked_result(created: Created, ending: Ending | None) -> RankedResult | None:
    """What a game that ended so, or is on, is for ratings; None where it is nothing."""
    if not is_ranked(created) or ending is None or ending.called_off:
        return None
    assert created.player_white is not None
    assert created.player_black is not None
    of_white, of_black = created.versions
    return RankedResult(created.player_white, of_white, created.player_black, of_black, ending.winner)


def has_registered(white: int | None, black: int | None) -> bool:
    """Whether one of the players of a game, or of those its seats are kept for, is a registered one."""
    return any(player is not None and FIRST_REGISTERED <= player <= LAST_REGISTERED for player in (white, black))


def has_joined(append: GameAppend) -> bool:
    """Whether somebody takes a seat with it."""
    return append.summary.seating is not None and any(type(event) is Joined for event in append.events)
