"""``seek``: a registered player would play anybody."""

from __future__ import annotations

from collections.abc import Callable

from gm_protocol.codec import echo_id
from gm_protocol.lobby import SeatReply, Seek
from gm_protocol.state import side_of

from .call import Answer, Call, actor_of, authorise, handles
from .seated import seat_answer, source_peer, take_attempt, terms_of
from .tokens import made_before, token_use


@handles(Seek)
async def seek(request: Seek, call: Call) -> Answer:
    """Make a game with whoever waits for one like it, or wait."""
    player = actor_of(request, call)
    authorise(player, call)
    token = token_use(request, player)
    if token is not None and (table := await made_before(token, request.token, player, call)) is not None:
        return seat_answer(request, table, player, call)
    take_attempt(call)
    terms, peer = terms_of(request), source_peer(call)
    found = await call.services.lobby.seeking.seek(
        player, side_of(request.color), terms, _is_here(player, call), token, peer
    )
    if found is not None:
        return seat_answer(request, found, player, call)
    return Answer(SeatReply(id=echo_id(request), game_id=None, seat=None, state=None, options=None))


def _is_here(player: int, call: Call) -> Callable[[], bool]:
    """Whether the session is still that player's; where the player has none, whether it has asked something lately."""
    visit, presence = call.visit, call.services.lobby.presence
    if visit is None or visit.player != player:
        return lambda: presence.is_here(player)
    return lambda: visit.player == player and visit.stands
