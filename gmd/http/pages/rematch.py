"""``POST /games/7/rematch``: the same game again, with the colours changed.

Both players may ask for it, in any order: the second one is led to the game that the first one has made. The seat of a
registered opponent is kept for it, as in any invitation; open ids are not asked, and the game is theirs at once.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, post
from litestar.status_codes import HTTP_303_SEE_OTHER
from msgspec import Struct, convert

from gm_protocol.errors import NotAPlayer, NotAvailable
from gm_protocol.messages import GameRow
from gm_protocol.state import GameState
from gmd.games.variants import VARIANTS
from gmd.http.seat import GameId
from gmd.in_process import Json

from .answers import ERRORS
from .forms import read_form
from .looking import look_at
from .new_game import begun_soon
from .rendering import redirect
from .visit import FromVisit, Visit

#: The games of the player's that are looked through for a rematch that the opponent has made.
LOOKED_THROUGH = 100
#: The options that are chosen anew.
_ANEW = frozenset(["position"])


class Nothing(Struct, frozen=True):
    """A form without fields."""


@post(
    "/games/{game_id:int}/rematch", status_code=HTTP_303_SEE_OTHER, include_in_schema=False, exception_handlers=ERRORS
)
async def rematch(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Make the rematch of a finished game, or join the one that the opponent has made, and show it."""
    await read_form(request, visit, Nothing)
    look = await look_at(visit, game_id)
    if look.seat is None:
        raise NotAPlayer("you did not play in this game")
    if not look.over:
        raise NotAvailable("this game is not over: play it to its end, or resign, before the rematch")
    async with visit.site.rematches.hold(game_id):  # both may ask at once
        made = await _joined_or_made(visit, look.state)
    if not _is_alone(look.state):
        await begun_soon(visit, made)
    return redirect(visit, f"/games/{made}")


def _is_alone(state: GameState) -> bool:
    """Return whether one player had both seats of a game."""
    return state.player_white == state.player_black


async def _joined_or_made(visit: Visit, state: GameState) -> int:
    row = await _made(visit, state)
    if row is None:
        return await _make(visit, state)
    if row.status == "open":
        await visit.ask("join", shows_presence=True, game_id=row.game_id, brief=True)
    return row.game_id


async def _made(visit: Visit, state: GameState) -> GameRow | None:
    """Return a game of the same players with changed colours, made after a game and not over; None for none."""
    for status in ("open", "live"):
        rows = (await visit.ask("games", status=status, variant=state.variant, limit=LOOKED_THROUGH))["games"]
        for row in convert(rows, list[GameRow]):
            swapped = (row.player_white, row.player_black) == (state.player_black, state.player_white)
            if swapped and row.game_id > state.game_id:
                return row
    return None


async def _make(visit: Visit, state: GameState) -> int:
    named: Json = {"seat": "white"} if _is_alone(state) else {}
    joined = await visit.ask("join", game_id=state.game_id, brief=True, **named)  # it shows the options again
    fields = rematch_fields(joined["options"])
    players = {"player_white": state.player_black, "player_black": state.player_white}
    reply = await visit.ask("new_game", shows_presence=True, brief=True, **players, **fields)
    game_id: int = reply["game_id"]
    return game_id


def rematch_fields(options: Json) -> Json:
    """Return the fields of ``new_game`` for the same options; a start that its variant draws is drawn anew."""
    anew = _ANEW | ({"fen"} if VARIANTS[options["variant"]].draws_start else set())
    return {name: value for name, value in options.items() if name not in anew}
