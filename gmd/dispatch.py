"""From a request to its encoded reply: the one place where refusals become replies, and are counted."""

from __future__ import annotations

from gm_protocol.codec import InvalidRequest, encode, error_reply, kind_of
from gm_protocol.errors import GmError, Internal
from gm_protocol.messages import Request
from gmd.event_log.interface import Commit
from gmd.games.views import NOBODY
from gmd.handlers.live import HANDLERS
from gmd.logger import get_logger
from gmd.metrics import NO_KIND
from gmd.requests.call import Call

logger = get_logger(__name__)

#: An encoded reply; the commit that it must wait for; and why its request was refused, if it was.
Answered = tuple[bytes, Commit | None, str | None]


async def answer(request: Request, call: Call) -> Answered:
    """The encoded reply to a request; the commit it must wait for; and why the request was refused, if it was.

    Whoever sends the reply counts the request (:func:`count`), for it may yet become another: see :func:`fail`.
    """
    call.live, call.viewer, call.key = None, NOBODY, request.key
    try:
        answered = await HANDLERS[type(request)](request, call)
        return encode(answered.reply), answered.commit, None
    except GmError as error:
        commit = None if call.live is None else call.live.commit_for(call.viewer)
        return _refusal(error, request), commit, error.code
    except Exception:
        logger.exception("request failed", kind=kind_of(request), player=call.player)
        failed = Internal("the server failed on this request; its log says why")
        return _refusal(failed, request), None, failed.code


def count(request: Request, code: str | None, call: Call) -> None:
    """Count a request that was answered, or refused with a code."""
    if code is None:
        call.services.metrics.answered[type(request)] += 1
    else:
        _note_refusal(kind_of(request), code, getattr(request, "game_id", None), call)


def fail(request: Request, error: GmError, call: Call) -> bytes:
    """The encoded error reply to a request whose commit failed; it is counted."""
    count(request, error.code, call)
    return _refusal(error, request)


def invalid(invalid: InvalidRequest, call: Call) -> bytes:
    """The encoded error reply to what is no request; it is counted."""
    _note_refusal(invalid.kind, invalid.error.code, None, call)
    return encode(error_reply(invalid.error, invalid.kind, invalid.id))


def broken_off(error: GmError, call: Call) -> bytes:
    """The encoded last words of a session that cannot go on; they are counted."""
    _note_refusal(None, error.code, None, call)
    return encode(error_reply(error, None, None))


def _note_refusal(kind: str | None, code: str, game_id: int | None, call: Call) -> None:
    """Count a refusal and log it: kind, code and two numbers, and never a text of the client's, which may be a key."""
    kind = kind or NO_KIND
    call.refusals += 1
    call.services.metrics.refused[kind, code] += 1
    logger.debug("request refused", kind=kind, code=code, game_id=game_id, player=call.player)


def _refusal(error: GmError, request: Request) -> bytes:
    return encode(error_reply(error, kind_of(request), request.id))
