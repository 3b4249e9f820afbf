"""Bodies of requests: JSON, whatever their content type says, or though they have none."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request

from gm_protocol.choices import with_choices
from gm_protocol.errors import BadJson, BadRequest


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body is read as what its handler takes, and strictly: 1 is not true, and "4" is not 4.

    litestar's own reading is lenient, and takes some bodies that are no JSON for a fault of the server's.
    """

    async def body(self) -> bytes:
        """The body; where there is none, null, so that it is not missing but wrong, as others are."""
        return await super().body() or b"null"

    async def json(self) -> Any:
        """What the handler's ``data`` is to be.

        :raises BadJson: the body is no JSON.
        :raises BadRequest: it is, and says something else.
        """
        field = self.route_handler.parsed_data_field
        body = await self.body()
        try:
            body.decode()  # msgspec does not look into the fields it skips
            return msgspec.json.decode(body, type=Any if field is None else field.annotation)
        except UnicodeDecodeError as error:
            raise BadJson(f"the body is not UTF-8: byte {error.start} is wrong") from None
        except RecursionError:
            raise BadJson("the body is nested too deep to read") from None
        except msgspec.ValidationError as error:
            raise BadRequest(
                f"the body cannot be taken: {with_choices(error, Any if field is None else field.annotation)}"
            ) from None
        except msgspec.DecodeError as error:
            raise BadJson(f"the body is not JSON: {error}") from None
