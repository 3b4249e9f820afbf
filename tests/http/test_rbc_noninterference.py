"""HTTP reveals nothing hidden: in two games that look the same to a player, every route answers the same."""

from __future__ import annotations

import random
from functools import partial
from typing import Any
from zlib import crc32

import msgspec
import pytest
from trio.testing import MockClock

from gm_protocol.errors import NotAvailable
from gm_protocol.state import Color
from gmd.games.game import Game
from gmd.games.game_note import note_of
from gmd.games.rbc import RbcGame
from gmd.games.views import Viewer
from gmd.handlers import state
from gmd.handlers.game_requests import viewer_of
from gmd.http import connection, service
from gmd.http.app import make_app
from gmd.http.asgi import Application
from gmd.http.backend import Backend
from gmd.http.pages import counts
from gmd.http.pages import game as game_page
from gmd.http.pages.looking import Look, look_at
from gmd.http.pages.visit import Visit
from gmd.http.streaming import head_of
from gmd.lobby.admission import Admission
from gmd.lobby.invitation import Invitation, invitation_of
from gmd.lobby.lobby import Lobby
from gmd.play.arbiter import Arbiter
from gmd.play.live_games import LiveGame
from tests.http.many_pairs import Tables, compare_pairs, is_distinguished, short_pairs
from tests.http.request_catalogue import HttpRequest, Route, routes_of
from tests.http.twins import Pair, Twin, pair_of, play, two_tables
from tests.proofs import cases
from tests.secrecy import leaks
from tests.secrecy.leaks import Patch
from tests.secrecy.twins import Twins


async def compare_answers(clock: MockClock, tables: Tables, twins: Twins, rng: random.Random) -> int:
    """Play a pair of games, and ask every route; return the number of answers compared.

    :raises Distinguished: two answers differ.
    """
    pair = pair_of(tables, twins, clock, rng)
    await play(pair, twins)
    assert pair.asked == routes_of(tables[0].daemon)  # a new route must be used here too
    return pair.compared


async def test_short_games_that_look_the_same_are_answered_the_same(mock_clock: MockClock) -> None:
    async with two_tables() as tables:
        assert await compare_answers(mock_clock, tables, *next(short_pairs())) > 100


