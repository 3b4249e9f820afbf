"""From a request to its encoded reply: the one place where refusals become replies."""

from __future__ import annotations

import structlog

from gm_protocol.codec import InvalidRequest, encode, error_reply, kind_of
from gm_protocol.errors import GmError, Internal
from gm_protocol.messages import Request
from gmd.log.interface import Commit

from .call import Call, load_handlers

logger = structlog.get_logger(__name__)

_HANDLERS = load_handlers()


async def answer(request: Request, call: Call) -> tuple[bytes, Commit | None]:
    """The encoded reply to a request, and the commit it must wait for."""
    call.table, call.key = None, request.key
    try:
        answered = await _HANDLERS[type(request)](request, call)
        return encode(answered.reply), answered.commit
    except GmError as error:
        return refusal(error, request), None if call.table is None else call.table.commit
    except Exception:
        logger.exception("request failed", kind=kind_of(request), player=call.player)
        return refusal(Internal("the server failed on this request; its log says why"), request), None


def refusal(error: GmError, request: Request) -> bytes:
    """The encoded error reply to a request."""
    return encode(error_reply(error, kind_of(request), request.id))


def invalid(invalid: InvalidRequest) -> bytes:
    """The encoded error reply to what is no request."""
    return encode(error_reply(invalid.error, invalid.kind, invalid.id))
