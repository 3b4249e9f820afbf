"""Every route of reconchess's API gives every status of its manual, and our routes give theirs: see ``contract``.

A new route, or a new status of one, fails here until it has an example.
"""

from __future__ import annotations

import httpx
import pytest

from tests.http.contract import (
    BODIES,
    DOCUMENTED,
    MANUAL,
    NOT_KEPT,
    Example,
    finds_no_game,
    prepared,
    refuses_both_seats,
    refuses_nobody,
    refuses_others,
    sender,
    succeeds,
)
from tests.http.helpers import http_daemon
from tests.http.rbc import Table, as_move, rbc_table
from tests.http.request_catalogue import Route, routes_of

#: Statuses that any route may give; ``test_connections``, ``test_errors`` and ``test_rbc_users`` test them.
OF_ANY_ROUTE = {408, 413, 500, 503}


def sending(route: Route, clause: str, status: int, body: object) -> Example:
    """Return the example of a request that differs from a successful one only in its body."""

    async def send(table: Table) -> httpx.Response:
        player, game_id = await prepared(table, route[1])
        return await sender(route, body)(table, player, game_id)

    return Example(clause, status, send)


def elsewhere(route: Route, clause: str, status: int, number: object) -> Example:
    """Return the example of a request for an invitation that does not exist."""

    async def send(table: Table) -> httpx.Response:
        path = route[1].format(invitation_id=number)
        return await table.client.post(path, auth=table.white.auth)

    return Example(clause, status, send)


def game_route(what: str) -> Route:
    """Return a route of games by its last word."""
    (route,) = [route for route in MANUAL if route[1] == f"/api/games/{{game_id}}/{what}"]
    return route


def in_a_game(what: str, clause: str, status: int, *before: str, body: object = None, by: str = "white") -> Example:
    """Return the example of a request that follows others by White.

    :param before: these requests: ``sense``, ``move``, or the last word of a route without a body.
    """
    route = game_route(what)

    async def send(table: Table) -> httpx.Response:
        game_id = await table.new_game()
        for step in before:
            if step == "sense":
                await table.white.sense(game_id, 12)
            elif step == "move":
                await table.white.move(game_id, "e2e4")
            else:
                assert (await table.white.post(game_id, step, {})).status_code == 200
        return await sender(route, BODIES.get(route[1]) if body is None else body)(table, getattr(table, by), game_id)

    return Example(clause, status, send)


ENDED = ("winner_color", "win_reason", "game_history")
FINISHED = "Game is finished"
MALFORMED = "malformed request data"


def _examples() -> dict[Route, list[Example]]:
    examples: dict[Route, list[Example]] = {route: [succeeds(route)] for route in DOCUMENTED}
    for route, clauses in DOCUMENTED.items():
        if 401 in clauses:
            examples[route].append(refuses_nobody(route))
            if "not a player in the specified game" in clauses[401]:
                examples[route].append(refuses_others(route))
        if 404 in clauses:
            examples[route].append(finds_no_game(route))
            if route[1].rpartition("/")[2] not in ENDED:
                examples[route].append(refuses_both_seats(route))
    for what in ("resign", "error_resign"):
        examples[game_route(what)].append(refuses_others(game_route(what)))
    for what, of_game in _IN_GAMES.items():
        examples[game_route(what)] += of_game
    for path, of_path in _OTHERS.items():
        examples["POST", path] += of_path
    examples["GET", "/api/leaderboard"].append(Example("An invalid page.", 400, _asks_for_no_page))
    return examples


_IN_GAMES: dict[str, list[Example]] = {
    "ready": [
        in_a_game("ready", "Player already marked as ready", 200, "ready"),
    ],
    "seconds_left": [in_a_game("seconds_left", FINISHED, 200, "resign")],
    "opponent_move_results": [in_a_game("opponent_move_results", FINISHED, 200, "resign")],
    "sense": [
        in_a_game("sense", FINISHED, 200, "resign"),
        in_a_game("sense", "you already sensed", 400, "sense", body={"square": 13}),
        in_a_game("sense", "you already sensed", 400, "sense", "move", body={"square": 13}),
        in_a_game("sense", MALFORMED, 400, body={"square": "e4"}),
        in_a_game("sense", "it is not your turn", 400, by="black"),
    ],
    "move": [
        in_a_game("move", FINISHED, 200, "resign"),
        in_a_game("move", FINISHED, 200, "sense", "resign"),
        in_a_game("move", "you haven't sensed", 400),
        in_a_game("move", "you already moved", 400, "sense", "move", body={"requested_move": as_move("d2d4")}),
        in_a_game("move", MALFORMED, 400, "sense", body={"requested_move": "e2e4"}),
        in_a_game("move", "the move is none of move_actions", 400, "sense", body={"requested_move": as_move("e2e5")}),
        in_a_game("move", "the move is none of move_actions", 400, "sense", body={"requested_move": as_move("0000")}),
    ],
    "end_turn": [
        in_a_game("end_turn", FINISHED, 200, "resign"),
        in_a_game("end_turn", FINISHED, 200, "sense", "move", "error_resign"),
        in_a_game("end_turn", "you haven't sensed and moved", 400),
        in_a_game("end_turn", "you haven't sensed and moved", 400, "sense"),
        in_a_game("end_turn", "it is not your turn", 400, by="black"),
    ],
    "resign": [
        in_a_game("resign", "It is not your turn", 400, by="black"),
        in_a_game("resign", "It is not your turn", 400, "sense", "move"),
    ],
    **{what: [in_a_game(what, "Game is not over", 400)] for what in ENDED},
}

