"""``POST /play``: a new game, against a bot that is always there, a player by name, or whoever opens its link."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

from litestar import Request, Response, post
from litestar.status_codes import HTTP_303_SEE_OTHER
from msgspec import Meta, Struct

from gm_protocol.errors import BadRequest, Unauthorized
from gm_protocol.options import ClockText, Variant

from .forms import read_form
from .rendering import redirect
from .visit import FromVisit, Visit
from .words import variant_name

#: The opponent of a game whose link is shared.
LINK = "link"
#: Seconds for which the answer waits for a bot. One that has no place free takes longer, and the page says so.
BOT_SECONDS = 3.0


class Play(Struct, frozen=True):
    """The form.

    ``opponent`` is ``link``, ``bot:`` and the id of a bot that is always there, or ``name`` for the player ``name``.
    """

    opponent: Annotated[str, Meta(max_length=100)] = LINK
    name: Annotated[str, Meta(max_length=100)] = ""
    variant: Variant = "standard"
    color: Literal["white", "black", "random"] = "random"
    clock: ClockText | None = None


@post("/play", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def play(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Make the game, and send the browser to its page."""
    form = await read_form(request, visit, Play)
    visit = visit.acting()
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


async def make_game(visit: Visit, form: Play) -> int:
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


def _bot(visit: Visit, form: Play) -> int:
    """Return the player of a bot that is always there."""
    for player, kind in visit.backend.services.roster.bots():
        if form.opponent == f"bot:{player}":
            if form.variant not in kind.variants:
                raise BadRequest(f"opponent: {kind.name} does not play {variant_name(form.variant)}; choose another")
            return player
    raise BadRequest("opponent: this bot is not here now; choose another one")
