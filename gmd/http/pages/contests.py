"""``/contests`` and ``/contests/3``: matches and tournaments, as their runners report them."""

from __future__ import annotations

import time
from itertools import islice
from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter
from litestar.response import Template
from msgspec import Meta, Struct

from gmd.http.pages.answers import read_fields
from gmd.http.pages.contest_view import contest_view, lines_of
from gmd.http.pages.looking import worked
from gmd.http.pages.rendering import HEADERS, page, part_steps
from gmd.http.pages.visit import FromVisit

#: Contests on a page of the list.
A_PAGE = 50


class ListQuery(Struct, frozen=True):
    """What the query of the list may hold: the contests with lower numbers."""

    before: Annotated[int, Meta(ge=1, le=10**9)] | None = None


class PageQuery(Struct, frozen=True):
    """What the query of a contest's page may hold.

    ``part``: whether a script asks for the part that changes; ``wall``: for the table alone, large, to project.
    """

    part: bool = False
    wall: bool = False


@get("/contests", include_in_schema=False)
async def contests(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return the list of contests, newest first."""
    before = read_fields(request, ListQuery).before
    found = list(islice(visit.backend.services.contests.newest_first(before), A_PAGE + 1))
    lines = lines_of(found[:A_PAGE], time.time(), visit.name_of)
    older = lines[-1].contest_id if len(found) > A_PAGE else None
    return page(visit, "contests.html", lines=lines, older=older, newest=before is None)


@get("/contests/{contest_id:int}", include_in_schema=False)
async def contest(
    request: Request[Any, Any, Any], visit: FromVisit, contest_id: Annotated[int, PathParameter()]
) -> Response[Any]:
    """Return a contest's page, or the part of it that changes.

    A large table takes tens of milliseconds to render: in slices, and at the cost of the visitor's address.
    """
    query = read_fields(request, PageQuery)
    found = visit.backend.services.contests.get(contest_id)
    if found is None:
        raise NotFoundException
    view = contest_view(found, time.time(), visit.name_of)
    part = await worked(visit, part_steps(visit.site, "contest_part.html", view=view))
    if query.part:
        return Response(part, media_type="text/html", headers=HEADERS)
    return page(visit, "contest.html", view=view, part=part, wall=query.wall)
