"""``/manual``: the manual as a website, as ``make docs`` builds it."""

from __future__ import annotations

import mimetypes
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import trio
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter
from litestar.response import Redirect
from litestar.status_codes import HTTP_303_SEE_OTHER

from gmd.http.pages.visit import FromVisit

#: Headers of its files. Sphinx's pages have scripts and styles of their own in them, and nothing that a visitor sent.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "public, max-age=300",
}


#: Where ``make docs`` builds it in a checkout.
BUILT = Path(str(files("gmd"))).parent / "build/docs"


def manual_in(folder: Path) -> dict[str, Path]:
    """Return the files of the manual by their paths in its folder; none where it is not built."""
    if not (folder / "index.html").is_file():
        return {}
    every = ((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())
    return {name: path for name, path in every if not name.startswith((".", "_sources/"))}


@get("/manual", include_in_schema=False)
async def manual() -> Response[Any]:
    """Lead to the manual's first page."""
    return Redirect("/manual/index.html", status_code=HTTP_303_SEE_OTHER)


@get("/manual/{file:path}", include_in_schema=False)
async def manual_file(visit: FromVisit, file: Annotated[str, PathParameter()]) -> Response[Any]:
    """Return a file of the manual."""
    path = visit.site.manual.get(file.lstrip("/"))
    if path is None:
        raise NotFoundException
    content = await trio.to_thread.run_sync(path.read_bytes)
    return Response(content, media_type=mimetypes.guess_type(path.name)[0] or "text/plain", headers=HEADERS)
