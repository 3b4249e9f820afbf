"""Replies that show a player the game in which it has got a seat."""

from __future__ import annotations

import chess
from msgspec import structs

from gm_protocol.codec import echo_id
from gm_protocol.lobby import Accept, SeatReply
from gm_protocol.messages import GameRequest, Join, JoinReply, NewGame
from gmd.games.game import seat_name
from gmd.games.views import Viewer
from gmd.live_games import LiveGame

from .context import PendingReply, RequestContext
from .games import viewer_of
from .show import names_in, state_of


def terms_of(request: GameRequest) -> NewGame:
    """Return the options of the requested game, as a ``new_game`` without players."""
    asked = {name: getattr(request, name) for name in GameRequest.__struct_fields__}
    return structs.replace(NewGame(player_white=None, player_black=None, **asked), id=None, token=None)


def take_attempt(context: RequestContext) -> None:
    """Count a request that may create a game with another player.

    :raises TooMany: too many came from the same address.
    """
    quotas, peer = context.services.lobby.quotas, source_peer(context)
    quotas.check_game(peer)
    quotas.take_invitation(peer)


def source_peer(context: RequestContext) -> str:
    """Return the peer of a request, as host:port, for limits by address; empty for the operator, who has none."""
    return "" if context.session.is_operator else context.session.peer


def seat_answer(request: GameRequest, live: LiveGame, context: RequestContext) -> PendingReply:
    """Return the reply that shows the player its game; if the request marks presence, note its first contact."""
    player, game = context.actor, live.game
    if context.shows_presence:
        context.services.lobby.ready(live, player, context.arrived)
    viewer = viewer_of(game, None, context, both=Viewer.WHITE)
    reply = SeatReply(
        id=echo_id(request),
        game_id=game.id,
        seat=seat_name(game.seats(player)[0]),
        state=state_of(live, viewer, context, brief=request.brief),
        options=game.options,
    )
    return context.reply(reply, live.commit_for(viewer), live)


def join_answer(
    request: Accept | Join, live: LiveGame, named: chess.Color | None, context: RequestContext
) -> PendingReply:
    """Return the reply that shows the player the seat that it has taken; note its first contact as above.

    :param named: the seat that the request names.
    """
    player, game = context.actor, live.game
    if context.shows_presence:
        context.services.lobby.ready(live, player, context.arrived)
    viewer = viewer_of(game, named, context, both=Viewer.WHITE)
    state = state_of(live, viewer, context, brief=request.brief)
    reply = JoinReply(
        id=echo_id(request),
        seat=seat_name(game.seats(player)[0] if named is None else named),
        state=state,
        options=game.options,
        names=names_in(state, context),
    )
    return context.reply(reply, live.commit_for(viewer), live)
