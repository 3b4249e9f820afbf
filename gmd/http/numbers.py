"""Numbers in paths: digits, as everything that stands before this server reads them.

litestar takes what Python's ``int`` takes, and that is also ``1_0``, ``+1``, `` 1`` and the digits of other scripts:
names of one game that a proxy or a log may not know for the same.
"""

from __future__ import annotations

import re

from litestar.exceptions import NotFoundException
from litestar.types import ASGIApp, Receive, Scope, Send

_DIGITS = re.compile(r"[0-9]+")


def digits_alone(app: ASGIApp) -> ASGIApp:
    """Let no request by whose path has a number that is written otherwise.

    :raises NotFoundException: it has.
    """

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path_params") and not _has_digits_alone(scope["path"], scope["path_template"]):
            raise NotFoundException
        await app(scope, receive, send)

    return checked


def _has_digits_alone(path: str, template: str) -> bool:
    given, expected = ([part for part in each.split("/") if part] for each in (path, template))
    return all(_DIGITS.fullmatch(part) for part, name in zip(given, expected, strict=True) if name.startswith("{"))
