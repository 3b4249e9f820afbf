"""The live view of a game for a visitor, as scripts get it."""

from __future__ import annotations

from .game_view import players_of
from .live_view import LiveView, live_view, part_of
from .looking import Look
from .rendering import part
from .visit import Visit


def live_view_for(visit: Visit, look: Look, since: int | None) -> LiveView:
    """Return the live view of a game. It is the same for all viewers of a kind.

    :param look: as :func:`.look_live` returns it.
    :param since: the ply after which moves are wanted; None for no moves.
    """
    html = part(visit.site, "live_part.html", view=part_of(look, names_for(visit, look)), clocks=False)
    return live_view(look, since, html)


def names_for(visit: Visit, look: Look) -> dict[int, str]:
    """Return the names of a game's players."""
    return {player: visit.name_of(player) or "" for player in players_of(look.state)}
