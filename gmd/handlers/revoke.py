"""``revoke``: the operator takes a player's key away."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.players import Revoke, RevokedReply
from gmd.logger import get_logger
from gmd.requests.accounts import find_account
from gmd.requests.call import Answer, Call, operator_only, player_of

logger = get_logger(__name__)


async def revoke(request: Revoke, call: Call) -> Answer:
    """End the player's sessions, too. Its games stay as they are, and their clocks run."""
    operator_only(request, call)
    account = find_account(None if request.name else player_of(request, call), request.name, call)
    account = await call.services.authenticator.registry.revoke(account.player)
    logger.info("revoked by the operator", player=account.player)
    return Answer(RevokedReply(id=echo_id(request), player=account.player, name=account.name))
