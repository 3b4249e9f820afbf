"""``revoke``: the operator revokes a player's key."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.players import Revoke, RevokedReply
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import find_account, operator_only
from gmd.logger import get_logger

logger = get_logger(__name__)


async def revoke(request: Revoke, context: RequestContext) -> PendingReply:
    """Revoke the key and end the player's sessions. Its games go on, and their clocks run."""
    operator_only(context)
    account = find_account(None if request.name else context.player, request.name, context)
    account = await context.services.authenticator.registry.revoke(account.player)
    logger.info("revoked by the operator", player=account.player)
    return context.reply(RevokedReply(id=echo_id(request), player=account.player, name=account.name))
