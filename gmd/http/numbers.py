"""Numbers in paths: only ASCII digits, as every proxy in front of this server reads them.

litestar takes whatever Python's ``int`` takes: also ``1_0``, ``+1``, `` 1`` and the digits of other scripts. A proxy or
a log might not recognise these as names of the same game.
"""

from __future__ import annotations

import re
from typing import Any

from litestar.exceptions import NotFoundException
from litestar.types import ASGIApp, Receive, Scope, Send

_DIGITS = re.compile(r"[0-9]+")


def digits_alone(app: ASGIApp) -> ASGIApp:
    """Refuse requests whose path has a number in any other notation.

    :raises NotFoundException: the path has one.
    """

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        parameters = scope.get("path_params")
        if parameters and not _has_digits_alone(scope["path"], scope["path_template"], parameters):
            raise NotFoundException
        await app(scope, receive, send)

    return checked


def _has_digits_alone(path: str, template: str, parameters: dict[str, Any]) -> bool:
    """Return whether all numbers of a path are in digits; parameters of other types, such as files, may be anything."""
    given, expected = ([part for part in each.split("/") if part] for each in (path, template))
    named = zip(given, expected, strict=False)  # a file, the last parameter, may have several parts
    numbers = (part for part, name in named if name.startswith("{") and isinstance(parameters[name[1:-1]], int))
    return all(map(_DIGITS.fullmatch, numbers))
