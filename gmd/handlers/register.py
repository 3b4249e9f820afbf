"""``register``: somebody becomes a player of their own."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, NotAvailable, Unauthorized
from gm_protocol.players import KeyReply, Register
from gmd.players.account import Account
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.seated import source_peer
from gmd.requests.tokens import check_token

#: Characters of a password: those of a phrase, and no more than anybody types.
MIN_PASSWORD, MAX_PASSWORD = 8, 256


async def register(request: Register, context: RequestContext) -> PendingReply:
    """Make a player and show its key, once; or again, to whoever repeats the request because the reply was lost."""
    check_token(request.token)
    _check_password(request.password)
    registry, peer = context.services.authenticator.registry, source_peer(context)
    made = _find(request, peer, context)
    if made is not None:
        return await _answer_again(request, made, peer, context)
    if not context.session.is_operator and context.services.limits.max_registrations_per_hour == 0:
        raise Unauthorized("kind: on this server the operator registers the players")
    by_day = context.services.lobby.quotas.registrations
    by_day.check(peer)
    context.services.authenticator.registrations.take(peer)
    by_day.take(peer)
    try:
        registry.check_room()  # before the work that a password makes
        password = await _hashed(request, peer, context)
        account, key = await registry.register(request.name, password, request.token)
    except BaseException:  # a cancelled request, too, has made no player: a registration under way is not cancelled
        _give_back(peer, context)
        raise
    if account.password != password:  # another request of the same name and token was there first
        _give_back(peer, context)
        return await _answer_again(request, account, peer, context)
    context.services.authenticator.guesses.know(account.name, peer)
    return _answer(request, account, key, context)


def _give_back(peer: str, context: RequestContext) -> None:
    """Do not count a registration that has made no player."""
    context.services.authenticator.registrations.give_back(peer)
    context.services.lobby.quotas.registrations.give_back(peer)


async def _hashed(request: Register, peer: str, context: RequestContext) -> str | None:
    """What is kept of the request's password.

    :raises TooMany: too many wait for such work already.
    """
    if request.password is None:
        return None
    authenticator = context.services.authenticator
    return await authenticator.passwords.hash(request.password, authenticator.guesses.client(request.name, peer))


async def _answer_again(request: Register, made: Account, peer: str, context: RequestContext) -> PendingReply:
    """The reply to a registration that was made before, with the key as long as nobody has used it.

    :raises BadRequest: the password is another.
    :raises TooMany: this has been tried too often.
    """
    registry = context.services.authenticator.registry
    await _check_same_password(made, request.password, peer, context)
    now = registry.get(made.player) or made  # its key may have been used, replaced or revoked meanwhile
    return _answer(request, now, registry.key_of_registration(now, request.token or ""), context)


def _find(request: Register, peer: str, context: RequestContext) -> Account | None:
    """The player that was registered by the same request before. Until its key is used, its token is worth that.

    :raises NotAvailable: the name is another's.
    :raises TooMany: that was so too often, with tokens that may have been guesses.
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
    """See to it that a repeated registration is the same in all.

    :raises BadRequest: it is not.
    :raises TooMany: this has been tried too often.
    """
    if password is None and account.password is None:
        return
    if not await context.services.authenticator.verify_again(account, password, peer):
        raise BadRequest("token: it was used for a registration with another password")


def _answer(request: Register, account: Account, key: str | None, context: RequestContext) -> PendingReply:
    return context.reply(KeyReply(id=echo_id(request), player=account.player, name=account.name, key=key))
