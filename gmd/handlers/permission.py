"""Authorisation of requests, and the registered player that a request names."""

from __future__ import annotations

from gm_protocol.codec import kind_of
from gm_protocol.errors import BadRequest, NotAvailable, Unauthorized, quote
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED
from gmd.handlers.context import RequestContext
from gmd.handlers.services import Services
from gmd.players.account import Account


def authorise(context: RequestContext) -> None:
    """Check that a request may act as its player. Every kind of request, in every kind of session, passes here.

    :raises Unauthorized: the player is registered, and neither the request nor the session's hello has sent its key; or
        it is an open id, and the server refuses those.
    :raises TooMany: too many such requests came from the same address.
    """
    player, session = context.player, context.session
    if player is None or session.is_operator:
        return
    if FIRST_REGISTERED <= player <= LAST_REGISTERED:
        authenticator, visit = context.services.authenticator, session.visit
        if session.admitted == authenticator.registry.changed_secrets and player == session.player:
            return  # HTTP has checked it
        authenticator.admit(player, context.request.key or None, session.authenticated, session.peer)
        if visit is None or visit.player != player:
            authenticator.presence.seen(player)
    elif context.services.registered_only:
        raise Unauthorized(f"player: {player} is an open id, and this server takes only registered players")


def may_oversee(key: str | None, services: Services, peer: str) -> bool:
    """Return whether a spectator with this key, or with none, sees live games in full.

    The spectator key may be weak, so guesses are rate-limited as those of passwords are.

    :raises Unauthorized: the key is wrong.
    :raises TooMany: too many failed attempts have come from this address.
    """
    spectators, failures = services.spectators, services.authenticator.failures
    if key is None:
        return spectators.may_oversee(None)
    failures.take(peer)
    allowed = spectators.may_oversee(key)
    failures.give_back(peer)
    return allowed


def operator_only(context: RequestContext) -> None:
    """Check that a request comes from the operator.

    :raises Unauthorized: it does not.
    """
    if not context.session.is_operator:
        raise Unauthorized(f"kind: {kind_of(context.request)} is for the operator only, over the operator's socket")


def find_account(player: int | None, name: str | None, context: RequestContext) -> Account:
    """Return the account of the player that a request names, by id or by name.

    :raises BadRequest: neither is given, or both.
    :raises NotAvailable: no such player is registered.
    """
    registry = context.services.authenticator.registry
    if name is not None and player is not None:
        raise BadRequest(f"name: {name!r} and player are both given; send one of them")
    account = registry.named(name) if name is not None else None if player is None else registry.get(player)
    if account is not None:
        return account
    if name is not None:
        raise NotAvailable(f"name: nobody is registered as {quote(name)}")
    if player is not None:
        raise NotAvailable(f"player: nobody is registered as {player}")
    raise BadRequest("player: missing; give it, or a name")
