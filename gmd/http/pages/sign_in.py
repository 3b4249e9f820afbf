"""``/sign-in``, ``/sign-out`` and ``/register``: the accounts of registered players."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.response import Template
from litestar.status_codes import HTTP_303_SEE_OTHER, HTTP_400_BAD_REQUEST, HTTP_403_FORBIDDEN
from msgspec import Meta, Struct

from gm_protocol.base import PLAYER_NAME_RULE
from gm_protocol.errors import BadRequest, GmError, ShuttingDown, Unauthorized
from gmd.handlers.in_process import Refused
from gmd.handlers.permission import may_oversee
from gmd.handlers.register import MAX_PASSWORD, MIN_PASSWORD
from gmd.http.pages.error_pages import sentence_of
from gmd.http.pages.forms import read_form
from gmd.http.pages.home import mine_view
from gmd.http.pages.rendering import page, redirect
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.pages.visitor import COOKIE, LEFT, LEFT_COOKIE


class SignIn(Struct, frozen=True):
    """The form to sign in with. ``next`` is the page to go on to."""

    name: Annotated[str, Meta(max_length=64)] = ""
    password: Annotated[str, Meta(max_length=MAX_PASSWORD)] = ""
    next: str = "/"

    def __repr__(self) -> str:
        return f"SignIn(name={self.name!r})"


class RegistrationForm(SignIn, frozen=True):
    """The form to register with: the password is typed twice. ``invite`` is the server's code, if it wants one."""

    invite: Annotated[str, Meta(max_length=256)] = ""
    again: Annotated[str, Meta(max_length=MAX_PASSWORD)] = ""


class SpectatorKey(Struct, frozen=True):
    """The form to watch live games in full with."""

    spectator_key: Annotated[str, Meta(max_length=256)] = ""

    def __repr__(self) -> str:
        return "SpectatorKey()"


class SignOut(Struct, frozen=True):
    """The form to sign out with, or to come back."""


class GuestForm(Struct, frozen=True):
    """The form for a guest's name."""

    nickname: Annotated[str, Meta(max_length=100)] = ""


@get("/sign-in", include_in_schema=False)
async def sign_in_page(visit: FromVisit, request: Request[Any, Any, Any]) -> Template:
    """Return the form to sign in with."""
    return _form(visit, "sign_in.html", next=safe_path(request.query_params.get("next")))


@post("/sign-in", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def sign_in(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Authenticate a registered player by name and password, or by name and key."""
    form = await read_form(request, visit, SignIn)
    _check_serving(visit)
    try:
        account = await visit.backend.credentials.admit(form.name, form.password, visit.peer)
    except Unauthorized:
        sentence = "Name and password do not belong together. Check both."
        return _form(visit, "sign_in.html", HTTP_403_FORBIDDEN, sentence, form.name, safe_path(form.next))
    return redirect(visit.becoming(account.player), safe_path(form.next))


@post("/spectate", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def spectate(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Let a spectator with the key see live games in full."""
    form = await read_form(request, visit, SpectatorKey)
    try:
        may_oversee(form.spectator_key, visit.backend.services, visit.peer)
    except Unauthorized as error:
        return _form(visit, "sign_in.html", HTTP_403_FORBIDDEN, sentence_of(error))
    return redirect(visit.overseeing() if visit.backend.services.spectators.takes_key else visit, "/")


@post("/sign-out", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def sign_out(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """End the visitor's cookie, and take it away."""
    await read_form(request, visit, SignOut)
    gone = visit.leaving()
    if (cookie := request.cookies.get(COOKIE)) is not None:
        await visit.site.sessions.end(cookie)
        visit.site.live.sign_out(cookie)
    return redirect(gone, "/")


@get("/guest", include_in_schema=False)
async def guest(visit: FromVisit) -> Template:
    """Return the page of a guest about itself: its name, its games, and the way out; of others that of signing in."""
    if visit.player is None or visit.visitor.registered:
        return _form(visit, "sign_in.html", next="/")
    return page(visit, "guest.html", lines=await mine_view(visit), sentence="")


@post("/guest", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def rename(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Give a guest another name."""
    form = await read_form(request, visit, GuestForm)
    try:
        return redirect(visit.acting(form.nickname), "/")
    except BadRequest as error:
        lines = await mine_view(visit)
        status = HTTP_400_BAD_REQUEST
        return page(visit, "guest.html", status=status, lines=lines, sentence=sentence_of(error))


@post("/come-back", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def come_back(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Let a guest who has left in this browser come back."""
    await read_form(request, visit, SignOut)
    back = visit.returning()
    await visit.site.sessions.end(request.cookies[LEFT_COOKIE], LEFT)
    return redirect(back, "/")


@get("/register", include_in_schema=False)
async def register_page(visit: FromVisit, request: Request[Any, Any, Any]) -> Template:
    """Return the form to register with."""
    query = request.query_params
    return _form(visit, "register.html", next=safe_path(query.get("next")), invite=query.get("invite", "")[:256])


@post("/register", status_code=HTTP_303_SEE_OTHER, include_in_schema=False)
async def register(request: Request[Any, Any, Any], visit: FromVisit) -> Response[Any]:
    """Register a player with a name and a password, and sign it in.

    A player who has come by the link with the server's code is shown how to connect its bot, with its key.
    """
    form = await read_form(request, visit, RegistrationForm)
    try:
        if form.password != form.again:
            raise BadRequest("the two passwords differ: type the same one twice")
        made = await visit.ask_as_spectator(
            "register", name=form.name, password=form.password, invite=form.invite or None
        )
    except (GmError, Refused) as error:
        return _form(
            visit,
            "register.html",
            HTTP_400_BAD_REQUEST,
            sentence_of(error),
            form.name,
            safe_path(form.next),
            form.invite,
        )
    visit = visit.becoming(made["player"])
    if visit.backend.services.authenticator.wants_invite:
        return page(visit, "registered.html", key=made["key"])
    return redirect(visit, safe_path(form.next))


def safe_path(path: str | None) -> str:
    """Return a path of this server to go on to; the home page for anything else, such as another site's address."""
    if not path or not path.startswith("/") or path.startswith("//") or not path.isprintable() or "\\" in path:
        return "/"
    return path


def _form(
    visit: Visit,
    template: str,
    status: int = 200,
    sentence: str = "",
    name: str = "",
    next: str = "/",
    invite: str = "",
) -> Template:
    """Return a page with a form.

    :param sentence: why the form was refused; empty for a new one.
    """
    may_register = visit.backend.services.limits.max_registrations_per_hour > 0
    return page(
        visit,
        template,
        status=status,
        sentence=sentence,
        name=name,
        next=next,
        may_register=may_register,
        wants_invite=visit.backend.services.authenticator.wants_invite,
        invite=invite,
        takes_key=visit.backend.services.spectators.takes_key,
        min_password=MIN_PASSWORD,
        max_password=MAX_PASSWORD,
        name_rule=PLAYER_NAME_RULE,
    )


def _check_serving(visit: Visit) -> None:
    if visit.backend.game_port.stopping:
        raise ShuttingDown("the server is stopping; try again in a moment")
