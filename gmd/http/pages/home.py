"""``/``: games, players and the ranked table, and how to begin a game."""

from __future__ import annotations

from typing import Any

from litestar import Request, get
from litestar.response import Template

from .home_view import home_view, mine_view
from .rendering import page
from .visit import FromVisit


@get("/", include_in_schema=False)
async def home(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return the home page; for a script that asks for ``?part=mine`` the list of the visitor's games alone."""
    if request.query_params.get("part") == "mine":
        return page(visit, "home_list.html", name="mine", lines=await mine_view(visit))
    return page(visit, "home.html", view=await home_view(visit))
