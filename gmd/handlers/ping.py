"""``ping``: is anybody there?"""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import Ping, Pong
from gmd.requests.context import PendingReply, RequestContext


async def ping(request: Ping, context: RequestContext) -> PendingReply:
    """Yes."""
    return context.reply(Pong(id=echo_id(request)))
