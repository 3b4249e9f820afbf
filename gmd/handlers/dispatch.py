"""The path of every request, over TCP, HTTP or in-process: to its handler, to its reply, until the reply may be sent.

A reply may be sent once the state that it shows is durable.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from msgspec import UNSET

from gm_protocol.codec import InvalidRequest, encode, error_reply, kind_of
from gm_protocol.errors import GmError, Internal, ShuttingDown
from gm_protocol.messages import REQUESTS, Request, Wait
from gmd.event_log.interface import Commit
from gmd.handlers.context import ClientSession, RefusedInGame, RequestContext, UnreadRequest
from gmd.handlers.context import PendingReply as PendingReply
from gmd.handlers.game_requests import Handler
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.net.metrics import NO_KIND

#: Handlers by the request's type: the handler of a kind is the function of its name, in the module of its name.
HANDLERS: dict[type[Request], Handler] = {
    request: getattr(import_module(f"gmd.handlers.{kind}"), kind) for kind, request in REQUESTS.items()
}

logger = get_logger(__name__)


async def answer(
    request: Request, session: ClientSession, arrived: float, *, shows_presence: bool = True
) -> PendingReply:
    """Return the reply to a request; the caller must pass it to :func:`finish`.

    :param arrived: when the request's last byte was read, in the loop's time.
    :param shows_presence: whether the request marks its player as present.
    """
    player = session.player if request.player is UNSET else request.player
    lease = session.services.lease
    context = RequestContext(session.services, session, request, player, arrived, shows_presence)
    try:
        if lease is not None and not lease.is_valid():
            await lease.valid()
        return await HANDLERS[type(request)](request, context)
    except RefusedInGame as in_game:
        return refused(in_game.error, request, arrived, in_game.commit)
    except GmError as error:
        return refused(error, request, arrived)
    except Exception:
        logger.exception("request failed", kind=kind_of(request), player=session.player)
        return refused(Internal("the server failed on this request; its log says why"), request, arrived)


def refuse(invalid: InvalidRequest, arrived: float | None = None) -> PendingReply:
    """Return the error reply to an invalid request; or the last error of a session, which answers no request."""
    body = UnreadRequest(invalid.kind, invalid.id)
    return PendingReply(_refusal(invalid.error, body), body, arrived, None, invalid.error.code)


def finish(reply: PendingReply, session: ClientSession, leave: Callable[[], None]) -> bool:
    """Release a reply once what it shows is durable, while this daemon may answer.

    Every reply passes here, however its request came in.

    One action over HTTP has no reply of the protocol, because the protocol has no request for it: losing on time
    (:meth:`gmd.http.seat.Seat.run_out`). It applies its command and waits for the commit itself.

    A released reply is counted, and logged if it is a refusal. If the commit fails, the reply becomes a refusal.

    :param leave: called when the reply may be sent, unless it may be sent at once.
    :returns: whether it may be sent at once.
    """
    if reply.commit is not None and not reply.commit.done:
        reply.commit.then(partial(_settle, reply, session, leave))
        return False
    lease = session.services.lease
    if lease is not None and not lease.is_valid() and reply.code != ShuttingDown.code:
        lease.when_valid(partial(_settle, reply, session, leave, None))
        return False
    if reply.code is None:
        session.services.metrics.answered[type(reply.request)] += 1
    else:
        _note_refusal(reply.request, reply.code, session)
    return True


def _settle(reply: PendingReply, session: ClientSession, leave: Callable[[], None], error: GmError | None) -> None:
    """Finish a reply that has waited: for its commit, which is durable or has failed, or for the lease."""
    reply.commit = None
    if error is not None:
        reply.body, reply.code = _refusal(error, reply.request), error.code
    if finish(reply, session, leave):
        leave()


def _note_refusal(request: Request | UnreadRequest, code: str, session: ClientSession) -> None:
    """Count and log a refusal: its kind, code and two ids. No text from the client is logged: it may be a key."""
    kind, game_id = _kind(request) or NO_KIND, getattr(request, "game_id", None)
    session.refusals += 1
    session.services.metrics.refused[kind, code] += 1
    logger.debug("request refused", kind=kind, code=code, game_id=game_id, player=session.player)


def refused(error: GmError, request: Request, arrived: float, commit: Commit | None = None) -> PendingReply:
    """Return the refusal of a request."""
    since = loop_time.now() if isinstance(request, Wait) else arrived
    return PendingReply(_refusal(error, request), request, since, commit, error.code)


def _refusal(error: GmError, request: Request | UnreadRequest) -> bytes:
    return encode(error_reply(error, _kind(request), request.id))


def _kind(request: Request | UnreadRequest) -> str | None:
    return request.kind if isinstance(request, UnreadRequest) else kind_of(request)
