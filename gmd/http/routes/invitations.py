"""``/api/invitations``: invitations to RBC games. An invitation's id is its game's."""

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
from gmd.handlers.in_process import Refused
from gmd.http.api_clients import ApiClient, FromApiClient, connection_of
from gmd.http.backend import Backend, FromDaemon
from gmd.http.claims import ClaimedElsewhere
from gmd.http.errors import UNAUTHORIZED, Unusual, documented, documented_with_body
from gmd.http.routes.turns import Done
from gmd.http.seat import GameId, check_id
from gmd.lobby.invitation import inviter_of

AnyRequest = Request[Any, Any, Any]


class Invitations(Struct, frozen=True):
    """Invitations, by their ids, oldest first."""

    invitations: list[int]


#: A limit of turns.
Limit = Annotated[int, Meta(ge=1, le=1_000_000)]


class Invite(Struct, frozen=True, forbid_unknown_fields=True):
    """The opponent's name and your colour, true for White. Terms left out are the defaults of ``LocalGame``."""

    opponent: str
    color: bool
    clock: Annotated[
        ClockOption | ClockText | UnsetType | None,
        Meta(description='Seconds: initial and increment, or a text like "900+5"; null for none. Default: 900+5.'),
    ] = UNSET
    fen: Annotated[str | UnsetType, Meta(description="The starting position. Default: the usual one.")] = UNSET
    reversible_moves: Annotated[
        Limit | UnsetType | None,
        Meta(
            description="The game is a draw after this many turns without a capture or a pawn move; null for no limit. "
            "Default: 100."
        ),
    ] = UNSET
    max_turns: Annotated[
        Limit | UnsetType | None,
        Meta(description="The game is a draw after this many full turns; null for no limit. Default: null."),
    ] = UNSET

    def terms(self) -> dict[str, Any]:
        """Return the given terms of the game, as fields of ``challenge``."""
        given = {name: getattr(self, name) for name in ("clock", "fen", "reversible_moves", "max_turns")}
        return {name: value for name, value in given.items() if value is not UNSET}


class InvitedGame(Struct, frozen=True):
    """The game's number."""

    game_id: int


NO_NUMBER = "The path does not have a number there."
ANYBODY = documented(unauthorized=UNAUTHORIZED)
INVITED = documented(
    unauthorized=f"{UNAUTHORIZED} Or another program of the account has accepted it: rc-connect prints why.",
    bad_request="Invitation does not exist, or no longer exists.",
    not_found=NO_NUMBER,
)
FINISHED = documented(
    unauthorized=UNAUTHORIZED,
    bad_request="Invitation does not exist or invitation is not accepted.",
    not_found=NO_NUMBER,
)
SENT = documented_with_body(
    unauthorized=UNAUTHORIZED,
    bad_request="The opponent is not active, has its maximum of games, or is you; the clock, the FEN or a limit "
    "is not valid; or malformed request data.",
)


@get("/", summary="The invitations to you", responses=ANYBODY)
async def listed(client: FromApiClient, backend: FromDaemon, request: AnyRequest) -> Invitations:
    """Return the invitations to the player, oldest first.

    Those not accepted; those accepted, until ``ready`` or ``finish``, on this connection or on one that has sent no
    request in the game for a minute; and the games that the player has made, after 15 seconds without such a request.
    """
    player, connection = client.player.player, connection_of(request)
    found = [invitation.game_id for invitation in await backend.services.lobby.listed(player, client.peer)]
    found = [game_id for game_id in found if client.claims.admits(player, game_id, connection)]
    for game_id in client.claims.offered(player, connection):
        if await _is_played(backend, game_id, client, if_over=True):
            client.claims.forget(player, game_id)
        else:
            found.append(game_id)
    return Invitations(sorted(found))


@post("/", status_code=200, summary="Invite somebody", responses=SENT)
async def invite(data: JSONBody[Invite], client: FromApiClient) -> InvitedGame:
    """Make a game in which the player has its seat, with fifteen minutes and five seconds a move by default.

    After fifteen seconds without a request in it, the game is also listed to the player, for its own ``rc-connect``.
    """
    color = COLOR_NAMES[data.color]
    terms = {"variant": "rbc", **data.terms()}
    reply = await client.ask("challenge", opponent=data.opponent, color=color, brief=True, **terms)
    client.claims.made(client.player.player, reply["game_id"])
    return InvitedGame(reply["game_id"])


@post("/{invitation_id:int}", status_code=200, summary="Accept an invitation", responses=INVITED)
async def accept(invitation_id: GameId, client: FromApiClient, backend: FromDaemon, request: AnyRequest) -> InvitedGame:
    """Take the seat. Accepting again gives the same game, since reconchess's client may have lost the reply.

    Another connection is refused as long as the one that has accepted plays the game, or may be about to.
    """
    player, connection, claims = client.player.player, connection_of(request), client.claims
    try:
        check_id(invitation_id)
        if not claims.holds(player, invitation_id, connection) and await _is_played(backend, invitation_id, client):
            raise ClaimedElsewhere(invitation_id)
        if not claims.knows(player, invitation_id) and await _is_inviter(backend, invitation_id, client):
            claims.made_before(player, invitation_id)
        with claims.accepting(player, invitation_id, connection):
            if not claims.is_made(player, invitation_id):
                await client.ask("accept", game_id=invitation_id, brief=True)
    except ClaimedElsewhere as refusal:  # rc-connect prints the sentence of this status only
        raise Unusual(refusal, HTTP_401_UNAUTHORIZED) from None
    except (NoSuchGame, Refused) as refusal:
        raise _of_invitation(refusal) from None
    return InvitedGame(invitation_id)


@post("/{invitation_id:int}/finish", status_code=200, summary="Remove an invitation from the list", responses=FINISHED)
async def finish(invitation_id: GameId, client: FromApiClient, backend: FromDaemon) -> Done:
    """Remove the invitation from the list. Its game goes on, if it has not ended."""
    if client.claims.is_made(client.player.player, invitation_id):
        client.claims.act(client.player.player, invitation_id)
        return Done()
    try:
        check_id(invitation_id)
        client.check()
        await backend.services.lobby.finish(invitation_id, client.player.player, client.arrived, client.peer)
    except NoSuchGame as refusal:
        raise _of_invitation(refusal) from None
    return Done()


async def _is_played(backend: Backend, game_id: int, client: ApiClient, *, if_over: bool = False) -> bool:
    """Return whether a client has sent a request in a game.

    :param if_over: the result for a game that is over, or no longer exists.
    :raises NoSuchGame: there is no game with that id, and ``if_over`` is false.
    """
    try:
        game = await backend.services.lobby.look(game_id, client.peer)
    except NoSuchGame:
        if if_over:
            return True
        raise
    return if_over if game.over else any(game.contacted[seat] for seat in game.seats(client.player.player))


async def _is_inviter(backend: Backend, game_id: int, client: ApiClient) -> bool:
    """Return whether a client has made a game that is not over, and invited the opponent.

    :raises NoSuchGame: there is no game with that id.
    """
    game = await backend.services.lobby.look(game_id, client.peer)
    return bool(game.created.invited_sides) and not game.over and inviter_of(game.created) == client.player.player


def _of_invitation(refusal: GmError | Refused) -> GmError | Refused:
    """Turn a 404 into the 400 that the manual has for an invitation that does not exist."""
    return NotAvailable(str(refusal)) if refusal.code == NoSuchGame.code else refusal
