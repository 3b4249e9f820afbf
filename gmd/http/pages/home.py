"""``/``: games, players and the ranked table, and how to begin a game."""

from __future__ import annotations

from litestar import get
from litestar.response import Template

from .home_view import home_view
from .rendering import page
from .visit import FromVisit


@get("/", include_in_schema=False)
async def home(visit: FromVisit) -> Template:
    """Return the home page."""
    return page(visit, "home.html", view=await home_view(visit))
