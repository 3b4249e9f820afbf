"""Bodies of requests, which are JSON whatever their content type says, or that they do not say."""

from __future__ import annotations

from typing import Any

from litestar import Request
from litestar.exceptions import SerializationException

from gm_protocol.errors import BadJson


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body, where it is no JSON, is the client's mistake: litestar takes some for ours."""

    async def json(self) -> Any:
        """
        :raises BadJson: it is none.
        """
        try:
            return await super().json()
        except RecursionError:
            raise BadJson("the body is nested too deep to read") from None
        except UnicodeDecodeError:
            raise BadJson("the body is not UTF-8") from None
        except SerializationException as error:
            raise BadJson(f"the body is not JSON: {error}") from None
