"""Numbers in paths: only ASCII digits, as every proxy in front of this server reads them.

litestar takes whatever Python's ``int`` takes: also ``1_0``, ``+1``, `` 1`` and the digits of other scripts. A proxy or
a log might not recognise these as names of the same game.
"""

from __future__ import annotations

import re

from litestar.exceptions import NotFoundException
from litestar.types import ASGIApp, Receive, Scope, Send

_DIGITS = re.compile(r"[0-9]+")


def digits_alone(app: ASGIApp) -> ASGIApp:
    """Refuse requests whose path has a number in any other notation.

    :raises NotFoundException: the path has one.
    """

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path_params") and not _has_digits_alone(scope["path"], scope["path_template"]):
            raise NotFoundException
        await app(scope, receive, send)

    return checked


def _has_digits_alone(path: str, template: str) -> bool:
    given, expected = ([part for part in each.split("/") if part] for each in (path, template))
    return all(_DIGITS.fullmatch(part) for part, name in zip(given, expected, strict=True) if name.startswith("{"))
