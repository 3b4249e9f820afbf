"""``challenge``: a registered player invites another one."""

from __future__ import annotations

from gm_protocol.lobby import Challenge
from gm_protocol.messages import NewGame
from gm_protocol.state import side_of
from gmd.games.clock import check_clock
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import seat_answer, source_peer, take_attempt, terms_of
from gmd.handlers.permission import authorise
from gmd.handlers.tokens import made_before, token_use


async def challenge(request: Challenge, context: RequestContext) -> PendingReply:
    """Create the game, with the player in its seat; or show the one that the same request created before."""
    player = context.actor
    authorise(context)
    token = token_use(request, player)
    if token is not None and (live := await made_before(token, request.token, context)) is not None:
        return seat_answer(request, live, context)
    take_attempt(context)
    terms, peer = terms_of(request), source_peer(context)
    _check_clock(request, terms, context)
    live = await context.services.lobby.invite(
        player, request.opponent, side_of(request.color), terms, token=token, peer=peer
    )
    return seat_answer(request, live, context)


def _check_clock(request: Challenge, terms: NewGame, context: RequestContext) -> None:
    """Check the time control of a game against one of the daemon's bots.

    :raises BadRequest: it is none, or too long for that.
    """
    registry, opponent = context.services.authenticator.registry, request.opponent
    account = registry.named(opponent) if isinstance(opponent, str) else registry.get(opponent)
    if account is not None and terms.clock:
        context.services.roster.check_clock([account.player], check_clock(terms.clock))
