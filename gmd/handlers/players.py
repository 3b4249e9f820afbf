"""``players``: a page of registered players, newest first."""

from __future__ import annotations

from itertools import islice

from gm_protocol.codec import echo_id
from gm_protocol.players import ListPlayers, PlayerRow, PlayersReply
from gmd.players.account import Account

from .call import Answer, Call, handles, operator_only


@handles(ListPlayers)
async def players(request: ListPlayers, call: Call) -> Answer:
    """For the operator's eyes: others would learn whom to try keys for."""
    operator_only(request, call)
    found = list(islice(call.parts.gate.registry.newest_first(request.before), request.limit + 1))
    rows = [_row(account) for account in found[: request.limit]]
    more = len(found) > request.limit
    return Answer(PlayersReply(id=echo_id(request), players=rows, before=rows[-1].player if more else None))


def _row(account: Account) -> PlayerRow:
    return PlayerRow(
        player=account.player,
        name=account.name,
        password=account.password is not None,
        revoked=account.key is None,
        created=account.created,
    )
