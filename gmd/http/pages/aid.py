"""``GET /games/7/aid``: the squares on which an enemy piece may still stand, for a player of blind chess alone.

They follow from what the player has observed, and from nothing else (:func:`gmd.games.views.observations`,
:mod:`gm_recon.possible`).
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import chess
from litestar import Request, Response, get
from msgspec import Struct

from gm_protocol.errors import NotAPlayer, NotAvailable
from gm_recon.possible import PossiblePositions
from gmd.games.game import Game
from gmd.games.rbc_knowledge import Observed
from gmd.games.views import observations
from gmd.http.pages.answers import ERRORS, IN_PROGRESS, read_query
from gmd.http.pages.counting import CAP
from gmd.http.pages.looking import look_at, worked
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.seat import GameId
from gmd.play.beliefs import Followed, observe_steps

#: Draws which positions are kept between a turn of the opponent and a sense; no answer depends on it.
_SEED = 1
#: The most steps of work for an answer, of some half a millisecond each, as for a finished game.
MOST_STEPS = 8_000


class Aid(Struct, frozen=True):
    """The answer.

    :ivar positions: how many positions are possible; None for more than are counted.
    :ivar squares: where a piece of the opponent's may stand; empty if that is not known.
    :ivar words: the same in a sentence.
    """

    positions: int | None
    squares: list[str]
    words: str


@get("/games/{game_id:int}/aid", include_in_schema=False, exception_handlers=ERRORS)
async def aid(request: Request[Any, Any, Any], visit: FromVisit, game_id: GameId) -> Response[Any]:
    """Return where enemy pieces may stand, as far as the player can know."""
    query = read_query(request)
    look = await look_at(visit, game_id, query.seat)
    state, cache = look.state, visit.site.aids
    if look.over:
        raise _over(visit, game_id)
    if look.seat is None:
        raise NotAPlayer("you do not play in this game")
    if not look.variant.senses or state.phase == "open":
        raise NotAvailable(f"game {game_id}: this aid is for reconnaissance blind chess, once the game has begun")
    key = (game_id, look.seat)
    async with cache.locks.hold(key):
        game, observed = await _observed(visit, game_id, look.seat)
        await look_at(visit, game_id, query.seat)  # is answered once all that was observed is durable
        followed = cache.find(key) or Followed(partial(_begin, look.seat, state.start_fen))
        answer = await worked(visit, aid_steps(followed, game, observed))
        cache.keep(key, followed)
    return Response(answer, headers=IN_PROGRESS)


def _begin(seat: chess.Color, start_fen: str) -> PossiblePositions:
    return PossiblePositions(seat, start_fen, cap=CAP, rng=random.Random(_SEED))


async def _observed(visit: Visit, game_id: int, seat: chess.Color) -> tuple[Game, Sequence[Observed]]:
    """Return a game and what a seat has learnt.

    :raises NotAvailable: the game has ended, perhaps while another request for its aid was answered.
    """
    live = await visit.backend.services.arbiter.live_game(game_id, visit.peer)
    if live.game.now.ending is not None:
        raise _over(visit, game_id)
    return live.game, observations(live.game, seat) or []


def _over(visit: Visit, game_id: int) -> NotAvailable:
    visit.site.aids.drop(game_id)
    return NotAvailable(f"game {game_id} is over: its page shows everything")


def aid_steps(followed: Followed, game: Game, observed: Sequence[Observed]) -> Generator[None, None, Aid]:
    """Follow a game to its present, and return the aid, in steps.

    A player who has reckoned with more than :data:`.counting.CAP` positions after a sense, or whose positions take more
    than :data:`MOST_STEPS` of work at once, is not followed any further.
    """
    for steps, _ in enumerate(_caught_up(followed, game, observed)):
        if steps == MOST_STEPS:
            followed.positions = None
            break
        yield
    positions = followed.positions
    if positions is None or not positions.complete:
        return Aid(None, [], f"More than {CAP:,} positions are possible: too many to count.")
    number = len(positions)
    where = [chess.SQUARE_NAMES[square] for square in chess.scan_forward(positions.occupied())]
    what = "position is" if number == 1 else "positions are"
    return Aid(number, where, f"{number:,} {what} possible; enemy pieces may stand on {len(where)} squares.")


def _caught_up(followed: Followed, game: Game, observed: Sequence[Observed]) -> Generator[None, None, None]:
    yield from followed.resume_steps(game, observed)
    while len(followed.seen) < len(observed) and (positions := followed.positions) is not None:
        each = observed[len(followed.seen)]
        yield from observe_steps(positions, each)
        if each.step == "sense" and not positions.complete:
            followed.positions = None
        followed.seen.append(each)
