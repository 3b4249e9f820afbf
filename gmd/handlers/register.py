"""``register``: a new player, with a key of its own."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, NotAvailable, Unauthorized
from gm_protocol.players import KeyReply, Register
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import source_peer
from gmd.handlers.tokens import check_token
from gmd.players.account import Account

#: Lengths of a password in characters: up to a long phrase, and no more than people type.
MIN_PASSWORD, MAX_PASSWORD = 8, 256


async def register(request: Register, context: RequestContext) -> PendingReply:
    """Create a player and show its key once; a client that repeats the request after a lost reply sees it again."""
    check_token(request.token)
    _check_password(request.password)
    registry, peer = context.services.authenticator.registry, source_peer(context)
    made = _find(request, peer, context)
    if made is not None:
        return await _answer_again(request, made, peer, context)
    if not context.session.is_operator and context.services.limits.max_registrations_per_hour == 0:
        raise Unauthorized("kind: on this server the operator registers the players")
    if not context.session.is_operator:
        context.services.authenticator.check_invite(request.invite, peer)
    by_day = context.services.lobby.quotas.registrations
    by_day.check(peer)
    context.services.authenticator.registrations.take(peer)
    by_day.take(peer)
    try:
        registry.check_room()  # before the work of hashing the password
        password = await _hashed(request, peer, context)
        account, key = await registry.register(request.name, password, request.token)
    except BaseException:  # even a cancelled request: a registration in progress is never cancelled
        _give_back(peer, context)
        raise
    if account.password != password:  # another request with the same name and token was first
        _give_back(peer, context)
        return await _answer_again(request, account, peer, context)
    context.services.authenticator.guesses.know(account.name, peer)
    return _answer(request, account, key, context)


def _give_back(peer: str, context: RequestContext) -> None:
    """Take back the count of a registration that has created no player."""
    context.services.authenticator.registrations.give_back(peer)
    context.services.lobby.quotas.registrations.give_back(peer)


async def _hashed(request: Register, peer: str, context: RequestContext) -> str | None:
    """Return the hash of the request's password; None without one.

    :raises TooMany: too many passwords wait to be hashed or checked.
    """
    if request.password is None:
        return None
    authenticator = context.services.authenticator
    return await authenticator.passwords.hash(request.password, authenticator.guesses.client(request.name, peer))


async def _answer_again(request: Register, made: Account, peer: str, context: RequestContext) -> PendingReply:
    """Return the reply to a repeated registration, with the key if it has not been used yet.

    :raises BadRequest: the password is not the same.
    :raises TooMany: too many failed attempts came from this address.
    """
    registry = context.services.authenticator.registry
    await _check_same_password(made, request.password, peer, context)
    now = registry.get(made.player) or made  # its key may have been used, replaced or revoked meanwhile
    return _answer(request, now, registry.key_of_registration(now, request.token or ""), context)


def _find(request: Register, peer: str, context: RequestContext) -> Account | None:
    """Return the player that the same request registered before; None for none.

    Until the player's key is used, its token is as good as the key, so wrong tokens are rate-limited.

    :raises NotAvailable: the name belongs to another player.
    :raises TooMany: too many requests from this address had a wrong token.
    """
    try:
        return context.services.authenticator.registry.registered_under(request.name, request.token)
    except NotAvailable:
        if request.token is not None:
            context.services.authenticator.failures.take(peer)
        raise


def _check_password(password: str | None) -> None:
    if password is not None and not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise BadRequest(f"password: {len(password)} characters are not between {MIN_PASSWORD} and {MAX_PASSWORD}")


async def _check_same_password(account: Account, password: str | None, peer: str, context: RequestContext) -> None:
    """Check that a repeated registration has the same password.

    :raises BadRequest: it has another one.
    :raises TooMany: too many failed attempts came from this address.
    """
    if password is None and account.password is None:
        return
    if not await context.services.authenticator.verify_again(account, password, peer):
        raise BadRequest("token: it was used for a registration with another password")


def _answer(request: Register, account: Account, key: str | None, context: RequestContext) -> PendingReply:
    return context.reply(KeyReply(id=echo_id(request), player=account.player, name=account.name, key=key))
