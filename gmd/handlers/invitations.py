"""``invitations``: what waits for an answer, of the player's or of another's."""

from __future__ import annotations

import re

from msgspec import UNSET, UnsetType

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, quote
from gm_protocol.lobby import InvitationRow, InvitationsReply, ListInvitations
from gm_protocol.state import COLOR_NAMES
from gmd.lobby.fair_order import Place
from gmd.lobby.invitation import Invitation

from .call import Answer, Call, actor_of, authorise, handles

#: A round, and a game's id.
_PLACE = re.compile(r"[0-9]{1,16}\.[0-9]{1,16}")


@handles(ListInvitations)
async def invitations(request: ListInvitations, call: Call) -> Answer:
    """A page of each, in an order in which nobody's come all before another's; each page has the oldest first."""
    player = actor_of(request, call)
    authorise(player, call)
    book = call.services.lobby.book
    last_received = _place("received_after", request.received_after)
    last_sent = _place("sent_after", request.sent_after)
    received, received_after = book.received_page(player, request.limit, last_received)
    sent, sent_after = book.sent_page(player, request.limit, last_sent)
    reply = InvitationsReply(
        id=echo_id(request),
        received=[_row(each, player, call, invited=True) for each in received],
        sent=[_row(each, player, call, invited=False) for each in sent],
        seeking=call.services.lobby.seeking.seeks(player),
        received_after=_text(received_after),
        sent_after=_text(sent_after),
    )
    return Answer(reply)


def _place(field: str, text: str | None) -> Place | None:
    """The place that a client sends back.

    :raises BadRequest: it is none.
    """
    if text is None:
        return None
    if _PLACE.fullmatch(text) is None:
        raise BadRequest(f"{field}: {quote(text)} is not where a page ended; send what that page said")
    return Place(*map(int, text.split(".")))


def _text(place: Place | None) -> str | UnsetType:
    return UNSET if place is None else f"{place.round}.{place.game_id}"


def _row(invitation: Invitation, player: int, call: Call, *, invited: bool) -> InvitationRow:
    mine = [color for color in invitation.colors_of(player) if (color in invitation.taken) is not invited]
    opponent = invitation.opponent_of(player, seated=not invited)
    account = None if opponent is None else call.services.authenticator.registry.get(opponent)
    return InvitationRow(
        game_id=invitation.game_id,
        opponent=opponent,
        name=None if account is None else account.name,
        color=COLOR_NAMES[mine[0]],
        options=invitation.options,
        ranked=invitation.ranked,
        created=invitation.created,
        lapses=invitation.lapses,
    )