@pytest.mark.slow
async def test_games_that_look_the_same_are_answered_the_same(mock_clock: MockClock) -> None:
    compared = await compare_pairs(max(1, cases(1) // 2), two_tables, partial(compare_answers, mock_clock))
    print(f"{sum(compared)} answers compared")


# --- Each leak is detected --------------------------------------------------------------------------------------------

_listed, _room = Lobby.listed, Admission.room


def hash_of(game: Game) -> int:
    """Return a value that depends on the true position of a live game, which must stay hidden."""
    return 0 if game.over else position_of(game)


def position_of(game: Game) -> int:
    """Return the true position as a number."""
    return crc32(game.recon.board.fen().encode()) if isinstance(game, RbcGame) else 0


def games_at_hand(arbiter: Arbiter) -> list[Game]:
    """Return all games that were requested recently."""
    return [table.game for table in arbiter._cache._recent.values()]


async def listed_by_position(lobby: Lobby, player: int, peer: str = "") -> list[Invitation]:
    """Return a list of invitations that includes live games, depending on their true positions."""
    games = [game for game in games_at_hand(lobby._arbiter) if hash_of(game) % 4]
    return await _listed(lobby, player, peer) + [invitation_of(note_of(game)) for game in games]


async def refused_by_position(lobby: Lobby, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
    """Refuse with words that depend on the true position."""
    raise NotAvailable(f"game_id: {hash_of((await lobby._arbiter.live_game(game_id)).game)}")


def room_by_position(admission: Admission, player: int) -> int:
    """Give room to a player who has none, depending on the true position."""
    return _room(admission, player) or any(
        hash_of(game) % 2 for game in games_at_hand(admission._expire.__self__._arbiter)
    )


async def look_at_the_truth(visit: Visit, game_id: int, seat: Color | None = None) -> Look:
    """Show a page or a picture of the true position."""
    look = await look_at(visit, game_id, seat)
    game = (await visit.backend.services.arbiter.live_game(game_id)).game
    if not isinstance(game, RbcGame):
        return look
    return Look(msgspec.structs.replace(look.state, fen=game.recon.board.fen()), look.seat)


async def look_by_position(visit: Visit, game_id: int, seat: Color | None = None) -> Look:
    """Refuse with words that depend on the true position."""
    raise NotAvailable(f"game_id: {hash_of((await visit.backend.services.arbiter.live_game(game_id)).game)}")


def everything_to_spectators(*arguments: Any) -> Viewer:
    """Show live games in full to whoever has no seat."""
    viewer = viewer_of(*arguments)
    return Viewer.OVERSEER if viewer is Viewer.NOBODY else viewer


#: Those of the daemon's possible leaks that a route would pass on. Each is also found in replies of the socket.
PASSED_ON = (
    "the order of errors",
    "the phase off turn",
    "the order of moves",
    "a wait that ends at a sense",
    "the half-move clock",
    "the size of a reply",
    "the last move",
)

LEAKS: dict[str, Patch] = {
    **{name: leaks.LEAKS[name].patch for name in PASSED_ON},
    "everything, to spectators": (state, "viewer_of", everything_to_spectators),
    "the position on pages and pictures": (game_page, "look_at", look_at_the_truth),
    "the counts of positions": (counts, "look_at", look_by_position),
    "the list of invitations": (Lobby, "listed", listed_by_position),
    "accepting": (Lobby, "accept", refused_by_position),
    "finishing": (Lobby, "finish", refused_by_position),
    "inviting": (Admission, "room", room_by_position),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "leak", [pytest.param(leak, marks=pytest.mark.nightly) if leak in PASSED_ON else leak for leak in LEAKS]
)
async def test_each_leak_is_detected(leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*LEAKS[leak])
    async with two_tables() as tables:
        assert await is_distinguished(tables, partial(compare_answers, mock_clock))


class Noting(Pair):
    """Pair that notes which routes differ, and continues.

    :ivar differing: these routes.
    """

    def __init__(self, twins: tuple[Twin, Twin], clock: MockClock, rng: random.Random) -> None:
        super().__init__(twins, clock, rng)
        self.differing: set[Route] = set()

    def compare(self, request: HttpRequest, one: object, other: object) -> None:
        if one != other:
            self.differing.add(request.route)


@pytest.mark.slow
async def test_leak_is_detected_on_every_route(mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    async with two_tables() as (table, _):
        routes = routes_of(table.daemon)
    monkeypatch.setattr(service, "make_app", with_the_truth_in_a_header)
    monkeypatch.setattr(connection, "head_of", head_with_the_truth)
    twins, rng = next(short_pairs())
    async with two_tables() as (one, other):
        pair = Noting((Twin(one, twins.observer), Twin(other, twins.observer)), mock_clock, rng)
        await play(pair, twins)
    assert pair.differing == pair.asked == routes


def with_the_truth_in_a_header(backend: Backend) -> Application:
    """Return the application with a header in every response that depends on true positions."""
    app = make_app(backend)

    async def leaking(scope: Any, receive: Any, send: Any) -> None:
        async def send_more(event: Any) -> None:
            if event["type"] == "http.response.start":
                event["headers"] = [*event["headers"], (b"x-truth", b"%d" % truth_of(backend))]
            await send(event)

        await app(scope, receive, send_more)

    return leaking


def head_with_the_truth(stream: Any) -> bytes:
    """Return the head of a stream of events with the same header."""
    truth = truth_of(stream._join.args[0].backend)
    return head_of(stream).replace(b"\r\n", b"\r\nx-truth: %d\r\n" % truth, 1)


def truth_of(backend: Backend) -> int:
    return sum(map(position_of, games_at_hand(backend.services.arbiter)))
