"""``settings``: what a registered player has set."""

from __future__ import annotations

from functools import partial

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.lobby import Settings, SettingsReply
from gmd.players.account import is_registered
from gmd.requests.accounts import find_account
from gmd.requests.call import Answer, Call, actor_of, authorise


async def settings(request: Settings, call: Call) -> Answer:
    """Set what is given, and show all. What cannot be is refused before anything is set."""
    player = actor_of(request, call)
    if not is_registered(player):
        raise BadRequest(f"player: {player} is an open id, which has no settings")
    authorise(player, call)
    registry, permit = call.services.authenticator.registry, partial(authorise, player, call)
    account = find_account(player, None, call)
    if request.version is not None:
        account = await registry.set_version(player, request.version, permit)
    if request.max_games is not None:
        account = await registry.set_max_games(player, request.max_games, permit)
        call.services.lobby.seeking.look_again(player)
    if request.ranked is not None:  # the last one, for games may follow
        account = await registry.set_ranked(player, ranked=request.ranked, permit=permit)
    reply = SettingsReply(
        id=echo_id(request),
        player=player,
        name=account.name,
        max_games=account.max_games,
        ranked=account.ranked,
        version=account.version,
    )
    return Answer(reply)
