"""``pair``: the operator makes two registered players play each other."""

from __future__ import annotations

import chess

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, NotAvailable, quote
from gm_protocol.lobby import Pair, PairReply
from gm_protocol.options import VARIANT_TRAITS
from gmd.games.game import Game, seat_name
from gmd.games.views import Viewer
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import state_of, terms_of
from gmd.handlers.permission import operator_only
from gmd.handlers.tokens import made_before, token_use
from gmd.lobby.invitation import Offer
from gmd.play.live_games import LiveGame
from gmd.players.account import Account


async def pair(request: Pair, context: RequestContext) -> PendingReply:
    """Create the game, to which both are invited; or show the one that the same request created before.

    A repeated request shows its game even if the players have left, so that the operator can follow it.
    """
    operator_only(context)
    context = context.acting_as(None)
    token = token_use(request, None)
    if token is not None and (live := await made_before(token, request.token, context)) is not None:
        return _answer(request, live, context)
    white, black = _free("white", request.white, context), _free("black", request.black, context)
    if white == black:
        raise BadRequest(f"black: {quote(request.black)} plays White already; name another player")
    if request.ranked and not VARIANT_TRAITS[request.variant or "standard"].rated:
        raise BadRequest(f"ranked: only games of rbc are rated, and variant is {quote(request.variant)}")
    for field, account in (("white", white), ("black", black)):
        await context.services.lobby.make_room(field, quote(getattr(request, field)), account.player)
    offer = Offer(white.player, black.player, None, terms_of(request), request.ranked, token)
    return _answer(request, await context.services.lobby.offer(offer), context)


def _free(field: str, player: int | str, context: RequestContext) -> Account:
    """Return a player who is present and has room for a game, or would have after an invitation is displaced.

    :raises NotAvailable: the player does not exist, is not present, or has no room.
    """
    registry, lobby = context.services.authenticator.registry, context.services.lobby
    account = registry.named(player) if isinstance(player, str) else registry.get(player)
    if account is None:
        raise NotAvailable(f"{field}: nobody is registered as {quote(player)}")
    if not lobby.presence.is_here(account.player):
        raise NotAvailable(f"{field}: {quote(player)} is not present; try again when the player is online")
    if not lobby.could_have_room(account.player):
        raise NotAvailable(f"{field}: {quote(player)} has as many games as its max_games allows; try again later")
    return account


def _answer(request: Pair, live: LiveGame, context: RequestContext) -> PendingReply:
    """Return the reply that shows the operator the game."""
    game: Game = live.game
    reply = PairReply(
        id=echo_id(request),
        game_id=game.id,
        accepted=[seat_name(seat) for seat in chess.COLORS if game.players[seat] is not None],
        called_off=None if game.called_off_by is None else seat_name(game.called_off_by),
        state=state_of(live, Viewer.OVERSEER, context, brief=request.brief),
        options=game.options,
    )
    return context.reply(reply, live.commit_for(Viewer.OVERSEER), live)
