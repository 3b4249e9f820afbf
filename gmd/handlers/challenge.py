"""``challenge``: a registered player invites another one."""

from __future__ import annotations

from gm_protocol.lobby import Challenge
from gm_protocol.state import side_of

from .call import Answer, Call, actor_of, authorise, handles
from .seated import seat_answer, source_peer, take_attempt, terms_of
from .tokens import made_before, token_use


@handles(Challenge)
async def challenge(request: Challenge, call: Call) -> Answer:
    """Make the game, with the player in its seat; or show the one that the same request made before."""
    player = actor_of(request, call)
    authorise(player, call)
    token = token_use(request, player)
    if token is not None and (table := await made_before(token, request.token, player, call)) is not None:
        return seat_answer(request, table, player, call)
    take_attempt(call)
    terms, peer = terms_of(request), source_peer(call)
    table = await call.services.lobby.invite(
        player, request.opponent, side_of(request.color), terms, token=token, peer=peer
    )
    return seat_answer(request, table, player, call)
