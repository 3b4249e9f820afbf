"""The routes of all pages. To add a page, name its handler here (:mod:`gmd.http.pages` has the rest)."""

from __future__ import annotations

from litestar import Router
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from gm_protocol.errors import GmError
from gmd.in_process import Refused

from . import (
    acting,
    aid,
    contests,
    counts,
    embed,
    events,
    game,
    home,
    new_game,
    players,
    rematch,
    sign_in,
    static_route,
)
from .error_pages import failed_page, http_page, refusal_page
from .visit import visit_of

PAGE_ROUTES = Router(
    "/",
    route_handlers=[
        home.home,
        game.game,
        acting.act,
        acting.join,
        aid.aid,
        rematch.rematch,
        counts.counts,
        events.game_events,
        events.list_events,
        embed.embed,
        contests.contests,
        contests.contest,
        players.ranked,
        players.player,
        new_game.play,
        sign_in.sign_in_page,
        sign_in.sign_in,
        sign_in.sign_out,
        sign_in.spectate,
        sign_in.register_page,
        sign_in.register,
        static_route.static_file,
    ],
    dependencies={"visit": Provide(visit_of, sync_to_thread=False)},
    exception_handlers={
        GmError: refusal_page,
        Refused: refusal_page,
        HTTPException: http_page,
        HTTP_500_INTERNAL_SERVER_ERROR: failed_page,
    },
)
