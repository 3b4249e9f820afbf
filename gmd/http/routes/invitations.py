"""``/api/invitations``: who asks whom to a game of reconnaissance blind chess. An invitation's id is its game's."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get, post
from litestar.params import JSONBody
from litestar.status_codes import HTTP_401_UNAUTHORIZED
from msgspec import UNSET, Meta, Struct, UnsetType

from gm_protocol.errors import GmError, NoSuchGame, NotAvailable
from gm_protocol.messages import ClockOption
from gm_protocol.options import ClockText
from gm_protocol.state import COLOR_NAMES
from gmd.http.backend import Backend, FromDaemon
from gmd.http.claims import Taken
from gmd.http.guests import FromGuest, Guest, connection_of
from gmd.http.refusals import UNAUTHORIZED, Unusual, documented, documented_with_body
from gmd.http.seat import GameId, check_id
from gmd.in_process import Refused

from .turns import Done

AnyRequest = Request[Any, Any, Any]


class Invitations(Struct, frozen=True):
    """Invitations, by their ids, oldest first."""

    invitations: list[int]


#: A limit of turns.
Limit = Annotated[int, Meta(ge=1, le=1_000_000)]


class Invite(Struct, frozen=True, forbid_unknown_fields=True):
    """Whom to play, by name, and with which colour: true for White. All else is as ``LocalGame`` has it if left out."""

    opponent: str
    color: bool
    clock: Annotated[
        ClockOption | ClockText | UnsetType | None,
        Meta(
            description='Seconds: initial and increment, or such a text as "900+5"; null for none. 900+5 if left out.'
        ),
    ] = UNSET
    fen: Annotated[str | UnsetType, Meta(description="Where the game begins; the usual start if left out.")] = UNSET
    reversible_moves: Annotated[
        Limit | UnsetType | None,
        Meta(
            description="A draw after so many turns without a capture or a pawn move, null for none; 100 if left out."
        ),
    ] = UNSET
    max_turns: Annotated[
        Limit | UnsetType | None,
        Meta(description="So many full turns are a draw; null, or left out, for no limit."),
    ] = UNSET

    def terms(self) -> dict[str, Any]:
        """What was given of what the game is played with, in the fields of ``challenge``."""
        given = {name: getattr(self, name) for name in ("clock", "fen", "reversible_moves", "max_turns")}
        return {name: value for name, value in given.items() if value is not UNSET}


class InvitedGame(Struct, frozen=True):
    """The game's number."""

    game_id: int


NO_NUMBER = "What stands in the path is no number."
ANYBODY = documented(unauthorized=UNAUTHORIZED)
INVITED = documented(
    unauthorized=f"{UNAUTHORIZED} Or another program of the account has accepted it: rc-connect prints why.",
    bad_request="Invitation does not exist, or not any more.",
    not_found=NO_NUMBER,
)
FINISHED = documented(
    unauthorized=UNAUTHORIZED,
    bad_request="Invitation does not exist or invitation is not accepted.",
    not_found=NO_NUMBER,
)
SENT = documented_with_body(
    unauthorized=UNAUTHORIZED,
    bad_request="The opponent is not active, has as many games as it takes, or is you; the clock, the FEN or a limit "
    "cannot be played with; or malformed request data.",
)


@get("/", summary="The invitations to you", responses=ANYBODY)
async def listed(guest: FromGuest, backend: FromDaemon, request: AnyRequest) -> Invitations:
    """Those not accepted; those accepted, until ``ready`` or ``finish``, on this connection or on one that has asked
    nothing about the game for a minute; and the games that you have made, and asked nothing about, for 15 seconds.
    """
    player, connection = guest.player.player, connection_of(request)
    found = [invitation.game_id for invitation in await backend.services.lobby.listed(player, guest.peer)]
    found = [game_id for game_id in found if guest.claims.admits(player, game_id, connection)]
    for game_id in guest.claims.offered(player, connection):
        if await _is_played(backend, game_id, guest, if_over=True):
            guest.claims.forget(player, game_id)
        else:
            found.append(game_id)
    return Invitations(sorted(found))


@post("/", status_code=200, summary="Invite somebody", responses=SENT)
async def invite(data: JSONBody[Invite], guest: FromGuest) -> InvitedGame:
    """Make a game in which you have your seat: with fifteen minutes and five seconds a move, unless you say otherwise.

    Where you ask nothing about the game for fifteen seconds, it is listed to you, too, for your own ``rc-connect``.
    """
    color = COLOR_NAMES[data.color]
    terms = {"variant": "rbc", **data.terms()}
    reply = await guest.ask("challenge", opponent=data.opponent, color=color, brief=True, **terms)
    guest.claims.made(guest.player.player, reply["game_id"])
    return InvitedGame(reply["game_id"])


@post("/{invitation_id:int}", status_code=200, summary="Accept an invitation", responses=INVITED)
async def accept(invitation_id: GameId, guest: FromGuest, backend: FromDaemon, request: AnyRequest) -> InvitedGame:
    """Take the seat. Accepting again gives the same game: reconchess's client may have lost the reply.

    On another connection it is refused as long as the one that has accepted plays the game, or may be about to.
    """
    player, connection, claims = guest.player.player, connection_of(request), guest.claims
    try:
        check_id(invitation_id)
        if not claims.holds(player, invitation_id, connection) and await _is_played(backend, invitation_id, guest):
            raise Taken(invitation_id)
        with claims.accepting(player, invitation_id, connection):
            if not claims.is_made(player, invitation_id):
                await guest.ask("accept", game_id=invitation_id, brief=True)
    except Taken as refusal:  # of all refusals, rc-connect prints the sentence of this status alone
        raise Unusual(refusal, HTTP_401_UNAUTHORIZED) from None
    except (NoSuchGame, Refused) as refusal:
        raise _of_invitation(refusal) from None
    return InvitedGame(invitation_id)


@post("/{invitation_id:int}/finish", status_code=200, summary="Be done with an invitation", responses=FINISHED)
async def finish(invitation_id: GameId, guest: FromGuest, backend: FromDaemon) -> Done:
    """It is listed no more. The game goes on, if it has not ended."""
    if guest.claims.is_made(guest.player.player, invitation_id):
        guest.claims.act(guest.player.player, invitation_id)
        return Done()
    try:
        check_id(invitation_id)
        guest.check()
        await backend.services.lobby.finish(invitation_id, guest.player.player, guest.arrived, guest.peer)
    except NoSuchGame as refusal:
        raise _of_invitation(refusal) from None
    return Done()


async def _is_played(backend: Backend, game_id: int, guest: Guest, *, if_over: bool = False) -> bool:
    """Whether a guest has been heard from in a game.

    :param if_over: what to say of a game that is over, or not there any more.
    :raises NoSuchGame: there is none of that id, unless ``if_over`` answers for it.
    """
    try:
        game = (await backend.services.arbiter.live_game(game_id, guest.peer)).game
    except NoSuchGame:
        if if_over:
            return True
        raise
    return if_over if game.over else any(game.contacted[seat] for seat in game.seats(guest.player.player))


def _of_invitation(refusal: GmError | Refused) -> GmError | Refused:
    """Where there is no game there is no invitation, which by the manual is 400 and not 404."""
    return NotAvailable(str(refusal)) if refusal.code == NoSuchGame.code else refusal
