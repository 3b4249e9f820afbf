"""The contract of every route of reconchess's API: the statuses of chapter 5.11 of its manual, and our own.

A clause is what the manual, or ``/schema``, says of a status; each has an :class:`Example` that produces the status.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from tests.http.rbc import Player, Table, answered, as_move
from tests.http.request_catalogue import Route

#: Statuses of each route in the manual. 200 is "Success." everywhere.
Clauses = dict[int, tuple[str, ...]]

_SUCCESS: Clauses = {200: ("Success.",)}
_NOBODY = "Invalid or empty authentication information"
_USER: Clauses = {**_SUCCESS, 401: (_NOBODY,)}
_GAME: Clauses = {**_USER, 404: ("Game does not exist",)}
_PLAYER: Clauses = {**_GAME, 401: (_NOBODY, "not a player in the specified game")}
_FINISHED = "Game is finished"
_MALFORMED = "malformed request data"


def _game(what: str) -> str:
    return f"/api/games/{{game_id}}/{what}"


#: Chapter 5.11, route by route.
MANUAL: dict[Route, Clauses] = {
    ("GET", "/api/users"): _USER,
    ("POST", "/api/users/me"): _USER,
    ("POST", "/api/users/me/max_games"): {**_USER, 400: ("max_games not present", "max_games not an integer")},
    ("POST", "/api/users/me/ranked"): {**_USER, 400: ("ranked not present", "ranked not a boolean")},
    ("POST", "/api/users/me/version"): {**_USER, 400: ("ranked not present", "ranked not a boolean")},
    ("GET", "/api/invitations"): _USER,
    ("POST", "/api/invitations"): {**_USER, 400: ("Invitation does not exist",)},
    ("POST", "/api/invitations/{invitation_id}"): {**_USER, 400: ("Invitation does not exist",)},
    ("POST", "/api/invitations/{invitation_id}/finish"): {
        **_USER,
        400: ("Invitation does not exist", "invitation is not accepted"),
    },
    ("GET", _game("color")): _PLAYER,
    ("GET", _game("starting_board")): _PLAYER,
    ("GET", _game("opponent_name")): _PLAYER,
    ("POST", _game("ready")): {**_PLAYER, 400: ("Player already marked as ready",)},
    ("GET", _game("sense_actions")): _PLAYER,
    ("GET", _game("move_actions")): _PLAYER,
    ("GET", _game("seconds_left")): {**_PLAYER, 400: (_FINISHED,)},
    ("GET", _game("opponent_move_results")): {**_PLAYER, 400: (_FINISHED,)},
    ("POST", _game("sense")): {**_PLAYER, 400: (_FINISHED, "you already sensed", _MALFORMED)},
    ("POST", _game("move")): {
        **_PLAYER,
        400: (_FINISHED, "you haven't sensed", "you already moved", _MALFORMED),
    },
    ("POST", _game("end_turn")): {**_PLAYER, 400: (_FINISHED, "you haven't sensed and moved")},
    ("GET", _game("is_over")): _GAME,
    ("POST", _game("resign")): {**_GAME, 400: ("It is not your turn",)},
    ("POST", _game("error_resign")): _GAME,
    ("GET", _game("is_my_turn")): _GAME,
    ("GET", _game("game_status")): _GAME,
    ("GET", _game("winner_color")): {**_GAME, 400: ("Game is not over",)},
    ("GET", _game("win_reason")): {**_GAME, 400: ("Game is not over",)},
    ("GET", _game("game_history")): {**_GAME, 400: ("Game is not over",)},
}

#: Routes that reconchess's programs use and its manual leaves out.
LEFT_OUT: dict[Route, Clauses] = {
    ("GET", "/api/version"): _SUCCESS,
    ("GET", "/api/users/me/version"): _USER,
    ("POST", "/api/users"): {**_SUCCESS, 409: ("the name is taken",)},
}

#: Our own routes, with their statuses as ``/schema`` has them.
OURS: dict[Route, Clauses] = {("GET", "/api/leaderboard"): {**_SUCCESS, 400: ("An invalid page.",)}}

#: Every route under ``/api``.
DOCUMENTED: dict[Route, Clauses] = {**MANUAL, **LEFT_OUT, **OURS}

#: Routes that need no authorization.
OPEN = {("GET", "/api/version"), ("GET", "/api/leaderboard"), ("POST", "/api/users")}

#: Clauses that are not kept, each with the reason; the requests that they describe are answered with 200.
NOT_KEPT: dict[tuple[Route, str], str] = {
    **{
        (("GET", _game(what)), _FINISHED): "its client takes a refusal for a broken game"
        for what in ("seconds_left", "opponent_move_results")
    },
    **{
        (("POST", _game(what)), _FINISHED): "its client is overtaken by the end, and takes a refusal for a broken game"
        for what in ("sense", "move")
    },
    (("POST", _game("end_turn")), _FINISHED): "its client always sends one, also behind the move that ended the game",
    (("POST", _game("ready")), "Player already marked as ready"): "its client posts again what it had no reply to",
    (("POST", "/api/users/me/version"), "ranked not present"): "a slip of the manual's: the request has no such field",
    (("POST", "/api/users/me/version"), "ranked not a boolean"): "a slip of the manual's: it has no such field",
}


@dataclass(frozen=True)
class Example:
    """A request that produces the status of a clause."""

    clause: str
    status: int
    send: Callable[[Table], Awaitable[httpx.Response]]


Send = Callable[[Table, Player | None, int], Awaitable[httpx.Response]]


def sender(route: Route, body: object = None) -> Send:
    """Return a function that sends requests to a route, for a player and a game."""
    method, path = route

    async def send(table: Table, player: Player | None, game_id: int) -> httpx.Response:
        url = path.format(game_id=game_id, invitation_id=game_id)
        auth = None if player is None else player.auth
        if method == "GET":
            return await table.client.get(url, auth=auth)
        return await table.client.post(url, json=body, auth=auth)

    return send


#: Bodies for the routes that take one.
BODIES: dict[str, object] = {
    "/api/users/me/max_games": {"max_games": 2},
    "/api/users/me/ranked": {"ranked": False},
    "/api/users": {"username": "new-bot", "password": "long enough", "email": "a@b.c", "affiliation": ""},
    "/api/invitations": {"opponent": "black-bot", "color": True},
    _game("sense"): {"square": 5},
    _game("move"): {"requested_move": as_move("e2e4")},
}

_ENDED = (_game("winner_color"), _game("win_reason"), _game("game_history"))
_INVITATION = "/api/invitations/{invitation_id}"


async def prepared(table: Table, path: str) -> tuple[Player, int]:
    """Return the player and the game with which a request to the route succeeds."""
    if path in _ENDED:
        return table.white, await table.ended_game()
    if path.startswith("/api/invitations"):
        # now the player is present and can be invited
        answered(await table.client.get("/api/users/", auth=table.black.auth))
    if path.startswith(_INVITATION):
        body = BODIES["/api/invitations"]
        sent = await table.client.post("/api/invitations/", json=body, auth=table.white.auth)
        game_id: int = answered(sent)["game_id"]
        if path.endswith("/finish"):
            answered(await table.client.post(f"/api/invitations/{game_id}", auth=table.black.auth))
        return table.black, game_id
    game_id = await table.new_game()
    if path == _game("move"):
        await table.white.sense(game_id, None)
    elif path == _game("end_turn"):
        await table.white.turn(game_id, "e2e4")
    return table.white, game_id


def succeeds(route: Route) -> Example:
    """Return the example of a successful request."""

    async def send(table: Table) -> httpx.Response:
        player, game_id = await prepared(table, route[1])
        return await sender(route, BODIES.get(route[1]))(table, None if route in OPEN else player, game_id)

    return Example("Success.", 200, send)


def refuses_nobody(route: Route) -> Example:
    """Return the example of a request without authorization."""

    async def send(table: Table) -> httpx.Response:
        _, game_id = await prepared(table, route[1])
        return await sender(route, BODIES.get(route[1]))(table, None, game_id)

    return Example(_NOBODY, 401, send)


def refuses_others(route: Route) -> Example:
    """Return the example of a request by a player without a seat."""

    async def send(table: Table) -> httpx.Response:
        _, game_id = await prepared(table, route[1])
        return await sender(route, BODIES.get(route[1]))(table, table.other, game_id)

    return Example("not a player in the specified game", 401, send)


def finds_no_game(route: Route) -> Example:
    """Return the example of a request for a game that does not exist."""

    async def send(table: Table) -> httpx.Response:
        return await sender(route, BODIES.get(route[1]))(table, table.white, 10**6)

    return Example("Game does not exist", 404, send)


def refuses_both_seats(route: Route) -> Example:
    """Return our own example: nothing says which of a player's two seats is meant."""

    async def send(table: Table) -> httpx.Response:
        game_id = await table.new_game(player_black=table.white.id)
        return await sender(route, BODIES.get(route[1]))(table, table.white, game_id)

    return Example("The player holds both seats", 400, send)
