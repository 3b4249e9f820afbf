"""``/games``: all games, by status, variant and players, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from litestar import Request, get
from litestar.response import Template
from msgspec import Meta, Struct, convert, structs

from gm_protocol.messages import GameRow, GameStatus
from gm_protocol.options import Variant
from gmd.http.pages.answers import read_fields
from gmd.http.pages.home import ListedGame, line_of
from gmd.http.pages.rendering import page
from gmd.http.pages.visit import FromVisit, Visit

#: Rows of a page; rows that are asked for at a time, and how often at most, for the games of two players.
A_PAGE, ASKED, TIMES = 50, 100, 5
#: The names of the statuses.
STATUSES: dict[GameStatus, str] = {"open": "with an open seat", "live": "being played", "over": "finished"}


class GamesQuery(Struct, frozen=True):
    """What the query may hold: the filter, and only games with lower numbers.

    :ivar player: a player's name or number; ``opponent``: another's, whom it has played.
    """

    status: GameStatus | None = None
    variant: Variant | None = None
    player: Annotated[str, Meta(max_length=100)] = ""
    opponent: Annotated[str, Meta(max_length=100)] = ""
    before: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None


@dataclass(frozen=True, slots=True)
class GamesView:
    """What the page shows.

    :ivar fields: the filter, for the addresses of other pages.
    :ivar older: the number for the next page; None at the end.
    """

    query: GamesQuery
    lines: list[ListedGame]
    older: int | None

    @property
    def fields(self) -> dict[str, str]:
        """The filter without what it leaves open."""
        given = structs.asdict(structs.replace(self.query, before=None))
        return {name: value for name, value in given.items() if value}


@get("/games", include_in_schema=False)
async def games(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return a page of the list of games."""
    view = await games_view(visit, read_fields(request, GamesQuery))
    return page(visit, "games.html", view=view, statuses=STATUSES)


async def games_view(visit: Visit, query: GamesQuery) -> GamesView:
    """Return a page of the games that a filter leaves; none for a player that does not exist."""
    player, opponent = (_player(visit, name) for name in (query.player, query.opponent))
    if (query.player and player is None) or (query.opponent and opponent is None):
        return GamesView(query, [], None)
    if player is None:
        player, opponent = opponent, None
    rows, before = list[GameRow](), query.before
    for _ in range(TIMES):
        fields: dict[str, Any] = {"status": query.status, "variant": query.variant, "player": player, "before": before}
        ask = visit.ask_as_spectator if player is None else visit.ask
        reply = await ask("games", **fields, limit=ASKED)
        before = reply["before"]
        rows += [row for row in convert(reply["games"], list[GameRow]) if _is_between(row, player, opponent)]
        if len(rows) > A_PAGE or before is None:
            break
    older = rows[A_PAGE - 1].game_id if len(rows) > A_PAGE else before
    return GamesView(query, [await line_of(row, visit) for row in rows[:A_PAGE]], older)


def _player(visit: Visit, name: str) -> int | None:
    """Return the player of a name or a number; None for none."""
    if name.isascii() and name.isdigit():
        number = int(name)
        return number if number < 2**53 else None
    account = visit.backend.services.authenticator.registry.named(name.strip())
    return None if account is None else account.player


def _is_between(row: GameRow, player: int | None, opponent: int | None) -> bool:
    return opponent is None or {row.player_white, row.player_black} == {player, opponent}
