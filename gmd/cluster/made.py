"""Showing, at a game's owner, the game that a request has made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gm_protocol.lobby import Challenge, Pair, Seek
from gm_protocol.messages import GameFromPgn, NewGame, Request
from gmd.handlers.new_game import new_game_answer
from gmd.handlers.pair import pair_answer
from gmd.live_games import LiveGame
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.permission import authorise, operator_only
from gmd.requests.seated import seat_answer

_ANSWERS: Mapping[type[Request], Callable[[Any, LiveGame, RequestContext], PendingReply]] = {
    Challenge: seat_answer,
    Seek: seat_answer,
    NewGame: new_game_answer,
    GameFromPgn: new_game_answer,
    Pair: pair_answer,
}
#: The kinds of requests that make games.
MAKES: frozenset[type[Request]] = frozenset(_ANSWERS)


async def show_made(request: Request, game_id: int, context: RequestContext) -> PendingReply:
    """Return the reply to a request that has made a game, now or when it was sent before.

    :raises NoSuchGame: the game was pruned.
    :raises NotMine: another daemon owns it.
    """
    if isinstance(request, Pair):
        operator_only(context)
        context = context.acting_as(None)
    else:
        authorise(context)
    live = await context.services.arbiter.live_game(game_id, context.session.peer)
    return _ANSWERS[type(request)](request, live, context)
