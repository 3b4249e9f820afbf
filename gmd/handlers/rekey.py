"""``rekey``: another key in place of the one a player has."""

from __future__ import annotations

from functools import partial

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.players import KeyReply, Rekey
from gmd.logger import get_logger
from gmd.players.account import is_registered
from gmd.requests.accounts import find_account
from gmd.requests.call import Answer, Call, actor_of, player_of
from gmd.requests.tokens import check_token

logger = get_logger(__name__)


async def rekey(request: Rekey, call: Call) -> Answer:
    """Show the new key, once; or again, to whoever repeats the request because the reply was lost."""
    check_token(request.token)
    player = _as_operator(request, call) if call.is_operator else _as_player(request, call)
    account, key = await call.services.authenticator.registry.rekey(
        player, request.token, partial(_permit, player, request, call)
    )
    if call.authenticated is not None and call.authenticated.player == player:
        call.prove(account)
    return Answer(KeyReply(id=echo_id(request), player=player, name=account.name, key=key))


def _as_operator(request: Rekey, call: Call) -> int:
    player = find_account(None if request.name else player_of(request, call), request.name, call).player
    logger.info("rekeyed by the operator", player=player)
    return player


def _as_player(request: Rekey, call: Call) -> int:
    if request.name is not None:
        raise BadRequest("name: that is the operator's way to name a player; send player and key")
    player = actor_of(request, call)
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id, which has no key; register makes a player that has one")
    _permit(player, request, call)
    call.services.lobby.quotas.rekeys.take(call.peer)
    return player


def _permit(player: int, request: Rekey, call: Call) -> None:
    """Let the request change the player's key: when it comes, and again when its turn has come.

    :raises Unauthorized: the player has been revoked since, or has another key.
    """
    if not call.is_operator:
        call.services.authenticator.admit_again(player, call.key or None, request.token, call.authenticated, call.peer)
