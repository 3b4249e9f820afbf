"""``hello``: begins a version 2 session and says what this server is."""

from __future__ import annotations

from msgspec import UNSET

from gm_protocol.codec import echo_id
from gm_protocol.messages import REQUESTS, Hello, HelloReply
from gmd.version import VERSION

from .call import Answer, Call, authorise, handles

#: The highest version of the protocol this server speaks.
PROTOCOL_VERSION = 2


@handles(Hello)
async def hello(request: Hello, call: Call) -> Answer:
    """Set the session's player, and whether it may watch live games in full; a refused hello leaves it without."""
    player = None if request.player is UNSET else request.player
    call.forget()
    authorise(player, call)
    call.oversees = call.spectators.may_oversee(request.spectator_key) or call.is_operator
    call.player = player
    reply = HelloReply(
        id=echo_id(request),
        protocol=min(PROTOCOL_VERSION, request.protocol),
        server=f"gmd/{VERSION}",
        kinds=list(REQUESTS),
        player=call.player,
        limits=call.limits,
    )
    return Answer(reply)
