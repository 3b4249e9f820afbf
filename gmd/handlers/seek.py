"""``seek``: a registered player looks for any opponent."""

from __future__ import annotations

from collections.abc import Callable

from gm_protocol.codec import echo_id
from gm_protocol.lobby import SeatReply, Seek
from gm_protocol.state import side_of
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import seat_answer, source_peer, take_attempt, terms_of
from gmd.handlers.permission import authorise
from gmd.handlers.tokens import made_before, token_use


async def seek(request: Seek, context: RequestContext) -> PendingReply:
    """Create a game with a player who seeks the same, or put the player in the queue."""
    player = context.actor
    authorise(context)
    token = token_use(request, player)
    if token is not None and (live := await made_before(token, request.token, context)) is not None:
        return seat_answer(request, live, context)
    take_attempt(context)
    terms, peer = terms_of(request), source_peer(context)
    found = await context.services.lobby.seeking.seek(
        player, side_of(request.color), terms, _is_here(player, context), token, peer
    )
    if found is not None:
        return seat_answer(request, found, context)
    return context.reply(SeatReply(id=echo_id(request), game_id=None, seat=None, state=None, options=None))


def _is_here(player: int, context: RequestContext) -> Callable[[], bool]:
    """Return a check whether the player is present: by this session if it is the player's, else by recent requests."""
    visit, presence = context.session.visit, context.services.lobby.presence
    if visit is None or visit.player != player:
        return lambda: presence.is_here(player)
    return lambda: visit.player == player and visit.stands
