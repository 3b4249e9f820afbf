"""``invitations``: what waits for an answer, of the player's or of another's."""

from __future__ import annotations

from gm_protocol.codec import echo_id
from gm_protocol.lobby import InvitationRow, InvitationsReply, ListInvitations
from gmd.lobby.invitation import Invitation

from .call import Answer, Call, actor_of, authorise, handles


@handles(ListInvitations)
async def invitations(request: ListInvitations, call: Call) -> Answer:
    """A page of each, the oldest first: those that come next are shown when these are answered."""
    player = actor_of(request, call)
    authorise(player, call)
    book, page = call.parts.lobby.book, call.parts.limits.max_games_page
    reply = InvitationsReply(
        id=echo_id(request),
        received=[_row(each, player, call, invited=True) for each in book.received(player)[:page]],
        sent=[_row(each, player, call, invited=False) for each in book.sent(player)[:page]],
        seeking=call.parts.lobby.seeks(player),
    )
    return Answer(reply)


def _row(invitation: Invitation, player: int, call: Call, *, invited: bool) -> InvitationRow:
    mine = [color for color in invitation.colors_of(player) if (color in invitation.taken) is not invited]
    opponent = invitation.player_of("black" if mine[0] == "white" else "white")
    account = None if opponent is None else call.parts.gate.registry.get(opponent)
    return InvitationRow(
        game_id=invitation.game_id,
        opponent=opponent,
        name=None if account is None else account.name,
        color=mine[0],
        options=invitation.options,
        ranked=invitation.ranked,
        created=invitation.created,
        lapses=invitation.lapses,
    )
