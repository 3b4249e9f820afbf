"""``ping``: a check that the server answers."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import Ping, Pong
from gmd.handlers.context import PendingReply, RequestContext


async def ping(request: Ping, context: RequestContext) -> PendingReply:
    """Answer with an empty reply."""
    return context.reply(Pong(id=echo_id(request)))
