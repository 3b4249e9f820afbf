"""``POST /games/7/act`` and ``/join``: what players do on a game's page, by a form or by its script.

A form is answered with the page again. A script, which accepts JSON, is answered with the game's live view, or with
the refusal as JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar import Request, Response, post
from litestar.status_codes import HTTP_200_OK, HTTP_303_SEE_OTHER
from msgspec import UNSET, Meta, Struct

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import GmError, IllegalMove, NotAPlayer, Stale, quote
from gm_protocol.state import Color
from gmd.handlers.in_process import Refused
from gmd.http.errors import HttpError, retry_after
from gmd.http.pages.answers import ERRORS, IN_PROGRESS
from gmd.http.pages.error_pages import sentence_of, status_of, wants_page
from gmd.http.pages.forms import read_form
from gmd.http.pages.live_page import TypedMove, live_page
from gmd.http.pages.live_view import live_view_for
from gmd.http.pages.looking import Look, look_at, look_live
from gmd.http.pages.rendering import redirect
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.seat import GameId

#: What a player can do. "move" offers a draw if the form says so. "ready" only shows that the player is present.
Kind = Literal["ready", "move", "pass", "sense", "sense_nothing", "resign", "accept_draw", "claim_draw", "call_off"]


#: The message for a visitor whose page is out of date.
_GONE_ON = "The game has gone on since this page was made: this is how it stands now."
#: What ends a game.
_ENDINGS = {"resign": Cause.RESIGNATION, "accept_draw": Cause.AGREEMENT, "claim_draw": Cause.DRAW_CLAIM}


class Act(Struct, frozen=True):
    """The form.

    :ivar move: in SAN or UCI; in rbc in UCI.
    :ivar ply: the ply that the page showed: a form that is sent twice acts once.
    :ivar seat: the seat to act for, for a player who holds both.
    :ivar since: for a script: the ply after which it wants the moves.
    """

    kind: Kind
    move: Annotated[str, Meta(max_length=100)] = ""
    square: Annotated[str, Meta(max_length=100)] = ""
    ply: Annotated[int, Meta(ge=0, le=10**9)] | None = None
    seat: Color | None = None
    offer_draw: bool = False
    flip: bool | None = None
    since: Annotated[int, Meta(ge=0, le=10**9)] | None = None


class SeatForm(Struct, frozen=True):
    """The form for a seat: without one, it is the seat that is kept for the visitor, or a free one.

    :ivar nickname: the name that a guest wants to go by.
    """

    seat: Color | None = None
    nickname: Annotated[str, Meta(max_length=100)] | None = None


@post("/games/{game_id:int}/act", status_code=HTTP_303_SEE_OTHER, include_in_schema=False, exception_handlers=ERRORS)
async def act(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Do what a form says in the visitor's game."""
    form = await read_form(request, visit, Act)
    look = await look_at(visit, game_id, form.seat)
    try:
        await _do(visit, look, form)
    except (GmError, Refused) as refusal:
        if not wants_page(request):
            return _refused(refusal, _sentence(refusal, look, form))
        typed = TypedMove(form.move, form.square, _sentence(refusal, look, form))
        shown = await look_live(visit, game_id, form.seat)
        return await live_page(visit, shown, flip=form.flip, named=form.seat, typed=typed, status=status_of(refusal))
    if wants_page(request):
        return redirect(visit, f"/games/{game_id}{_query(form)}")
    view = live_view_for(visit, await look_live(visit, game_id, form.seat), form.since)
    return Response(view, status_code=HTTP_200_OK, headers=IN_PROGRESS)


@post("/games/{game_id:int}/join", status_code=HTTP_303_SEE_OTHER, include_in_schema=False, exception_handlers=ERRORS)
async def join(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Take a seat of a game, and send the browser to its page."""
    form = await read_form(request, visit, SeatForm)
    visit = visit.acting(form.nickname)
    named = {} if form.seat is None else {"seat": form.seat}
    await visit.ask("join", shows_presence=True, game_id=game_id, brief=True, **named)
    return redirect(visit, f"/games/{game_id}")


async def _do(visit: Visit, look: Look, form: Act) -> None:
    """Send the request of the protocol that a form means.

    :raises NotAPlayer: the visitor has no seat in the game.
    :raises Refused: the game refuses it.
    """
    if look.seat is None:
        raise NotAPlayer("you do not play in this game")
    fields: dict[str, Any] = {"game_id": look.state.game_id, "brief": True}
    named = {} if form.seat is None else {"seat": form.seat}
    match form.kind:
        case "ready":
            await _ask(visit, "state", **fields, **named)
        case "move":
            move = _uci(form.move) if look.variant.senses else form.move.strip()
            asked = {"move": move, "ply": form.ply, "offer_draw": form.offer_draw, **named}
            await _ask(visit, "move", **fields, **asked)
        case "pass":
            await _ask(visit, "move", **fields, move=None, ply=form.ply, **named)
        case "sense" | "sense_nothing":
            square = form.square.strip().lower() if form.kind == "sense" else None
            await _ask(visit, "sense", **fields, square=square, ply=form.ply, **named)
        case "resign" | "accept_draw" | "claim_draw":
            ending = Ending.by(_ENDINGS[form.kind], look.seat)
            await _ask(visit, "end_game", **fields, termination=ending.termination, **named)
        case "call_off":
            await _ask(visit, "decline", **fields)


async def _ask(visit: Visit, kind: str, **fields: Any) -> None:
    await visit.ask(kind, shows_presence=True, **fields)


def _uci(typed: str) -> str:
    """Return a move as people type it in UCI: "E2-E4" is e2e4."""
    return "".join(each for each in typed.lower() if each.isalnum())


def _query(form: Act) -> str:
    fields = [*([] if form.flip is None else [f"flip={form.flip:d}"]), *([f"view={form.seat}"] if form.seat else [])]
    return f"?{'&'.join(fields)}" if fields else ""


def _sentence(refusal: GmError | Refused, look: Look, form: Act) -> str:
    """Return why an action was refused, for people."""
    if refusal.code == Stale.code:
        return _GONE_ON
    if refusal.code == IllegalMove.code and form.kind == "move":
        if look.variant.senses:
            return f"{quote(form.move)} is not a move that you can ask for. Moves are written as g1f3."
        return f"{quote(form.move)} is not a legal move here. Moves are written as Nf3 or g1f3."
    return sentence_of(refusal)


def _refused(refusal: GmError | Refused, sentence: str) -> Response[Any]:
    seconds = retry_after(refusal)
    body = HttpError(sentence, refusal.code, UNSET if seconds is None else seconds)
    headers = {**IN_PROGRESS, **({} if seconds is None else {"retry-after": str(seconds)})}
    return Response(body, status_code=status_of(refusal), headers=headers)
