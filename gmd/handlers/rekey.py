"""``rekey``: a new key that replaces a player's key."""

from __future__ import annotations

from functools import partial

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.players import KeyReply, Rekey
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import find_account
from gmd.handlers.tokens import check_token
from gmd.logger import get_logger
from gmd.players.account import is_registered

logger = get_logger(__name__)


async def rekey(request: Rekey, context: RequestContext) -> PendingReply:
    """Show the new key once; a client that repeats the request, because the reply was lost, sees it again."""
    check_token(request.token)
    session = context.session
    player = _as_operator(request, context) if session.is_operator else _as_player(request, context)
    permit = partial(_permit, player, request, context)
    account, key = await context.services.authenticator.registry.rekey(player, request.token, permit)
    if session.authenticated is not None and session.authenticated.player == player:
        session.prove(account)
    return context.reply(KeyReply(id=echo_id(request), player=player, name=account.name, key=key))


def _as_operator(request: Rekey, context: RequestContext) -> int:
    player = find_account(None if request.name else context.player, request.name, context).player
    logger.info("rekeyed by the operator", player=player)
    return player


def _as_player(request: Rekey, context: RequestContext) -> int:
    if request.name is not None:
        raise BadRequest("name: only the operator rekeys by name; send player and key")
    player = context.actor
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id, which has no key; register makes a player that has one")
    _permit(player, request, context)
    context.services.lobby.quotas.rekeys.take(context.session.peer)
    return player


def _permit(player: int, request: Rekey, context: RequestContext) -> None:
    """Check that the request may change the player's key, when it arrives and again just before the change.

    :raises Unauthorized: the player has been revoked since, or has another key.
    """
    session = context.session
    if not session.is_operator:
        context.services.authenticator.admit_again(
            player, request.key or None, request.token, session.authenticated, session.peer
        )
