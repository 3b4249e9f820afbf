"""Who may ask for what."""

from __future__ import annotations

from gm_protocol.codec import kind_of
from gm_protocol.errors import Unauthorized
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED

from .context import RequestContext


def authorise(context: RequestContext) -> None:
    """Let a request act as its player. Every kind of request, in every kind of session, passes here.

    :raises Unauthorized: it is a registered player, and neither the request nor the session's hello has shown its key;
        or it is an open id, where those are refused.
    :raises TooMany: too many such requests came from the same address.
    """
    player, session = context.player, context.session
    if player is None or session.is_operator:
        return
    if FIRST_REGISTERED <= player <= LAST_REGISTERED:
        authenticator, visit = context.services.authenticator, session.visit
        authenticator.admit(player, context.request.key or None, session.authenticated, session.peer)
        if visit is None or visit.player != player:
            authenticator.presence.seen(player)
    elif context.services.registered_only:
        raise Unauthorized(f"player: {player} is an open id, and this server takes registered players alone")


def operator_only(context: RequestContext) -> None:
    """Let a request be the operator's.

    :raises Unauthorized: it is not.
    """
    if not context.session.is_operator:
        raise Unauthorized(f"kind: {kind_of(context.request)} is the operator's, who has a socket of their own")
