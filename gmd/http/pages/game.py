"""``/games/7``, and the same game as ``.svg``, ``.pgn`` and ``.json``."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter

from gm_protocol.state import GameState

from .answers import ERRORS, IN_PROGRESS, Query, file, read_query
from .drawing import draw
from .game_view import GameView, players_of, view_steps
from .looking import Look, look_at, past_steps, with_past, worked
from .picture_view import needs_past, picture_steps
from .rendering import page
from .visit import FromVisit, Visit

#: A game's number, and the kind of the file.
_NAME = re.compile(r"([0-9]{1,16})(?:\.(svg|pgn|json))?", re.ASCII)
#: What stands in place of a hidden history.
_HIDDEN = b'{"pgn":null,"moves":null,"history":null,"error":null}'

PGN, SVG, JSON = "application/x-chess-pgn", "image/svg+xml", "application/json"


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
        return await _page(visit, game_id, query)
    if found[2] == "svg":
        return await _picture(request, visit, game_id, query)
    return await (_pgn if found[2] == "pgn" else _json)(request, visit, game_id, query)


async def _page(visit: Visit, game_id: int, query: Query) -> Response[Any]:
    look = await with_past(visit, await look_at(visit, game_id, query.seat))
    view = await viewed(visit, look, query, moves=not query.part)
    headers = {} if look.over else {"cache-control": IN_PROGRESS["cache-control"]}
    return page(visit, "position.html" if query.part else "game.html", headers=headers, view=view)


async def viewed(visit: Visit, look: Look, query: Query, *, moves: bool) -> GameView:
    """Return what a page shows of a game."""
    names = {player: visit.name_of(player) or "" for player in players_of(look.state)}
    return await worked(visit, view_steps(look, query.wanted, names, moves=moves))


async def _picture(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    look = await look_at(visit, game_id, query.seat)
    if needs_past(look, look.ply(query.ply)):
        look = await with_past(visit, look)
    svg = await worked(visit, _drawn(look, query))
    return file(request, svg.encode(), SVG, over=look.over)


def _drawn(look: Look, query: Query) -> Generator[None, None, str]:
    picture = yield from picture_steps(look, look.ply(query.ply), query.view)
    yield
    return draw(picture, size=query.size, flip=query.flip)


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
