"""``settings``: the settings of a registered player."""

from __future__ import annotations

from functools import partial

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.lobby import Settings, SettingsReply
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import authorise, find_account
from gmd.players.account import is_registered


async def settings(request: Settings, context: RequestContext) -> PendingReply:
    """Change the given settings and show all. An invalid request is refused before anything is changed."""
    player = context.actor
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id, which has no settings")
    authorise(context)
    account = find_account(player, None, context)
    if (request.version, request.max_games, request.ranked) != (None, None, None):
        context.services.lobby.quotas.take_settings(context.session.peer, player)
        account = await context.services.authenticator.registry.set(
            player,
            partial(authorise, context),
            max_games=request.max_games,
            ranked=request.ranked,
            version=request.version,
        )
    if request.max_games is not None:
        context.services.lobby.seeking.look_again(player)
    reply = SettingsReply(
        id=echo_id(request),
        player=player,
        name=account.name,
        max_games=account.max_games,
        ranked=account.ranked,
        version=account.version,
    )
    return context.reply(reply)
