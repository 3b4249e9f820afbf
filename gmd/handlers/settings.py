"""``settings``: the settings of a registered player."""

from __future__ import annotations

from functools import partial

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.lobby import Settings, SettingsReply
from gmd.players.account import is_registered
from gmd.requests.accounts import find_account
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.permission import authorise


async def settings(request: Settings, context: RequestContext) -> PendingReply:
    """Change the given settings and show all. An invalid request is refused before anything is changed."""
    player = context.actor
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id, which has no settings")
    authorise(context)
    registry, permit = context.services.authenticator.registry, partial(authorise, context)
    account = find_account(player, None, context)
    if request.version is not None:
        account = await registry.set_version(player, request.version, permit)
    if request.max_games is not None:
        account = await registry.set_max_games(player, request.max_games, permit)
        context.services.lobby.seeking.look_again(player)
    if request.ranked is not None:  # last, because games may follow
        account = await registry.set_ranked(player, ranked=request.ranked, permit=permit)
    reply = SettingsReply(
        id=echo_id(request),
        player=player,
        name=account.name,
        max_games=account.max_games,
        ranked=account.ranked,
        version=account.version,
    )
    return context.reply(reply)
