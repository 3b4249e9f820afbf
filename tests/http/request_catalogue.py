"""What can be asked over HTTP beside a game: a question or more for every route, of which nothing may come to light.

A route that the application has and that nobody asks here, or in the game itself, fails a test: a new one is added to
:data:`OUTSIDE`, or to what is asked of a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from litestar.routes import HTTPRoute

from gmd.daemon import Daemon

#: A method, and a path as the application has it.
Route = tuple[str, str]

#: The observer, somebody registered who has no part in the game, somebody who claims to be the observer's opponent,
#: and nobody.
Who = Literal["observer", "stranger", "impostor", "nobody"]


@dataclass(frozen=True)
class Question:
    """A request.

    :ivar path: with ``{game_id}`` and ``{invitation_id}`` for the game.
    :ivar body: what it sends as JSON; None for nothing.
    :ivar slow: whether it makes the daemon verify or hash a password.
    """

    method: str
    path: str
    body: object = None
    who: Who = "observer"
    slow: bool = False

    @property
    def route(self) -> Route:
        """The route that it goes to."""
        return self.method, self.path.replace("+1", "").partition("?")[0]

    def url(self, game_id: int) -> str:
        """Where it goes, of a game; ``{invitation_id}+1`` is one that there is not."""
        return self.path.replace("{invitation_id}+1", f"{game_id + 10**6}").format(
            game_id=game_id, invitation_id=game_id, path="no/such/page"
        )


_ME, _INVITATIONS = "/api/users/me", "/api/invitations"
_INVITATION = f"{_INVITATIONS}/{{invitation_id}}"

OUTSIDE = (
    # What is no affair of any player's. The operator's counts are for who has the token.
    Question("GET", "/healthz", who="nobody"),
    Question("GET", "/metrics", who="nobody"),
    Question("GET", "/metrics"),
    Question("GET", "/schema", who="nobody"),
    Question("GET", "/schema/openapi.json", who="nobody"),
    Question("GET", "/schema/{path}", who="nobody"),
    Question("GET", "/api/version", who="nobody"),
    Question("GET", "/api/leaderboard", who="nobody"),
    Question("GET", "/api/leaderboard"),
    Question("GET", "/api/leaderboard?after=-1", who="nobody"),
    Question("POST", "/api/users", {"username": "Black-Bot", "password": "long enough"}, "nobody", slow=True),
    Question("POST", "/api/users", {"username": "two  words", "password": "long enough"}, "nobody"),
    Question("POST", "/api/users", {}, "nobody"),
    # Users.
    Question("GET", "/api/users"),
    Question("GET", "/api/users", who="stranger"),
    Question("POST", _ME),
    Question("POST", _ME, who="impostor", slow=True),
    Question("POST", f"{_ME}/max_games", {"max_games": 9}),
    Question("POST", f"{_ME}/max_games", {"max_games": "9"}),
    Question("POST", f"{_ME}/ranked", {"ranked": False}),
    Question("POST", f"{_ME}/ranked", {}),
    Question("GET", f"{_ME}/version"),
    Question("GET", f"{_ME}/version", who="nobody"),
    Question("POST", f"{_ME}/version"),
    # Invitations.
    Question("GET", _INVITATIONS),
    Question("GET", _INVITATIONS, who="stranger"),
    Question("POST", _INVITATIONS, {"opponent": "nobody-at-all", "color": True}),
    Question("POST", _INVITATIONS, {"opponent": "other-bot", "color": True}),  # which takes no games
    Question("POST", _INVITATIONS, {"opponent": "other-bot"}),
    Question("POST", _INVITATIONS, {"opponent": "white-bot", "color": False}, "nobody"),
    Question("POST", _INVITATION),
    Question("POST", _INVITATION, who="stranger"),
    Question("POST", f"{_INVITATION}+1"),
    Question("POST", f"{_INVITATION}/finish"),
    Question("POST", f"{_INVITATION}/finish", who="stranger"),
    Question("POST", f"{_INVITATION}+1/finish"),
)


def routes_of(daemon: Daemon) -> set[Route]:
    """Every route that a daemon's application has; OPTIONS is litestar's, and says which of them there are."""
    assert daemon.http is not None
    return {
        (method, route.path_format)
        for route in daemon.http._app.routes  # type: ignore[attr-defined]
        if isinstance(route, HTTPRoute)
        for method in route.methods
        if method != "OPTIONS"
    }
