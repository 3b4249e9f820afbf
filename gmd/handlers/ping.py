"""``ping``: is anybody there?"""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.messages import Ping, Pong
from gmd.requests.call import Answer, Call


async def ping(request: Ping, call: Call) -> Answer:
    """Yes."""
    return Answer(Pong(id=echo_id(request)))
