"""``hello``: begins a version 2 session and describes the server."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.messages import REQUESTS, Hello, HelloReply, ServerBot
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import authorise, find_account, may_oversee
from gmd.players.account import Account
from gmd.version import VERSION

#: The highest version of the protocol that this server speaks.
PROTOCOL_VERSION = 2


async def hello(request: Hello, context: RequestContext) -> PendingReply:
    """Set the session's player, and whether it may watch live games in full; a refused hello clears both."""
    session = context.session
    session.forget()
    oversees = may_oversee(request.spectator_key, context.services, session.peer) or session.is_operator
    session.player = await _player(request, context)
    session.oversees = oversees
    reply = HelloReply(
        id=echo_id(request),
        protocol=min(PROTOCOL_VERSION, request.protocol),
        server=f"gmd/{VERSION}",
        kinds=list(REQUESTS),
        player=session.player,
        limits=context.services.limits,
        bots=_bots(context),
    )
    return context.reply(reply)


def _bots(context: RequestContext) -> list[ServerBot] | UnsetType:
    return [
        ServerBot(player=player, name=kind.name, variants=list(kind.variants), about=kind.about)
        for player, kind in context.services.roster.bots()
    ] or UNSET


async def _player(request: Hello, context: RequestContext) -> int | None:
    """Authenticate the session's player and return it; None for none. The session keeps the proof."""
    player = None if request.player is UNSET else request.player
    account = None
    if request.name is not None or request.password is not None:
        account = await _named(request, player, context)
        player = account.player
    else:
        authorise(context.acting_as(player))
        if player is not None:
            account = context.services.authenticator.registry.get(player)
    if account is not None and account.key is not None:
        context.session.prove(account)
    return player


async def _named(request: Hello, player: int | None, context: RequestContext) -> Account:
    """Return the player of a name, if the request has its key or password.

    :raises BadRequest: fields contradict each other.
    :raises Unauthorized: the key or the password is wrong or missing.
    """
    authenticator, session, key = context.services.authenticator, context.session, request.key or None
    if request.name is None:
        raise BadRequest("password: it needs a name; send both")
    if player is not None:
        raise BadRequest(f"name: {request.name!r} and player are both given; send one of them")
    if key is not None and request.password is not None:
        raise BadRequest("password: key is given, too; send one of them")
    if session.is_operator:
        return find_account(None, request.name, context)
    if request.password is not None:
        return await authenticator.admit_with_password(request.name, request.password, session.peer)
    return authenticator.admit_named(request.name, key, session.peer)
