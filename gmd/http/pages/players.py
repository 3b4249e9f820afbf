"""``/players/17``: a player. ``/ranked``: the whole ranked table."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter
from litestar.response import Template
from msgspec import Meta, Struct, convert

from gm_protocol.ranked import LeaderboardRow

from .answers import read_fields
from .player_view import player_view
from .rendering import page
from .visit import FromVisit

#: Rows on a page of the ranked table.
A_PAGE = 100
#: The highest id of a player.
LAST_ID = 2**63 - 1


class TableQuery(Struct, frozen=True):
    """What the query of the ranked table may hold: how many rows to skip."""

    after: Annotated[int, Meta(ge=0, le=10**9)] = 0


class PlayerQuery(Struct, frozen=True):
    """What the query of a player's page may hold: only finished games with lower numbers."""

    before: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None


@get("/ranked", include_in_schema=False)
async def ranked(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return a page of the ranked table."""
    after = read_fields(request, TableQuery).after
    reply = await visit.ask("leaderboard", limit=A_PAGE, after=after)
    rows = convert(reply["leaderboard"], list[LeaderboardRow])
    return page(visit, "ranked.html", rows=rows, games=reply["games"], after=after, more=reply["after"], size=A_PAGE)


@get("/players/{player:int}", include_in_schema=False)
async def player(
    request: Request[Any, Any, Any], visit: FromVisit, player: Annotated[int, PathParameter()]
) -> Template:
    """Return a player's page. A player without a game or a rating has none, registered or not."""
    query = read_fields(request, PlayerQuery)
    view = await player_view(visit, player, query.before) if player <= LAST_ID else None
    if view is None:
        raise NotFoundException
    return page(visit, "player.html", view=view, first=query.before is None)
