"""``move``: a seat's move."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from gm_protocol.errors import BadRequest
from gm_protocol.messages import MakeMove
from gm_protocol.state import side_of
from gmd.games.commands import Play
from gmd.games.game import Game, Snapshot, why_no_draw
from gmd.games.rbc import PASS
from gmd.games.views import VIEWER_IN
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import act, in_game, move_answer, state_answer
from gmd.play.live_games import LiveGame


@in_game(by_player=True, acts=True)
async def move(request: MakeMove, live: LiveGame, context: RequestContext) -> PendingReply:
    """Play the move, or show its outcome again if the request is repeated."""
    game = live.game
    seat = game.seat_of(context.player, side_of(request.seat), request.ply)
    text = _pass_in(game) if request.move is None else request.move
    played = Play(seat, text, request.ply, request.offer_draw, request.thought, request.claim_draw)
    viewer = VIEWER_IN[seat]
    shown = act(live, played, viewer, context).shown
    if game.moves_are_requests:
        return move_answer(live, viewer, context, shown=shown)
    refused = _claim_refused(shown or game.now) if request.claim_draw else UNSET
    return state_answer(live, viewer, context, shown=shown, claim_refused=refused)


def _claim_refused(after: Snapshot) -> str | UnsetType:
    """Return why a claim of a draw was wrong; unset if the game is over."""
    if after.ending is not None:
        return UNSET
    return f"claim_draw: no draw can be taken after this move: {why_no_draw(after)}"


def _pass_in(game: Game) -> str:
    """Return the text of a pass.

    :raises BadRequest: the variant has no passes.
    """
    if game.moves_are_requests:
        return PASS
    raise BadRequest(f"move: null is a pass, which {game.options.variant} does not have; send SAN (Nf3) or UCI (g1f3)")
