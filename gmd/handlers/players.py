"""``players``: a page of registered players, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gm_protocol.codec import echo_id
from gm_protocol.players import ListPlayers, PlayerRow, PlayersReply
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import operator_only
from gmd.players.account import Account


async def players(request: ListPlayers, context: RequestContext) -> PendingReply:
    """List registered players, for the operator only: others would learn for which players to guess keys."""
    operator_only(context)
    found = list(islice(_asked_for(request, context), request.limit + 1))
    rows = [_row(account, context) for account in found[: request.limit]]
    more = len(found) > request.limit
    return context.reply(PlayersReply(id=echo_id(request), players=rows, before=rows[-1].player if more else None))


def _asked_for(request: ListPlayers, context: RequestContext) -> Iterator[Account]:
    """Return the matching players, newest first: ids are given in ascending order."""
    if not request.here:
        return context.services.authenticator.registry.newest_first(request.before)
    here = reversed(context.services.lobby.presence.present())
    return (account for account in here if request.before is None or account.player < request.before)


def _row(account: Account, context: RequestContext) -> PlayerRow:
    lobby = context.services.lobby
    return PlayerRow(
        player=account.player,
        name=account.name,
        password=account.password is not None,
        revoked=account.key is None,
        here=lobby.presence.is_here(account.player),
        room=lobby.room(account.player),
        created=account.created,
    )
