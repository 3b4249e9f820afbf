"""Every route has a place: the owner of its game, the lobby's owner, or any daemon."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmd.cluster.routing import OfGame, Where
from gmd.http.proxy.destinations import destination
from tests.http.helpers import http_daemon

GAME = OfGame(7)
#: Who answers each route of the application. A new route needs its line.
EXPECTED = {
    "/": Where.LOBBY,
    "/contests": Where.LOBBY,
    "/contests/{contest_id}": Where.LOBBY,
    "/events": Where.LOBBY,
    "/play": Where.LOBBY,
    "/players/{player}": Where.LOBBY,
    "/ranked": Where.LOBBY,
    "/register": Where.LOBBY,
    "/sign-in": Where.LOBBY,
    "/sign-out": Where.LOBBY,
    "/spectate": Where.LOBBY,
    "/embed/{game_id}": GAME,
    "/games/{name}": GAME,
    **{f"/games/{{game_id}}/{what}": GAME for what in ("act", "aid", "counts", "events", "join", "rematch")},
    "/api/version": Where.HERE,
    "/api/leaderboard": Where.LOBBY,
    "/api/invitations": Where.LOBBY,
    "/api/invitations/{invitation_id}": GAME,
    "/api/invitations/{invitation_id}/finish": GAME,
    "/api/users": Where.LOBBY,
    **{f"/api/users/me{what}": Where.LOBBY for what in ("", "/max_games", "/ranked", "/version")},
    **{
        f"/api/games/{{game_id}}/{what}": GAME
        for what in (
            *("color", "end_turn", "error_resign", "game_history", "game_status", "is_my_turn", "is_over", "move"),
            *("move_actions", "opponent_move_results", "opponent_name", "ready", "resign", "seconds_left", "sense"),
            *("sense_actions", "starting_board", "win_reason", "winner_color"),
        )
    },
    "/healthz": Where.HERE,
    "/metrics": Where.HERE,
    "/operator/daemons": Where.HERE,
    "/schema": Where.HERE,
    "/schema/openapi.json": Where.HERE,
    "/schema/{path}": Where.HERE,
    "/static/{version}/{file}": Where.HERE,
}


async def test_every_route_has_a_place() -> None:
    async with http_daemon() as (daemon, _):
        assert daemon.http is not None
        routes = {route.path_format for route in daemon.http._app.routes}  # type: ignore[attr-defined]
    assert routes == EXPECTED.keys()
    for path, expected in EXPECTED.items():
        filled = re.sub(r"\{[^}]*\}", "7", path)
        assert destination(filled) == expected, path
        assert destination(f"{filled}/") == expected, path


@pytest.mark.parametrize("suffix", ["", ".svg", ".json", ".pgn", "/events", "/", "/anything/else"])
def test_whatever_begins_with_a_game_is_for_its_owner(suffix: str) -> None:
    assert destination(f"/games/4711{suffix}") == OfGame(4711)
    assert destination(f"/games/04711{suffix}") == OfGame(4711)


@pytest.mark.parametrize(
    "path",
    [
        *("/games", "/games/", "/games/x", "/games/-7", "/games/7x", "/games/٧", f"/games/{'7' * 17}", "/x", "/7", "*"),
        *("/api", "/api/games/x", "/api/x", "/api/play", "/api/static/1", "http://example.com/games/7"),
    ],
)
def test_a_path_without_a_route_has_no_place(path: str) -> None:
    assert destination(path) is None


@given(st.text(st.sampled_from("/.79axgmesptictv%٧\n\0"), max_size=30))
def test_any_text_has_one_place_whatever_slashes_are_doubled(path: str) -> None:
    assert destination(path) == destination(re.sub("/", "//", path))
