"""``GET /games/7/aid``: where enemy pieces may stand, for a player of blind chess alone.

It is the protocol's ``belief`` in the form of a page, so that its handler decides for both what a player may ask.
"""

from __future__ import annotations

from typing import Any

import chess
import msgspec
from litestar import Request, Response, get
from msgspec import Struct

from gm_protocol.belief import BeliefReply, Hint
from gm_protocol.errors import NotAPlayer, NotAvailable
from gm_protocol.state import COLOR_NAMES
from gmd.handlers.belief import has_hints
from gmd.http.pages.answers import ERRORS, IN_PROGRESS, read_fields, read_query
from gmd.http.pages.looking import look_at
from gmd.http.pages.visit import FromVisit
from gmd.http.pages.words import believed, hinted
from gmd.http.seat import GameId

#: The kinds of pieces, in the order of the protocol's rows.
KINDS = "pnbrqk"


class AidQuery(Struct, frozen=True):
    """What the query may hold beside that of a game's page.

    :ivar hint: whether the sense that would tell most is wanted.
    """

    hint: bool = False


class Aid(Struct, frozen=True):
    """The answer.

    :ivar positions: how many positions are possible, or were drawn from more than can be followed.
    :ivar exact: whether these are all that are possible.
    :ivar shares: for each kind of piece (``p``, ``n``, ``b``, ``r``, ``q``, ``k``) the share of the positions in which
        one of the opponent's stands on each square, from a1, b1 to h8.
    :ivar words: how many positions there are, in a sentence.
    :ivar hints: whether a hint can be asked for.
    :ivar hint: the sense that would tell most; None unless it was asked for, and the player is to sense.
    :ivar hint_words: the same in a sentence.
    """

    positions: int
    exact: bool
    shares: dict[str, list[float]]
    words: str
    hints: bool
    hint: Hint | None
    hint_words: str


@get("/games/{game_id:int}/aid", include_in_schema=False, exception_handlers=ERRORS)
async def aid(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return where enemy pieces may stand, as far as the player can know."""
    query, wanted = read_query(request), read_fields(request, AidQuery)
    look = await look_at(visit, game_id, query.seat)
    if look.seat is None:
        raise NotAPlayer("you do not play in this game")
    if look.over:
        raise NotAvailable(f"game {game_id} is over: its page shows everything")
    reply = await visit.ask("belief", game_id=game_id, seat=COLOR_NAMES[look.seat], hint=wanted.hint)
    belief = msgspec.convert(reply, BeliefReply)
    live = await visit.backend.services.arbiter.live_game(game_id, visit.peer)
    return Response(aid_of(belief, look.seat, hints=has_hints(live.game)), headers=IN_PROGRESS)


def aid_of(belief: BeliefReply, seat: chess.Color, *, hints: bool) -> Aid:
    """Return a player's belief as the page shows it."""
    theirs = belief.marginals[6:] if seat else belief.marginals[:6]
    hint = belief.hint or None
    return Aid(
        belief.count,
        belief.exact,
        {kind: [round(share, 5) for share in row] for kind, row in zip(KINDS, theirs, strict=True)},
        believed(belief.count, exact=belief.exact),
        hints,
        hint,
        "" if hint is None else hinted(hint.square, hint.left, belief.count, exact=belief.exact),
    )
