"""``contest``: a program that runs a match or a tournament reports how it stands."""

from __future__ import annotations

import re

from gm_protocol.codec import echo_id
from gm_protocol.contests import PLAIN, PLAIN_RULE, ContestReply, ReportContest
from gm_protocol.errors import BadRequest, Unauthorized, quote
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import authorise
from gmd.lobby.contests import Owner

_PLAIN = re.compile(PLAIN)


async def contest(request: ReportContest, context: RequestContext) -> PendingReply:
    """Take the report, as that of the player, or else of anybody who knows the token."""
    owner = _owner(context)
    _check(request)
    number = await context.services.contests.report(owner, request.token, request.report, context.session.peer)
    return context.reply(ContestReply(id=echo_id(request), contest_id=number))


def _owner(context: RequestContext) -> Owner:
    """Return whose contest a request is about: the player's, the operator's, or that of any client.

    :raises Unauthorized: the player is not the client's, or the server refuses clients without a registered player.
    """
    authorise(context)
    owner = Owner.of(context.player, is_operator=context.session.is_operator)
    if owner == Owner() and context.services.registered_only:
        raise Unauthorized("player: this server takes reports of contests from registered players only")
    return owner


def _check(request: ReportContest) -> None:
    """Check what the types of the fields do not say.

    :raises BadRequest: a cell has signs that texts must not have, a row has other cells than there are columns, or a
        game names no player.
    """
    report = request.report
    rows = [report.columns, *(row.cells for row in report.players)]
    if not _PLAIN.search("".join(map("".join, rows))):
        cell = next(cell for row in rows for cell in row if not _PLAIN.search(cell))
        raise BadRequest(f"report: the cell {quote(cell)}: {PLAIN_RULE}")
    for row in report.players:
        if row.cells and len(row.cells) != len(report.columns):
            raise BadRequest(f"report: a row has {len(row.cells)} cells, and there are {len(report.columns)} columns")
    for game in report.latest:
        if max(game.white, game.black) >= len(report.players):
            raise BadRequest(f"report: game {game.game_id} names a player that the table does not have")
