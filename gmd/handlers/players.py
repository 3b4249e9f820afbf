"""``players``: a page of registered players, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gm_protocol.codec import echo_id
from gm_protocol.players import ListPlayers, PlayerRow, PlayersReply
from gmd.players.account import Account
from gmd.requests.call import Answer, Call, operator_only


async def players(request: ListPlayers, call: Call) -> Answer:
    """For the operator's eyes: others would learn whom to try keys for."""
    operator_only(request, call)
    found = list(islice(_asked_for(request, call), request.limit + 1))
    rows = [_row(account, call) for account in found[: request.limit]]
    more = len(found) > request.limit
    return Answer(PlayersReply(id=echo_id(request), players=rows, before=rows[-1].player if more else None))


def _asked_for(request: ListPlayers, call: Call) -> Iterator[Account]:
    """Newest first: ids are given in order."""
    if not request.here:
        return call.services.authenticator.registry.newest_first(request.before)
    here = reversed(call.services.lobby.presence.here())
    return (account for account in here if request.before is None or account.player < request.before)


def _row(account: Account, call: Call) -> PlayerRow:
    lobby = call.services.lobby
    return PlayerRow(
        player=account.player,
        name=account.name,
        password=account.password is not None,
        revoked=account.key is None,
        here=lobby.presence.is_here(account.player),
        room=lobby.room(account.player),
        created=account.created,
    )
