"""``/api/users``: registration, active players, and a player's settings."""

from __future__ import annotations

from typing import Annotated

from litestar import get, post
from litestar.params import JSONBody
from litestar.status_codes import HTTP_200_OK, HTTP_403_FORBIDDEN, HTTP_409_CONFLICT
from msgspec import Meta, Struct

from gmd.handlers.in_process import Refused
from gmd.http.api_clients import FromApiClient, serving
from gmd.http.backend import FromDaemon
from gmd.http.errors import UNAUTHORIZED, Unusual, documented, documented_with_body


class Registration(Struct, frozen=True):
    """The body that ``rc-register`` sends. Email is not used, and nothing but name and password is stored.

    ``rc-register`` has no field for the server's code, where one is needed: it is taken as the affiliation, too.
    """

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
    responses=documented_with_body(
        bad_request="Malformed request data, or an invalid name or password.",
        forbidden="Only the operator registers players on this server, or those who have its code.",
        conflict="The name is taken.",
    ),
)
async def register(data: JSONBody[Registration], client: FromApiClient) -> Username:
    """Register a player with a name and a password. It takes no authorization."""
    try:
        reply = await client.ask(
            "register", name=data.username, password=data.password, invite=data.affiliation or None
        )
    except Refused as refused:
        if (status := _OF_REGISTRATION.get(refused.code)) is None:
            raise
        raise Unusual(refused, status) from None
    return Username(reply["name"])


_OF_REGISTRATION = {"not_available": HTTP_409_CONFLICT, "unauthorized": HTTP_403_FORBIDDEN}


class Usernames(Struct, frozen=True):
    """Names of players, in the order in which they registered."""

    usernames: list[str]


class MaxGames(Struct, frozen=True):
    """How many games to play at a time."""

    #: More than any bot plays, and small enough for a counter.
    max_games: Annotated[int, Meta(gt=-1, le=10_000)]


class RankedSetting(Struct, frozen=True):
    """Whether to play ranked games."""

    ranked: bool


class UserGames(Struct, frozen=True):
    """A player, and how many games it takes at a time."""

    id: int
    username: str
    max_games: int


class UserRanked(Struct, frozen=True):
    """A player, and whether it wants ranked games."""

    id: int
    username: str
    ranked: bool


class UserVersion(Struct, frozen=True):
    """A player, and the version of its bot; 0 before the first."""

    id: int
    username: str
    version: int


ANYBODY = documented(unauthorized=UNAUTHORIZED)
SETTER = documented_with_body(unauthorized=UNAUTHORIZED, bad_request="Malformed request data.")


@get("/", summary="Who is active", responses=ANYBODY)
async def active(client: FromApiClient, backend: FromDaemon) -> Usernames:
    """Return the registered players with a session on the game port, or with a recent request over HTTP."""
    return Usernames([account.name for account in backend.services.lobby.presence.present()])


@post("/me", status_code=HTTP_200_OK, summary="Say that you are active", responses=ANYBODY)
async def ping(client: FromApiClient) -> UserGames:
    """Record the player as active, as any request does."""
    account = client.player
    return UserGames(account.player, account.name, account.max_games)


@post("/me/max_games", status_code=HTTP_200_OK, summary="Set how many games you play at a time", responses=SETTER)
async def max_games(data: JSONBody[MaxGames], client: FromApiClient) -> UserGames:
    """Set the most games that the player is invited to at a time."""
    reply = await client.ask("settings", max_games=data.max_games)
    return UserGames(reply["player"], reply["name"], reply["max_games"])


@post("/me/ranked", status_code=HTTP_200_OK, summary="Set whether you play ranked games", responses=SETTER)
async def ranked(data: JSONBody[RankedSetting], client: FromApiClient) -> UserRanked:
    """Set whether the player wants ranked games. Games that have begun go on."""
    reply = await client.ask("settings", ranked=data.ranked)
    return UserRanked(reply["player"], reply["name"], reply["ranked"])


@get("/me/version", summary="The version of your bot", responses=ANYBODY)
async def bot_version(client: FromApiClient) -> UserVersion:
    """Return the version; 0 before the first."""
    account = client.player
    return UserVersion(account.player, account.name, account.version)


@post("/me/version", status_code=HTTP_200_OK, summary="Begin a new version of your bot", responses=ANYBODY)
async def next_version(client: FromApiClient, backend: FromDaemon) -> UserVersion:
    """Begin the version after the last one. It has no rating yet."""
    player, services = client.player.player, backend.services
    services.lobby.quotas.take_settings(client.peer, player)
    account = await services.authenticator.registry.next_version(player, client.check)
    return UserVersion(account.player, account.name, account.version)
