"""``POST /play``: a new game, against a bot, a player by name, or whoever opens its link. ``POST /games/7/rematch``.

Both may ask for a rematch, in any order: the second one is led to the game that the first one has made. The seat
of a registered opponent is kept for it, as in any invitation; open ids are not asked, and the game is theirs at once.
"""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

from litestar import Request, Response, post
from litestar.status_codes import HTTP_303_SEE_OTHER
from msgspec import Meta, Struct, convert

from gm_protocol.errors import BadRequest, NotAPlayer, NotAvailable, Unauthorized
from gm_protocol.messages import GameRow
from gm_protocol.options import ClockText, Variant
from gm_protocol.state import GameState
from gmd.games.variants import VARIANTS
from gmd.handlers.in_process import Json
from gmd.http.pages.answers import ERRORS
from gmd.http.pages.forms import read_form
from gmd.http.pages.home import LINK
from gmd.http.pages.looking import look_at
from gmd.http.pages.rendering import redirect
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.pages.words import variant_name
from gmd.http.seat import GameId

#: Seconds for which the answer waits for a bot. One that has no place free takes longer, and the page says so.
BOT_SECONDS = 3.0


class PlayForm(Struct, frozen=True):
    """The form.

    ``opponent`` is ``link``, ``bot:`` and the id of a bot that is always there, or ``name`` for the player ``name``.
    """

    opponent: Annotated[str, Meta(max_length=100)] = LINK
    name: Annotated[str, Meta(max_length=100)] = ""
    variant: Variant = "standard"
    color: Literal["white", "black", "random"] = "random"
    clock: ClockText | None = None
    nickname: Annotated[str, Meta(max_length=100)] | None = None


@post("/play", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def play(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Make the game, and send the browser to its page."""
    form = await read_form(request, visit, PlayForm)
    visit = visit.acting(form.nickname)
    game_id = await make_game(visit, form)
    await begun_soon(visit, game_id)
    return redirect(visit, f"/games/{game_id}")


async def begun_soon(visit: Visit, game_id: int) -> None:
    """Note that the player is present, and wait a little if the opponent is a bot of this server's.

    Then the bot has accepted, and has moved if it has White, when the page is shown.
    """
    state = (await visit.ask("state", shows_presence=True, game_id=game_id, brief=True))["state"]
    if {state["player_white"], state["player_black"]} & {player for player, _ in visit.backend.services.roster.bots()}:
        await visit.ask("wait", shows_presence=True, game_id=game_id, timeout=BOT_SECONDS, brief=True)


async def make_game(visit: Visit, form: PlayForm) -> int:
    """Return the id of the game that a form asks for.

    :raises BadRequest: there is no such bot, or it does not play the variant.
    :raises Unauthorized: a guest names a player.
    :raises Refused: the game cannot be made.
    """
    color = secrets.choice(["white", "black"]) if form.color == "random" else form.color
    terms: dict[str, Any] = {"variant": form.variant, "clock": form.clock, "brief": True}
    if form.opponent == "name":
        if not visit.visitor.registered:
            raise Unauthorized("name: only registered players invite others by name; sign in first")
        wanted = {} if form.color == "random" else {"color": color}
        return await _made(visit, "challenge", opponent=form.name, **wanted, **terms)
    other = None if form.opponent == LINK else _bot(visit, form)
    white, black = (visit.player, other) if color == "white" else (other, visit.player)
    return await _made(visit, "new_game", player_white=white, player_black=black, **terms)


async def _made(visit: Visit, kind: str, **fields: Any) -> int:
    reply = await visit.ask(kind, shows_presence=True, **fields)
    game_id: int = reply["game_id"]
    return game_id


def _bot(visit: Visit, form: PlayForm) -> int:
    """Return the player of a bot that is always there."""
    for player, kind in visit.backend.services.roster.bots():
        if form.opponent == f"bot:{player}":
            if form.variant not in kind.variants:
                raise BadRequest(f"opponent: {kind.name} does not play {variant_name(form.variant)}; choose another")
            return player
    raise BadRequest("opponent: this bot is not here now; choose another one")


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
    row = await _row_of(visit, state)
    if row is None:
        return await _make(visit, state)
    if row.status == "open":
        await visit.ask("join", shows_presence=True, game_id=row.game_id, brief=True)
    return row.game_id


async def _row_of(visit: Visit, state: GameState) -> GameRow | None:
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