_VERSION, _INVITATIONS = "/api/users/me/version", "/api/invitations"
_INVITATION = f"{_INVITATIONS}/{{invitation_id}}"


async def _takes_a_name(table: Table) -> httpx.Response:
    body = {"username": "WHITE-bot", "password": "long enough"}
    return await table.client.post("/api/users/", json=body)


async def _asks_for_no_page(table: Table) -> httpx.Response:
    return await table.client.get("/api/leaderboard", params={"limit": 0})


async def _finishes_what_is_not_accepted(table: Table) -> httpx.Response:
    _, game_id = await prepared(table, _INVITATION)
    return await table.client.post(f"{_INVITATIONS}/{game_id}/finish", auth=table.black.auth)


def _setting(name: str, clause: str, status: int, body: object) -> Example:
    return sending(("POST", f"/api/users/me/{name}"), clause, status, body)


_OTHERS: dict[str, list[Example]] = {
    "/api/users/me/max_games": [
        _setting("max_games", "max_games not present", 400, {}),
        _setting("max_games", "max_games not an integer", 400, {"max_games": "2"}),
    ],
    "/api/users/me/ranked": [
        _setting("ranked", "ranked not present", 400, {}),
        _setting("ranked", "ranked not a boolean", 400, {"ranked": 1}),
    ],
    _VERSION: [
        _setting("version", "ranked not present", 200, {}),
        _setting("version", "ranked not a boolean", 200, {"ranked": 1}),
    ],
    _INVITATIONS: [
        sending(("POST", _INVITATIONS), "Invitation does not exist", 400, {"opponent": "nobody", "color": True}),
        sending(("POST", _INVITATIONS), MALFORMED, 400, {"opponent": "black-bot"}),
    ],
    _INVITATION: [
        elsewhere(("POST", _INVITATION), "Invitation does not exist", 400, 10**6),
        elsewhere(("POST", _INVITATION), "What stands in the path is no number", 404, "first"),
    ],
    f"{_INVITATION}/finish": [
        elsewhere(("POST", f"{_INVITATION}/finish"), "Invitation does not exist", 400, 10**6),
        elsewhere(("POST", f"{_INVITATION}/finish"), "What stands in the path is no number", 404, "first"),
        Example("invitation is not accepted", 400, _finishes_what_is_not_accepted),
    ],
    "/api/users": [
        Example("the name is taken", 409, _takes_a_name),
        sending(("POST", "/api/users"), MALFORMED, 400, {"username": "two  words", "password": "long enough"}),
    ],
}

EXAMPLES = _examples()
#: Status if only the operator may register, which needs another daemon.
FORBIDDEN = (("POST", "/api/users"), 403)


@pytest.mark.parametrize("route", EXAMPLES, ids=" ".join)
async def test_route_answers_as_documented(route: Route) -> None:
    async with rbc_table() as table:
        for example in EXAMPLES[route]:
            response = await example.send(table)
            assert response.status_code == example.status, (example.clause, response.text)
            assert response.headers["content-type"].startswith("application/json")
            body = response.json()  # every POST has JSON too, which reconchess's client reads
            if example.status == 200:
                assert "error" not in body
            else:
                assert body.keys() == {"error", "code"}
            assert ("www-authenticate" in response.headers) == (example.status == 401)


async def test_refused_registration_has_its_status() -> None:
    route, status = FORBIDDEN
    async with rbc_table(max_registrations_per_hour=0) as table:
        assert (await sender(route, BODIES[route[1]])(table, None, 0)).status_code == status


@pytest.mark.parametrize("route", DOCUMENTED, ids=" ".join)
def test_every_clause_of_the_manual_has_an_example(route: Route) -> None:
    shown = {(example.status, example.clause) for example in EXAMPLES[route]}
    for status, clauses in DOCUMENTED[route].items():
        for clause in clauses:
            assert (200 if (route, clause) in NOT_KEPT else status, clause) in shown


async def test_every_own_route_and_status_has_an_example() -> None:
    shown = {(route, example.status) for route, examples in EXAMPLES.items() for example in examples} | {FORBIDDEN}
    async with http_daemon() as (daemon, client):
        assert {route for route in routes_of(daemon) if route[1].startswith("/api/")} == EXAMPLES.keys()
        paths = (await client.get("/schema")).json()["paths"]
    said = {
        ((method.upper(), path), int(status))
        for path, methods in paths.items()
        if path.startswith("/api/")
        for method, operation in methods.items()
        for status in operation["responses"]
    }
    assert {(route, status) for route, status in said if status not in OF_ANY_ROUTE} == shown
