"""Which daemon answers an HTTP request: pure, from its path alone."""

from __future__ import annotations

import re

from gmd.cluster.routing import OfGame, Where

#: A game's number at the beginning of a part of a path, as in ``7``, ``7.svg`` and ``7.pgn``.
_NUMBER = re.compile(r"([0-9]{1,16})(?:\..*)?", re.DOTALL)

#: First parts of paths that every daemon answers by itself: files, its own health and counters, what operators see, and
#: descriptions.
HERE = frozenset(["static", "healthz", "metrics", "schema", "operator"])
#: First parts of paths of lists, players, contests and forms. The home page has none.
LOBBY = frozenset(
    ["events", "contests", "players", "ranked", "play", "register", "sign-in", "sign-out", "spectate"],
)
#: First parts of paths whose second part begins with the number of a game.
GAME = frozenset(["games", "embed"])
#: The same of reconchess's API, behind ``/api``.
API_HERE = frozenset(["version"])
API_LOBBY = frozenset(["leaderboard", "users"])
API_GAME = frozenset(["games"])
#: First parts of paths of the lobby's lists, but of a game if the second part is its number: its owner takes the answer
#: to an invitation.
API_INVITATIONS = "invitations"


def destination(path: str) -> Where | OfGame | None:
    """Return who answers requests for a path; None for a path that no route has, which any daemon can say.

    :param path: decoded, without the query.
    """
    here, lobby, game = HERE, LOBBY, GAME
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"]:
        here, lobby, game = API_HERE, API_LOBBY, API_GAME
        del parts[0]
        if parts[:1] == [API_INVITATIONS]:
            return Where.LOBBY if len(parts) == 1 else _of_game(parts[1])
    elif not parts:
        return Where.LOBBY
    if not parts:
        return None
    if parts[0] in game:
        return _of_game(parts[1]) if len(parts) > 1 else None
    if parts[0] in lobby:
        return Where.LOBBY
    return Where.HERE if parts[0] in here else None


def _of_game(part: str) -> OfGame | None:
    found = _NUMBER.fullmatch(part)
    return None if found is None else OfGame(int(found[1]))
