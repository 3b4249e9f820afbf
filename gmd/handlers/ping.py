"""``ping``: is anybody there?"""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import Ping, Pong

from .call import Answer, Call, handles


@handles(Ping)
async def ping(request: Ping, call: Call) -> Answer:
    """Yes."""
    return Answer(Pong(id=echo_id(request)))
