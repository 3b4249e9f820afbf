"""Answers with a page: templates, and the headers that every page has."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar.datastructures import Cookie
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Redirect, Response, Template
from litestar.status_codes import HTTP_200_OK, HTTP_303_SEE_OTHER
from litestar.template import TemplateConfig
from markupsafe import Markup

from gmd.games.variants import VARIANTS
from gmd.http.pages import contest_view, words
from gmd.http.pages.painting import SIZE
from gmd.http.pages.site import Site
from gmd.http.pages.static_files import package_files
from gmd.http.pages.visit import Visit
from gmd.http.pages.visitor import COOKIE, LEFT_COOKIE, MAX_NICKNAME, SESSION_SECONDS
from gmd.players.account import is_registered
from gmd.version import VERSION


def policy(frame_ancestors: str = "'none'") -> str:
    """Return the Content-Security-Policy of a page: nothing from elsewhere, nothing inline.

    :param frame_ancestors: who may show the page in a frame.
    """
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {frame_ancestors}"
    )


#: Headers of every page. What a page shows depends on who asks, so nobody but the browser keeps it.
HEADERS = {
    "content-security-policy": policy(),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "private, no-cache",
    "vary": "Cookie",
}


def template_config() -> TemplateConfig[JinjaTemplateEngine]:
    """Return litestar's configuration of the templates."""
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(templates()))


@cache
def templates() -> Environment:
    """Return the templates, which jinja2 compiles when they are first used."""
    static = package_files()
    environment = Environment(
        loader=PackageLoader("gmd.http.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"static": static.url, "has_board": static.has_board, "version": VERSION}
    environment.globals |= {"variants": VARIANTS, "result_words": words.result_words, "rating_text": words.rating_text}
    environment.globals |= {"is_registered": is_registered}
    environment.globals |= {"max_nickname": MAX_NICKNAME, "png_size": SIZE}
    environment.filters |= {
        "variant_name": words.variant_name,
        "variant_short": words.variant_short,
        "clock_text": words.clock_text,
        "points_text": contest_view.points_text,
        "number_text": contest_view.number_text,
        "ratio_text": contest_view.ratio_text,
        "interval_text": contest_view.interval_text,
        "share_text": contest_view.share_text,
        "verdict_text": contest_view.verdict_text,
    }
    return environment


def page(
    visit: Visit, template: str, *, status: int = HTTP_200_OK, headers: dict[str, str] | None = None, **context: Any
) -> Template:
    """Return a page of a visitor.

    :param template: the name of a file in ``templates``; it gets the context, and ``visitor`` and ``visit``.
    :param headers: further headers, or others in place of those that every page has.
    """
    return Template(
        template,
        context={"visitor": visit.visitor, "visit": visit, **context},
        status_code=status,
        media_type="text/html",
        headers=HEADERS | (headers or {}),
        cookies=_cookies(visit),
    )


def part(site: Site, template: str, **context: Any) -> str:
    """Return a part of a page, for scripts, which every visitor of one kind gets the same."""
    assert site.templates is not None
    return site.templates.get_template(template).render(context)


def part_steps(site: Site, template: str, **context: Any) -> Generator[None, None, Markup]:
    """Return a part of a page as :func:`part` does, in steps: for parts that may be large."""
    assert site.templates is not None
    pieces: list[str] = []
    for piece in site.templates.get_template(template).generate(context):
        pieces.append(piece)
        yield
    return Markup("".join(pieces))


def redirect(visit: Visit, to: str) -> Response[Any]:
    """Return the answer to a form: the browser is to get a page, with the visitor's cookie if it is new.

    :param to: a path of this server.
    """
    return Redirect(to, status_code=HTTP_303_SEE_OTHER, headers=HEADERS, cookies=_cookies(visit))


def _cookies(visit: Visit) -> list[Cookie]:
    return [
        Cookie(
            key=key,
            value=value,
            max_age=SESSION_SECONDS if value else 0,
            httponly=True,
            samesite="lax",
            secure=visit.secure or None,
        )
        for key, value in ((COOKIE, visit.cookie), (LEFT_COOKIE, visit.left_cookie))
        if value is not None
    ]
