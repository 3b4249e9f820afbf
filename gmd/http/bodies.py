"""Bodies of requests: JSON, whatever their content type says, or though they have none."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from litestar import Request
from msgspec import Raw

from gm_protocol.choices import with_choices
from gm_protocol.codec import explain_clock
from gm_protocol.errors import BadJson, BadRequest

#: What stands for a body that there is none of, so that it is not missing but wrong, as others are.
NOTHING = b"null"
#: Where msgspec says that the clock in a body is wrong.
_AT_CLOCK = re.compile(r"(?P<what>.*) - at `\$\.(?P<path>clock(?:\.[^`]*)?)`", re.DOTALL)


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is read as what its handler takes, and strictly: 1 is not true, and "4" is not 4.

    litestar's own reading is lenient, and takes some bodies that are no JSON for a fault of the server's.
    """

    async def body(self) -> bytes:
        """The body; where there is none, null: litestar, too, looks whether there is one."""
        return await super().body() or NOTHING

    async def json(self) -> Any:
        """What the handler's ``data`` is to be.

        :raises BadJson: the body is no JSON.
        :raises BadRequest: it is, and says something else.
        """
        field = self.route_handler.parsed_data_field
        return read_body(await self.body(), Any if field is None else field.annotation)


def read_body(body: bytes, kind: Any) -> Any:
    """A body as what a handler takes.

    :raises BadJson: the body is no JSON.
    :raises BadRequest: it is, and says something else.
    """
    try:
        body.decode()  # msgspec does not look into the fields it skips
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
    """What is wrong with a body; of a clock, what TCP says of it, too."""
    if clock := _AT_CLOCK.fullmatch(str(error)):
        return explain_clock(clock["what"], clock["path"], msgspec.json.decode(body, type=dict[str, Raw]))
    return f"the body cannot be taken: {with_choices(error, kind)}"
