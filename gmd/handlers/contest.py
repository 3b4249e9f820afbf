"""``contest``: a program that runs a match or a tournament reports how it stands."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.contests import ContestReply, ReportContest
from gm_protocol.errors import BadRequest
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.reporting import reporting_owner


async def contest(request: ReportContest, context: RequestContext) -> PendingReply:
    """Take the report, as that of the player, or else of anybody who knows the token."""
    owner = reporting_owner(context)
    _check(request)
    number = await context.services.contests.report(owner, request.token, request.report, context.session.peer)
    return context.reply(ContestReply(id=echo_id(request), contest_id=number))


def _check(request: ReportContest) -> None:
    """Check what the types of the fields do not say.

    :raises BadRequest: a row has other cells than there are columns, or a game names no player.
    """
    report = request.report
    for row in report.players:
        if row.cells and len(row.cells) != len(report.columns):
            raise BadRequest(f"report: a row has {len(row.cells)} cells, and there are {len(report.columns)} columns")
    for game in report.latest:
        if max(game.white, game.black) >= len(report.players):
            raise BadRequest(f"report: game {game.game_id} names a player that the table does not have")
