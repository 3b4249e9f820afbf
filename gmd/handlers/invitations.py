"""``invitations``: the invitations that a player has received or sent, and that wait for answers."""

from __future__ import annotations

import re

from msgspec import UNSET, UnsetType

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, quote
from gm_protocol.lobby import InvitationRow, InvitationsReply, ListInvitations
from gm_protocol.state import COLOR_NAMES
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.permission import authorise
from gmd.lobby.book import Place
from gmd.lobby.invitation import Invitation

#: A place in the fair order: the round, and the game's id.
_PLACE = re.compile(r"[0-9]{1,16}\.[0-9]{1,16}")


async def invitations(request: ListInvitations, context: RequestContext) -> PendingReply:
    """List a page of each in the fair order, in which no player's come all before another's; oldest first in a page."""
    player = context.actor
    authorise(context)
    book = context.services.lobby.book
    last_received = _place("received_after", request.received_after)
    last_sent = _place("sent_after", request.sent_after)
    received, received_after = book.received_page(player, request.limit, last_received)
    sent, sent_after = book.sent_page(player, request.limit, last_sent)
    reply = InvitationsReply(
        id=echo_id(request),
        received=[_row(each, player, context, invited=True) for each in received],
        sent=[_row(each, player, context, invited=False) for each in sent],
        seeking=context.services.lobby.seeking.seeks(player),
        received_after=_text(received_after),
        sent_after=_text(sent_after),
    )
    return context.reply(reply)


def _place(field: str, text: str | None) -> Place | None:
    """Parse the place that a client sends back.

    :raises BadRequest: it is malformed.
    """
    if text is None:
        return None
    if _PLACE.fullmatch(text) is None:
        raise BadRequest(f"{field}: {quote(text)} is not the end of a page; send the value that the page gave")
    return Place(*map(int, text.split(".")))


def _text(place: Place | None) -> str | UnsetType:
    return UNSET if place is None else f"{place.round}.{place.game_id}"


def _row(invitation: Invitation, player: int, context: RequestContext, *, invited: bool) -> InvitationRow:
    mine = [color for color in invitation.colors_of(player) if (color in invitation.taken) is not invited]
    opponent = invitation.opponent_of(player, seated=not invited)
    account = None if opponent is None else context.services.authenticator.registry.get(opponent)
    ahead = context.services.roster.ahead(opponent, invitation.game_id)
    return InvitationRow(
        game_id=invitation.game_id,
        opponent=opponent,
        name=None if account is None else account.name,
        color=COLOR_NAMES[mine[0]],
        options=invitation.options,
        ranked=invitation.ranked,
        created=invitation.created,
        lapses=invitation.lapses,
        ahead=UNSET if ahead is None else ahead,
    )
