"""``/api/invitations``: who asks whom to a game of reconnaissance blind chess. An invitation's id is its game's."""

from __future__ import annotations

from litestar import get, post
from litestar.params import JSONBody
from msgspec import Struct

from gm_protocol.errors import GmError, NoSuchGame, NotAvailable
from gmd.http.backend import FromDaemon
from gmd.http.guests import FromGuest
from gmd.http.refusals import UNAUTHORIZED, documented, documented_with_body
from gmd.http.seat import GameId, check_id
from gmd.local import Refused

from .turns import Done


class Invitations(Struct, frozen=True):
    """Invitations, by their ids, oldest first."""

    invitations: list[int]


class Invite(Struct, frozen=True):
    """Whom to play, by name, and with which colour: true for White."""

    opponent: str
    color: bool


class InvitedGame(Struct, frozen=True):
    """The game's number."""

    game_id: int


NO_NUMBER = "What stands in the path is no number."
ANYBODY = documented(unauthorized=UNAUTHORIZED)
INVITED = documented(
    unauthorized=UNAUTHORIZED, bad_request="Invitation does not exist, or not any more.", not_found=NO_NUMBER
)
FINISHED = documented(
    unauthorized=UNAUTHORIZED,
    bad_request="Invitation does not exist or invitation is not accepted.",
    not_found=NO_NUMBER,
)
SENT = documented_with_body(
    unauthorized=UNAUTHORIZED,
    bad_request="The opponent is not active, has as many games as it takes, or is you; or malformed request data.",
)


@get("/", summary="The invitations to you", responses=ANYBODY)
async def listed(guest: FromGuest, backend: FromDaemon) -> Invitations:
    """Those not accepted, and those accepted by somebody who may not know it: until ``ready``, or ``finish``."""
    found = await backend.parts.lobby.listed(guest.player.player)
    return Invitations([invitation.game_id for invitation in found])


@post("/", status_code=200, summary="Invite somebody", responses=SENT)
async def invite(data: JSONBody[Invite], guest: FromGuest) -> InvitedGame:
    """Make a game with fifteen minutes and five seconds a move, in which you have your seat."""
    color = "white" if data.color else "black"
    reply = await guest.ask("challenge", opponent=data.opponent, color=color, variant="rbc", brief=True)
    return InvitedGame(reply["game_id"])


@post("/{invitation_id:int}", status_code=200, summary="Accept an invitation", responses=INVITED)
async def accept(invitation_id: GameId, guest: FromGuest) -> InvitedGame:
    """Take the seat. Accepting again gives the same game: reconchess's client may have lost the reply."""
    try:
        check_id(invitation_id)
        await guest.ask("accept", game_id=invitation_id, brief=True)
    except (NoSuchGame, Refused) as refusal:
        raise _of_invitation(refusal) from None
    return InvitedGame(invitation_id)


@post("/{invitation_id:int}/finish", status_code=200, summary="Be done with an invitation", responses=FINISHED)
async def finish(invitation_id: GameId, guest: FromGuest, backend: FromDaemon) -> Done:
    """It is listed no more. The game goes on, if it has not ended."""
    try:
        check_id(invitation_id)
        await backend.parts.lobby.finish(invitation_id, guest.player.player, guest.arrived)
    except NoSuchGame as refusal:
        raise _of_invitation(refusal) from None
    return Done()


def _of_invitation(refusal: GmError | Refused) -> GmError | Refused:
    """Where there is no game there is no invitation, which by the manual is 400 and not 404."""
    return NotAvailable(str(refusal)) if refusal.code == NoSuchGame.code else refusal
