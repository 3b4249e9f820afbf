"""``work``: a machine takes games of a match that several machines play, and reports those that it has played."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest
from gm_protocol.work import TakeWork, WorkClaim, WorkReply
from gmd.matches.claim import Claim
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.reporting import reporting_owner


async def work(request: TakeWork, context: RequestContext) -> PendingReply:
    """Carry out the request for the match of the player, or else of anybody who knows the token."""
    owner, given = reporting_owner(context), request.claim
    _check(given)
    claim = Claim(
        owner,
        owner.digest(request.token),
        given.worker,
        given.arguments,
        given.games,
        given.want,
        given.after,
        given.played,
        given.decided,
        given.lease,
        given.leave,
    )
    share = await context.services.matches.work(claim, context.session.peer)
    return context.reply(WorkReply(id=echo_id(request), share=share))


def _check(claim: WorkClaim) -> None:
    """Check what the types of the fields do not say.

    :raises BadRequest: a number is beyond the plan, or appears twice.
    """
    numbers = [game.number for game in claim.played]
    if len(set(numbers)) < len(numbers):
        raise BadRequest("claim: played: two games have the same number")
    named = {"played": max(numbers, default=0), "decided": claim.decided or 0, "after": claim.after}
    for name, number in named.items():
        if number > claim.games:
            raise BadRequest(f"claim: {name}: game {number} is beyond the {claim.games} games of the match")
