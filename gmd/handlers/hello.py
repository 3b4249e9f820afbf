"""``hello``: begins a version 2 session and says what this server is."""

from __future__ import annotations

from msgspec import UNSET

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.messages import REQUESTS, Hello, HelloReply
from gmd.players.account import Account
from gmd.requests.accounts import find_account
from gmd.requests.call import Answer, Call, authorise
from gmd.version import VERSION

#: The highest version of the protocol this server speaks.
PROTOCOL_VERSION = 2


async def hello(request: Hello, call: Call) -> Answer:
    """Set the session's player, and whether it may watch live games in full; a refused hello leaves it without."""
    call.forget()
    oversees = _may_oversee(request.spectator_key, call) or call.is_operator
    call.player = await _player(request, call)
    call.oversees = oversees
    reply = HelloReply(
        id=echo_id(request),
        protocol=min(PROTOCOL_VERSION, request.protocol),
        server=f"gmd/{VERSION}",
        kinds=list(REQUESTS),
        player=call.player,
        limits=call.services.limits,
    )
    return Answer(reply)


async def _player(request: Hello, call: Call) -> int | None:
    """Who the session is to be, where it has proved that; it keeps the proof."""
    player = None if request.player is UNSET else request.player
    account = None
    if request.name is not None or request.password is not None:
        account = await _named(request, player, call)
        player = account.player
    else:
        authorise(player, call)
        if player is not None:
            account = call.services.authenticator.registry.get(player)
    if account is not None and account.key is not None:
        call.prove(account)
    return player


def _may_oversee(key: str | None, call: Call) -> bool:
    """Whether the session may watch live games in full. Its key may be a poor one, and is guessed at no faster
    than a password.
    """
    if key is None:
        return call.services.spectators.may_oversee(None)
    call.services.authenticator.failures.take(call.peer)
    allowed = call.services.spectators.may_oversee(key)
    call.services.authenticator.failures.give_back(call.peer)
    return allowed


async def _named(request: Hello, player: int | None, call: Call) -> Account:
    """The player of a name, for whoever has its key or password.

    :raises BadRequest: fields contradict each other.
    :raises Unauthorized: they have neither.
    """
    key = call.key or None
    if request.name is None:
        raise BadRequest("password: it goes with name")
    if player is not None:
        raise BadRequest(f"name: {request.name!r} goes without player; give one of them")
    if key is not None and request.password is not None:
        raise BadRequest("password: it goes without key; give one of them")
    if call.is_operator:
        return find_account(None, request.name, call)
    if request.password is not None:
        return await call.services.authenticator.admit_with_password(request.name, request.password, call.peer)
    return call.services.authenticator.admit_named(request.name, key, call.peer)
