"""``/api/users``: registering, and who is there."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody
from litestar.status_codes import HTTP_200_OK, HTTP_403_FORBIDDEN, HTTP_409_CONFLICT
from msgspec import Struct

from gmd.http.guests import FromGuest, serving
from gmd.http.refusals import Unusual, documented
from gmd.local import Refused


class Registration(Struct, frozen=True):
    """What ``rc-register`` sends. Email and affiliation are for nothing here, and are not kept."""

    username: str
    password: str
    email: str | None = None
    affiliation: str | None = None

    def __repr__(self) -> str:
        return f"Registration(username={self.username!r})"


class Username(Struct, frozen=True):
    """A registered player's name."""

    username: str


@post(
    "/",
    status_code=HTTP_200_OK,
    summary="Register",
    guards=[serving],
    responses=documented(
        bad_request="Malformed request data, a name or a password that cannot be one.",
        forbidden="The operator registers the players here.",
        conflict="The name is taken.",
    ),
)
async def register(data: JSONBody[Registration], guest: FromGuest) -> Username:
    """A player with a name and a password. It takes no authorization."""
    try:
        reply = await guest.ask("register", name=data.username, password=data.password)
    except Refused as refused:
        if (status := _OF_REGISTRATION.get(refused.code)) is None:
            raise
        raise Unusual(refused, status) from None
    return Username(reply["name"])


_OF_REGISTRATION = {"not_available": HTTP_409_CONFLICT, "unauthorized": HTTP_403_FORBIDDEN}
