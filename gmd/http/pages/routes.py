"""The routes of all pages. To add one, name its handler here (:mod:`gmd.http.pages` has the rest)."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, Router, get
from litestar.di import Provide
from litestar.exceptions import HTTPException, NotFoundException
from litestar.params import PathParameter
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from gm_protocol.errors import GmError
from gmd.handlers.in_process import Refused
from gmd.http.backend import FromDaemon
from gmd.http.pages import (
    acting,
    aid,
    contests,
    counts,
    game,
    games,
    home,
    live_events,
    manual,
    new_game,
    players,
    queue,
    rules,
    sign_in,
)
from gmd.http.pages.error_pages import failed_page, http_page, refusal_page
from gmd.http.pages.site import site_of
from gmd.http.pages.visit import visit_of

#: Headers of every static file, beside the one that says how long it may be kept.
HEADERS = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}


@get("/static/{version:str}/{file:path}", include_in_schema=False)
async def static_file(
    backend: FromDaemon, version: Annotated[str, PathParameter()], file: Annotated[str, PathParameter()]
) -> Response[Any]:
    """Return a static file. Under the address of another version it is the present one, and is not to be kept."""
    static = site_of(backend).static
    found = static.find(file.lstrip("/"))
    if found is None:
        raise NotFoundException(f"static: there is no file {file}")
    kept = "public, max-age=31536000, immutable" if version == static.version else "no-cache"
    return Response(found.content, media_type=found.media_type, headers={"cache-control": kept, **HEADERS})


PAGE_ROUTES = Router(
    "/",
    route_handlers=[
        home.home,
        game.game,
        acting.act,
        acting.join,
        aid.aid,
        queue.queue,
        new_game.rematch,
        counts.counts,
        live_events.game_events,
        live_events.list_events,
        game.embed,
        contests.contests,
        contests.contest,
        games.games,
        players.players,
        players.ranked,
        players.player,
        new_game.play,
        sign_in.sign_in_page,
        sign_in.sign_in,
        sign_in.sign_out,
        sign_in.spectate,
        sign_in.register_page,
        sign_in.register,
        sign_in.guest,
        sign_in.rename,
        sign_in.come_back,
        rules.rules,
        rules.picture,
        rules.help_page,
        manual.manual,
        manual.manual_file,
        static_file,
    ],
    dependencies={"visit": Provide(visit_of, sync_to_thread=False)},
    exception_handlers={
        GmError: refusal_page,
        Refused: refusal_page,
        HTTPException: http_page,
        HTTP_500_INTERNAL_SERVER_ERROR: failed_page,
    },
)
