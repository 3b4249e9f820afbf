"""Requests over HTTP outside a game, at least one for every route, whose answers must reveal nothing hidden.

A test fails if the application has a route that is used neither here nor in the game itself: add a new route to
:data:`OUTSIDE`, or to the requests of a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from litestar.routes import HTTPRoute

from gm_protocol.base import FIRST_REGISTERED
from gmd.daemon import Daemon

#: A method, and a path as in the application.
Route = tuple[str, str]

#: The observer, a registered player without a part in the game, a client that claims to be the observer's opponent, and
#: a client without authorization.
Who = Literal["observer", "stranger", "impostor", "nobody"]


@dataclass(frozen=True)
class HttpRequest:
    """A request.

    :ivar path: with ``{game_id}`` and ``{invitation_id}`` in place of the game's id.
    :ivar body: the value sent as JSON; None for no body.
    :ivar slow: whether it makes the daemon verify or hash a password.
    :ivar form: the fields of a form, sent in place of JSON from one of our own pages; the visitor's token is added.
    :ivar name: the last part of a path that ends with ``{name}``; with ``{game_id}`` in place of the game's id.
    :ivar visits: whether a browser asks, with the cookie of who asks in place of HTTP Basic.
    :ivar lasts: whether the answer has no end, so that only what comes at once is compared.
    """

    method: str
    path: str
    body: object = None
    who: Who = "observer"
    slow: bool = False
    form: dict[str, str] | None = None
    name: str = ""
    visits: bool = False
    lasts: bool = False

    @property
    def route(self) -> Route:
        """Route of the request."""
        return self.method, self.path.replace("+1", "").partition("?")[0]

    def url(self, game_id: int) -> str:
        """Return the URL for a game; ``{invitation_id}+1`` is an invitation that does not exist."""
        return self.path.replace("{invitation_id}+1", f"{game_id + 10**6}").format(
            game_id=game_id,
            invitation_id=game_id,
            path="no/such/page",
            version="0",
            file="style.css",
            contest_id=1,
            player=FIRST_REGISTERED,
            name=self.name.format(game_id=game_id),
        )


_ME, _INVITATIONS = "/api/users/me", "/api/invitations"
_INVITATION = f"{_INVITATIONS}/{{invitation_id}}"

#: A game's page and its files, in several forms.
_NAMES = (
    "{game_id}",
    "{game_id}?part=1&flip=1",
    "{game_id}?ply=0",
    "{game_id}?view=black",
    "{game_id}?ply=0&belief=k",
    "{game_id}.svg",
    "{game_id}.svg?view=white&size=200",
    "{game_id}.svg?view=truth&ply=1",
    "{game_id}.svg?view=white&belief=any",
    "{game_id}.png",
    "{game_id}.png?view=black",
    "{game_id}.png?ply=1",
    "{game_id}.pgn",
    "{game_id}.json",
    "{game_id}.history.json",
    "{game_id}.counts.svg",
    "{game_id}.counts.svg?ply=0&view=black",
)
_GAME_PAGES: tuple[HttpRequest, ...] = (
    *(
        HttpRequest("GET", "/games/{name}", who=who, name=name, visits=True)
        for name in _NAMES
        for who in ("observer", "stranger")
    ),
    HttpRequest("GET", "/games/{name}", who="nobody", name="{game_id}.svg"),
    HttpRequest("GET", "/games/{name}", who="nobody", name="{game_id}.png"),
    HttpRequest("GET", "/games/{name}", who="nobody", name="{game_id}", visits=True),
    *(
        HttpRequest("POST", "/games/{game_id}/act", form=form, who=who, visits=True)
        for form in (
            {"kind": "ready"},
            {"kind": "move", "move": "a1a1"},
            {"kind": "claim_draw"},
            {"kind": "sense", "square": "z9"},
        )
        for who in ("observer", "stranger")
    ),
    HttpRequest("POST", "/games/{game_id}/act", form={"kind": "move", "move": "e2e4", "ply": "999"}, visits=True),
    HttpRequest("POST", "/games/{game_id}/join", form={"seat": "white"}, who="stranger", visits=True),
    HttpRequest("POST", "/games/{game_id}/rematch", form={}, visits=True),
    HttpRequest("POST", "/games/{game_id}/rematch", form={}, who="stranger", visits=True),
    HttpRequest("GET", "/games/{game_id}/aid", visits=True),
    HttpRequest("GET", "/games/{game_id}/aid?hint=1", visits=True),
    HttpRequest("GET", "/games/{game_id}/aid", who="stranger", visits=True),
    HttpRequest("GET", "/games/{game_id}/queue", visits=True),
    HttpRequest("GET", "/games/{game_id}/queue", who="stranger", visits=True),
    HttpRequest("GET", "/games/{game_id}/counts", visits=True),
    HttpRequest("GET", "/games/{game_id}/counts?part=1", visits=True),
    HttpRequest("GET", "/games/{game_id}/counts", who="nobody"),
    HttpRequest("GET", "/embed/{game_id}", visits=True),
    HttpRequest("GET", "/embed/{game_id}?ply=0", who="nobody", visits=True),
)

_VISITORS: tuple[Who, ...] = ("observer", "stranger", "nobody")

#: Requests for pages. None of those that make a new guest or a new cookie is among them: both are random.
PAGES: tuple[HttpRequest, ...] = (
    *_GAME_PAGES,
    HttpRequest("GET", "/", visits=True),
    HttpRequest("GET", "/", who="stranger", visits=True),
    HttpRequest("GET", "/", who="nobody", visits=True),
    *(
        HttpRequest("GET", path, who=who, visits=True, lasts=True)
        for path in ("/games/{game_id}/events", "/games/{game_id}/events?since=0", "/events")
        for who in _VISITORS
    ),
    HttpRequest("GET", "/static/{version}/{file}", who="nobody", visits=True),
    HttpRequest("GET", "/ranked", who="nobody", visits=True),
    HttpRequest("GET", "/games", visits=True),
    HttpRequest("GET", "/games?player={player}&status=live", who="stranger", visits=True),
    HttpRequest("GET", "/players", visits=True),
    HttpRequest("GET", "/players?kind=guests", who="nobody", visits=True),
    HttpRequest("GET", "/rules", who="nobody", visits=True),
    HttpRequest("GET", "/rules/{name}", visits=True, name="sensed.svg"),
    HttpRequest("GET", "/help", visits=True),
    HttpRequest("GET", "/manual", who="nobody", visits=True),
    HttpRequest("GET", "/manual/{file}", who="nobody", visits=True),
    HttpRequest("GET", "/guest", visits=True),
    HttpRequest("POST", "/guest", form={"nickname": ""}, who="stranger", visits=True),
    HttpRequest("POST", "/come-back", form={}, who="nobody", visits=True),
    HttpRequest("GET", "/contests", who="nobody", visits=True),
    HttpRequest("GET", "/contests/{contest_id}", visits=True),
    HttpRequest("GET", "/players/{player}", visits=True),
    HttpRequest("GET", "/players/{player}?before=9", who="stranger", visits=True),
    HttpRequest("GET", "/sign-in", visits=True),
    HttpRequest("GET", "/register", who="nobody", visits=True),
    HttpRequest("POST", "/sign-in", form={"name": "ann", "password": "wrong"}, who="nobody", slow=True, visits=True),
    HttpRequest("POST", "/register", form={"name": "two  words", "password": "12", "again": "12"}, visits=True),
    HttpRequest("POST", "/spectate", form={"spectator_key": "guess"}, who="nobody", visits=True),
    HttpRequest("POST", "/sign-out", form={}, visits=True),
    HttpRequest("POST", "/play", form={"opponent": "link", "color": "white", "variant": "rbc"}, visits=True),
    HttpRequest("POST", "/play", form={"opponent": "name", "name": "other-bot"}, visits=True),
    HttpRequest("POST", "/play", form={"opponent": "bot:7"}, who="stranger", visits=True),
)

OUTSIDE = (
    *PAGES,
    # Requests about no player. The operator's counts need the token.
    HttpRequest("GET", "/healthz", who="nobody"),
    HttpRequest("GET", "/metrics", who="nobody"),
    HttpRequest("GET", "/metrics"),
    HttpRequest("GET", "/schema", who="nobody"),
    HttpRequest("GET", "/schema/openapi.json", who="nobody"),
    HttpRequest("GET", "/schema/{path}", who="nobody"),
    HttpRequest("GET", "/api/version", who="nobody"),
    HttpRequest("GET", "/api/leaderboard", who="nobody"),
    HttpRequest("GET", "/api/leaderboard"),
    HttpRequest("GET", "/api/leaderboard?after=-1", who="nobody"),
    HttpRequest("POST", "/api/users", {"username": "Black-Bot", "password": "long enough"}, "nobody", slow=True),
    HttpRequest("POST", "/api/users", {"username": "two  words", "password": "long enough"}, "nobody"),
    HttpRequest("POST", "/api/users", {}, "nobody"),
    # Users.
    HttpRequest("GET", "/api/users"),
    HttpRequest("GET", "/api/users", who="stranger"),
    HttpRequest("POST", _ME),
    HttpRequest("POST", _ME, who="impostor", slow=True),
    HttpRequest("POST", f"{_ME}/max_games", {"max_games": 9}),
    HttpRequest("POST", f"{_ME}/max_games", {"max_games": "9"}),
    HttpRequest("POST", f"{_ME}/ranked", {"ranked": False}),
    HttpRequest("POST", f"{_ME}/ranked", {}),
    HttpRequest("GET", f"{_ME}/version"),
    HttpRequest("GET", f"{_ME}/version", who="nobody"),
    HttpRequest("POST", f"{_ME}/version"),
    # Invitations.
    HttpRequest("GET", _INVITATIONS),
    HttpRequest("GET", _INVITATIONS, who="stranger"),
    HttpRequest("POST", _INVITATIONS, {"opponent": "nobody-at-all", "color": True}),
    HttpRequest("POST", _INVITATIONS, {"opponent": "other-bot", "color": True}),  # this player takes no games
    HttpRequest("POST", _INVITATIONS, {"opponent": "other-bot"}),
    HttpRequest("POST", _INVITATIONS, {"opponent": "white-bot", "color": False}, "nobody"),
    HttpRequest("POST", _INVITATION),
    HttpRequest("POST", _INVITATION, who="stranger"),
    HttpRequest("POST", f"{_INVITATION}+1"),
    HttpRequest("POST", f"{_INVITATION}/finish"),
    HttpRequest("POST", f"{_INVITATION}/finish", who="stranger"),
    HttpRequest("POST", f"{_INVITATION}+1/finish"),
)


def described_routes_of(daemon: Daemon) -> set[Route]:
    """Return the routes of a daemon's application that the OpenAPI document describes."""
    assert daemon.http is not None
    return {
        (method, route.path_format)
        for route in daemon.http.app.routes
        if isinstance(route, HTTPRoute)
        for method, (handler, _) in route.route_handler_map.items()
        if method != "OPTIONS" and handler.resolve_include_in_schema()
    }


def routes_of(daemon: Daemon) -> set[Route]:
    """Return every route of a daemon's application, except litestar's OPTIONS, which lists the methods."""
    assert daemon.http is not None
    return {
        (method, route.path_format)
        for route in daemon.http.app.routes
        if isinstance(route, HTTPRoute)
        for method in route.methods
        if method != "OPTIONS"
    }
