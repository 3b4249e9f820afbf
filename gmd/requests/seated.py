"""What the handlers of ``challenge`` and ``seek`` share: both make games, and show the player the one it is in."""

from __future__ import annotations

from msgspec import structs

from gm_protocol.codec import echo_id
from gm_protocol.lobby import SeatReply
from gm_protocol.messages import GameRequest, NewGame
from gmd.games.game import seat_name
from gmd.games.views import Viewer
from gmd.live_games import LiveGame

from .call import Answer, Call
from .show import state_of, viewer_of


def terms_of(request: GameRequest) -> NewGame:
    """What is to be played."""
    asked = {name: getattr(request, name) for name in GameRequest.__struct_fields__}
    return structs.replace(NewGame(player_white=None, player_black=None, **asked), id=None, token=None)


def take_attempt(call: Call) -> None:
    """Count a request that may make a game for somebody else.

    :raises TooMany: there have been too many from where it comes.
    """
    quotas, peer = call.services.lobby.quotas, source_peer(call)
    quotas.check_game(peer)
    quotas.take_invitation(peer)


def source_peer(call: Call) -> str:
    """Where a request comes from, as host:port, for what is counted by address; empty where nothing is."""
    return "" if call.is_operator else call.peer


def seat_answer(request: GameRequest, live: LiveGame, player: int, call: Call) -> Answer:
    """The reply that shows the player its game; where the request counts as such, it has been heard from in it."""
    call.live = live
    if call.counts_as_contact:
        call.services.lobby.ready(live, player, call.arrived)
    game = live.game
    call.viewer = viewer_of(game, player, None, call, both=Viewer.WHITE)
    reply = SeatReply(
        id=echo_id(request),
        game_id=game.id,
        seat=seat_name(game.seats(player)[0]),
        state=state_of(live, player, call, brief=request.brief),
        options=game.options,
    )
    return Answer(reply, live.commit_for(call.viewer))
