"""``pair``: the operator has two registered players play each other."""

from __future__ import annotations

import chess

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadRequest, NotAvailable, quote
from gm_protocol.lobby import Pair, PairReply
from gmd.games.game import Game, seat_name
from gmd.games.views import Viewer
from gmd.live_games import LiveGame
from gmd.lobby.offer import Offer
from gmd.players.account import Account

from .call import Answer, Call, handles, operator_only
from .seated import terms_of
from .show import state_of
from .tokens import made_before, token_use


@handles(Pair)
async def pair(request: Pair, call: Call) -> Answer:
    """Make the game, to which both are invited; or show the one that the same request made before.

    That one is shown whoever is here by now: so the same request says what has become of it.
    """
    operator_only(request, call)
    token = token_use(request, None)
    if token is not None and (live := await made_before(token, request.token, None, call)) is not None:
        return _answer(request, live, call)
    white, black = _free("white", request.white, call), _free("black", request.black, call)
    if white == black:
        raise BadRequest(f"black: {quote(request.black)} is who plays White, too")
    if request.ranked and request.variant != "rbc":
        raise BadRequest(f"ranked: there are ratings of rbc alone, and variant is {quote(request.variant)}")
    for field, account in (("white", white), ("black", black)):
        await call.services.lobby.make_room(field, quote(getattr(request, field)), account.player)
    offer = Offer(white.player, black.player, None, terms_of(request), request.ranked, token)
    return _answer(request, await call.services.lobby.offer(offer), call)


def _free(field: str, player: int | str, call: Call) -> Account:
    """A player who is here and has room for a game, or would have if somebody's invitation made way.

    :raises NotAvailable: it is not, or has none, or does not exist.
    """
    registry, lobby = call.services.authenticator.registry, call.services.lobby
    account = registry.named(player) if isinstance(player, str) else registry.get(player)
    if account is None:
        raise NotAvailable(f"{field}: nobody is registered as {quote(player)}")
    if not lobby.presence.is_here(account.player):
        raise NotAvailable(f"{field}: {quote(player)} is not here")
    if not lobby.could_have_room(account.player):
        raise NotAvailable(f"{field}: {quote(player)} has as many games in hand as it takes at a time")
    return account


def _answer(request: Pair, live: LiveGame, call: Call) -> Answer:
    call.live, call.viewer = live, Viewer.OVERSEER
    game: Game = live.game
    reply = PairReply(
        id=echo_id(request),
        game_id=game.id,
        accepted=[seat_name(seat) for seat in chess.COLORS if game.players[seat] is not None],
        called_off=None if game.called_off_by is None else seat_name(game.called_off_by),
        state=state_of(live, None, call, brief=request.brief),
        options=game.options,
    )
    return Answer(reply, live.commit_for(call.viewer))
