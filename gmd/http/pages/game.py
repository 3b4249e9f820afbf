"""``/games/7``, and the same game as ``.svg``, ``.pgn`` and ``.json``."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter
from msgspec import Raw, Struct

from gm_protocol.state import GameState

from .answers import ERRORS, IN_PROGRESS, Query, file, read_query, worked
from .drawing import draw
from .game_view import GameView, players_of, view_steps
from .looking import Look, look_at, with_past
from .picture_view import needs_past, picture_steps
from .rendering import page
from .visit import FromVisit, Visit

#: A game's number, and the kind of the file.
_NAME = re.compile(r"([0-9]{1,16})(?:\.(svg|pgn|json))?", re.ASCII)
#: JSON's null.
_NULL = Raw(b"null")

PGN, SVG, JSON = "application/x-chess-pgn", "image/svg+xml", "application/json"


class _Pgn(Struct, frozen=True):
    pgn: str


class _History(Struct, frozen=True):
    """The history's parts, as encoded JSON; null where it is hidden."""

    pgn: Raw = _NULL
    moves: Raw = _NULL
    history: Raw = _NULL


class _Game(Struct, frozen=True):
    """A game for programs: the protocol's ``state``, and what its ``history`` has."""

    state: GameState
    pgn: Raw
    moves: Raw
    history: Raw


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
    history = await visit.ask_encoded("history", game_id=game_id)
    pgn = msgspec.json.decode(history, type=_Pgn).pgn
    return file(request, pgn.encode(), PGN, over=look.over, name=f"game-{game_id}.pgn")


async def _json(request: Request[Any, Any, Any], visit: Visit, game_id: int, query: Query) -> Response[Any]:
    look = await look_at(visit, game_id, query.seat)
    state, past = look.state, _History()
    if not look.hides:
        past = msgspec.json.decode(await visit.ask_encoded("history", game_id=game_id), type=_History)
    if look.over:  # without what concerns the visitor's seat: everybody gets the same
        reply = await visit.ask_as_spectator("state", game_id=game_id, brief=True)
        state = msgspec.convert(reply["state"], GameState)
    content = msgspec.json.encode(_Game(state, past.pgn, past.moves, past.history))
    return file(request, content, JSON, over=look.over)
