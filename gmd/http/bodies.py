"""Request bodies: parsed as JSON whatever the content type, even without one."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from litestar import Request
from msgspec import Raw

from gm_protocol.choices import with_choices
from gm_protocol.codec import explain_clock
from gm_protocol.errors import BadJson, BadRequest

#: Stands for an empty body, so that it gets the same kind of error as a wrong one.
NOTHING = b"null"
#: Matches a msgspec error that points into the body's clock.
_AT_CLOCK = re.compile(r"(?P<what>.*) - at `\$\.(?P<path>clock(?:\.[^`]*)?)`", re.DOTALL)


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is decoded strictly as the type its handler takes: 1 is not true, and "4" is not 4.

    litestar's own decoding is lenient, and it answers some bodies that are not JSON with a server error.
    """

    async def body(self) -> bytes:
        """Return the body, or ``null`` where it is empty: litestar checks for an empty body itself."""
        return await super().body() or NOTHING

    async def json(self) -> Any:
        """Return the value of the handler's ``data`` parameter.

        :raises BadJson: the body is not JSON.
        :raises BadRequest: it is JSON, but not of the type that the handler takes.
        """
        field = self.route_handler.parsed_data_field
        return read_body(await self.body(), Any if field is None else field.annotation)


def read_body(body: bytes, kind: Any) -> Any:
    """Return a body decoded as the type that a handler takes.

    :raises BadJson: the body is not JSON.
    :raises BadRequest: it is JSON, but not of that type.
    """
    try:
        body.decode()  # msgspec does not check the UTF-8 of fields it skips
        return msgspec.json.decode(body or NOTHING, type=kind)
    except UnicodeDecodeError as error:
        raise BadJson(f"the body is not UTF-8: byte {error.start} is wrong") from None
    except RecursionError:
        raise BadJson("the body is nested too deep to read") from None
    except msgspec.ValidationError as error:
        raise BadRequest(_explain(error, body, kind)) from None
    except msgspec.DecodeError as error:
        raise BadJson(f"the body is not JSON: {error}") from None


def _explain(error: msgspec.ValidationError, body: bytes, kind: Any) -> str:
    """Return what is wrong with a body; for a clock, the same sentence as over TCP."""
    if clock := _AT_CLOCK.fullmatch(str(error)):
        return explain_clock(clock["what"], clock["path"], msgspec.json.decode(body, type=dict[str, Raw]))
    return f"invalid body: {with_choices(error, kind)}"
