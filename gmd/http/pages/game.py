"""``/games/7``, the same as ``.svg``, ``.png``, ``.pgn``, ``.json`` and others, and ``/embed/7``."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter

from gm_protocol.errors import NotAvailable
from gm_protocol.state import GameState
from gmd.http.pages.answers import (
    ERRORS,
    FINISHED,
    IN_PROGRESS,
    SVG,
    Query,
    entity_tag,
    file,
    is_known,
    read_query,
    unchanged,
)
from gmd.http.pages.counting import Counts, Kind
from gmd.http.pages.counts import counts_of, counts_picture
from gmd.http.pages.drawing import Picture, draw
from gmd.http.pages.game_view import GameView, Wanted, view_steps
from gmd.http.pages.live_page import live_page
from gmd.http.pages.live_view import names_for
from gmd.http.pages.looking import Look, look_at, look_live, past_steps, record_in, with_past, worked
from gmd.http.pages.painting import paint_steps
from gmd.http.pages.picture_view import needs_past, picture_steps, shaded, side_of_view
from gmd.http.pages.rendering import page, policy
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.seat import GameId
from gmd.version import VERSION

#: A game's number, and the kind of the file.
_NAME = re.compile(r"([0-9]{1,16})(?:\.(svg|png|pgn|json|counts\.svg|history\.json))?", re.ASCII)
#: What stands in place of a hidden history.
_HIDDEN = b'{"pgn":null,"moves":null,"history":null,"error":null}'

PNG, PGN, JSON = "image/png", "application/x-chess-pgn", "application/json"


@get("/games/{name:str}", include_in_schema=False, exception_handlers=ERRORS)
async def game(
    request: Request[Any, Any, Any], visit: FromVisit, name: Annotated[str, PathParameter()]
) -> Response[Any]:
    """Return a game's page, or the file that its name ends with."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise NotFoundException
    game_id, query = int(found[1]), read_query(request)
    if found[2] is None:
        return await _page(request, visit, game_id, query)
    if found[2] == "counts.svg":
        return await counts_picture(request, visit, game_id, query)
    if found[2] == "svg":
        return await _picture(request, visit, game_id, query, SVG, _drawn)
    if found[2] == "png":
        return await _picture(request, visit, game_id, query, PNG, _painted)
    if found[2] == "history.json":
        return await _record(request, visit, game_id, query)
    return await (_pgn if found[2] == "pgn" else _json)(request, visit, game_id, query)


async def _page(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    """Return the page of a game, or a part of it: of its latest ply while it is played, or of any ply."""
    if query.ply is None and not query.part:
        look = await look_live(visit, game_id, query.seat)
        if not look.over:
            return await live_page(visit, look, flip=query.flip, named=query.seat)
    else:
        look = await look_at(visit, game_id, query.seat)
    look = await with_past(visit, look)
    view = await viewed(visit, look, query.wanted_from(look.seat), moves=not query.part)
    headers = {} if look.over else {"cache-control": IN_PROGRESS["cache-control"]}
    name = "position.html" if query.part else "game.html"
    return page(visit, name, headers=headers, view=view, plays=look.seat is not None)


async def viewed(visit: Visit, look: Look, wanted: Wanted, *, moves: bool) -> GameView:
    """Return what a page shows of a game."""
    counts = await _counts_for(visit, look, wanted.belief)
    return await worked(visit, view_steps(look, wanted, names_for(visit, look), moves=moves, counts=counts))


async def _counts_for(visit: Visit, look: Look, belief: Kind | None) -> Counts | None:
    """Return what the players could know, if a belief is wanted of a game that has them."""
    is_there = belief is not None and look.over and look.variant.senses
    return await counts_of(visit, look) if is_there else None


async def _picture(
    request: Request[Any, Any, Any],
    visit: Visit,
    game_id: int,
    query: Query,
    media_type: str,
    steps: Callable[[Look, Query, Counts | None], Generator[None, None, bytes]],
) -> Response[Any]:
    look = await look_at(visit, game_id, query.seat)
    if needs_past(look, look.ply(query.ply)):
        look = await with_past(visit, look)
    counts = await _counts_for(visit, look, query.belief)
    return file(request, await worked(visit, steps(look, query, counts)), media_type, over=look.over)


def _drawn(look: Look, query: Query, counts: Counts | None) -> Generator[None, None, bytes]:
    picture = yield from _picture_steps(look, query, counts)
    yield
    return draw(picture, size=query.size, flip=bool(query.flip)).encode()


def _painted(look: Look, query: Query, counts: Counts | None) -> Generator[None, None, bytes]:
    picture = yield from _picture_steps(look, query, counts)
    return (yield from paint_steps(picture, flip=bool(query.flip)))


def _picture_steps(look: Look, query: Query, counts: Counts | None) -> Generator[None, None, Picture]:
    ply, side = look.ply(query.ply), side_of_view(query.view)
    picture = yield from picture_steps(look, ply, query.view)
    known = None if counts is None or side is None else counts.known_at(ply, side)
    return shaded(picture, known, query.belief)


async def _pgn(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    look = await look_at(visit, game_id, query.seat)
    reply = await visit.ask_encoded("history", game_id=game_id)
    past = await worked(visit, past_steps(reply))
    return file(request, past.pgn.encode(), PGN, over=look.over, name=f"game-{game_id}.pgn")


async def _json(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    look = await look_at(visit, game_id, query.seat)
    state = look.state
    history = _HIDDEN if look.hides else await visit.ask_encoded("history", game_id=game_id)
    if look.over:  # without what concerns the visitor's seat: everybody gets the same
        reply = await visit.ask_as_spectator("state", game_id=game_id, brief=True)
        state = msgspec.convert(reply["state"], GameState)
    content = b'{"state":%b,%b' % (msgspec.json.encode(state), history[1:])
    moves = content[: content.index(b'"history":')]  # these and the PGN say all that a record has
    return file(request, content, JSON, over=look.over, telling=moves)


async def _record(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    """Return the record of a game of rbc as reconchess saves its games."""
    look = await look_at(visit, game_id, query.seat)
    if not look.variant.senses:
        raise NotAvailable(f"game {game_id}: reconchess's record is for reconnaissance blind chess only")
    record = record_in(await visit.ask_encoded("history", game_id=game_id))
    return file(request, record, JSON, over=look.over, name=f"game-{game_id}.history.json")


@get("/embed/{game_id:int}", include_in_schema=False, exception_handlers=ERRORS)
async def embed(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return a game's board, its players and links to step through it."""
    query = read_query(request)
    look = await with_past(visit, await look_at(visit, game_id, query.seat))
    view = await viewed(visit, look, query.wanted, moves=False)
    shown = page(visit, "embed.html", headers=_headers(visit, look, view), view=view)
    for name in ("x-frame-options", "cross-origin-opener-policy", *(["vary"] if look.over else [])):
        del shown.headers[name]
    if look.over and is_known(request, shown.headers["etag"]):
        return unchanged(shown.headers)
    return shown


def _headers(visit: Visit, look: Look, view: GameView) -> dict[str, str]:
    """Return the headers of the page. It is made of the view and of what :mod:`.static_files` has."""
    framed = {"content-security-policy": policy("*")}
    if not look.over:
        return {**framed, **IN_PROGRESS}
    made_of = f"{VERSION} {visit.site.static.version} {view}"
    return {**framed, **FINISHED, "etag": entity_tag(made_of.encode())}
