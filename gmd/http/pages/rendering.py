"""Answers with a page: templates, and the headers that every page has."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar.datastructures import Cookie
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Redirect, Response, Template
from litestar.status_codes import HTTP_200_OK, HTTP_303_SEE_OTHER
from litestar.template import TemplateConfig

from gmd.version import VERSION

from . import words
from .site import Site
from .visit import Visit
from .visitor import COOKIE, SESSION_SECONDS


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


def template_config(site: Site) -> TemplateConfig[JinjaTemplateEngine]:
    """Return litestar's configuration of the templates."""
    environment = Environment(
        loader=PackageLoader("gmd.http.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"static": site.static.url, "has_board": site.static.has_board, "version": VERSION}
    environment.filters |= {
        "variant_name": words.variant_name,
        "variant_short": words.variant_short,
        "clock_text": words.clock_text,
    }
    environment.globals["result_words"] = words.result_words
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(environment))


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


def redirect(visit: Visit, to: str) -> Response[Any]:
    """Return the answer to a form: the browser is to get a page, with the visitor's cookie if it is new.

    :param to: a path of this server.
    """
    return Redirect(to, status_code=HTTP_303_SEE_OTHER, headers=HEADERS, cookies=_cookies(visit))


def _cookies(visit: Visit) -> list[Cookie]:
    if visit.cookie is None:
        return []
    return [
        Cookie(
            key=COOKIE,
            value=visit.cookie,
            max_age=SESSION_SECONDS if visit.cookie else 0,
            httponly=True,
            samesite="lax",
            secure=visit.secure or None,
        )
    ]
