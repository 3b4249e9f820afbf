"""Which daemon answers a request: pure, from the request alone."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gm_protocol.belief import GetBelief
from gm_protocol.contests import ReportContest
from gm_protocol.lobby import Accept, Challenge, Decline, ListInvitations, Pair, Seek, Settings
from gm_protocol.messages import (
    EndGame,
    GameFromPgn,
    GetActions,
    GetHistory,
    GetState,
    Hello,
    Join,
    ListGames,
    MakeMove,
    MakeSense,
    NewGame,
    Ping,
    Request,
    Wait,
)
from gm_protocol.players import ListPlayers, Register, Rekey, Revoke
from gm_protocol.ranked import GetLeaderboard


class Where(Enum):
    """A daemon that is not a game's owner."""

    #: The one that the client is connected to.
    HERE = auto()
    #: The owner of the lobby.
    LOBBY = auto()


class OfGame(NamedTuple):
    """The owner of a game."""

    game_id: int


class OfGames(NamedTuple):
    """The owners of several games."""

    game_ids: list[int]


Route = Where | OfGame | OfGames

#: Returns the route of a request that acts as a player, or as nobody.
Find = Callable[[Any, int | None], Route]


def _wait(request: Wait, player: int | None) -> Route:
    given = (request.game_id is not None, request.game_ids is not None, request.any)
    if given.count(True) != 1 or request.game_ids == []:
        return Where.HERE  # it is refused
    if request.any:
        return Where.LOBBY
    if request.game_ids is not None:
        return OfGames(request.game_ids)
    assert request.game_id is not None
    return OfGame(request.game_id)


def _decline(request: Decline, player: int | None) -> Route:
    return Where.LOBBY if request.game_id is None else OfGame(request.game_id)


def _new_game(request: NewGame, player: int | None) -> Route:
    """Send a game that keeps a seat to the lobby, which knows the invitations."""
    for other in (request.player_white, request.player_black):
        if other is not None and other != player and FIRST_REGISTERED <= other <= LAST_REGISTERED:
            return Where.LOBBY
    return Where.HERE


#: Kinds whose every request goes the same way.
FIXED: dict[type[Request], Where] = {
    Hello: Where.HERE,
    Ping: Where.HERE,
    ListGames: Where.HERE,
    Register: Where.LOBBY,
    Rekey: Where.LOBBY,
    Revoke: Where.LOBBY,
    ListPlayers: Where.LOBBY,
    Settings: Where.LOBBY,
    Challenge: Where.LOBBY,
    Seek: Where.LOBBY,
    ListInvitations: Where.LOBBY,
    Pair: Where.LOBBY,
    GetLeaderboard: Where.LOBBY,
    ReportContest: Where.LOBBY,
}
#: Kinds that always name one game.
IN_GAME: frozenset[type[Request]] = frozenset(
    {Join, GetState, MakeMove, MakeSense, GetActions, EndGame, GetHistory, GetBelief, Accept}
)
#: The others.
BY_CONTENT: dict[type[Request], Find] = {Wait: _wait, Decline: _decline, NewGame: _new_game, GameFromPgn: _new_game}

#: Kinds in a game that its owner answers without waiting, if it has the game in memory. Requests of a session for the
#: same owner follow each other without waiting for the answers.
AT_ONCE: frozenset[type[Request]] = frozenset({MakeMove, MakeSense, GetState, GetActions, EndGame, Join})

#: Kinds that only read, or may be repeated as they are (``PROTOCOL``, chapter 4.4).
_REPEATABLE = frozenset(
    {
        *(GetState, GetActions, GetHistory, ListGames, ListPlayers, ListInvitations, GetLeaderboard, Wait, Ping),
        *(Join, Accept, Decline, Settings, ReportContest, Revoke, GetBelief),
    }
)


def route_of(request: Request, player: int | None) -> Route:
    """Return which daemon answers a request.

    :param player: whom it acts as; None for nobody.
    """
    kind = type(request)
    if kind in IN_GAME:
        return OfGame(request.game_id)  # type: ignore[attr-defined]
    fixed = FIXED.get(kind)
    return BY_CONTENT[kind](request, player) if fixed is None else fixed


def is_repeatable(request: Request) -> bool:
    """Return whether a request may be sent again when nobody knows whether it was carried out."""
    if type(request) in _REPEATABLE:
        return True
    if isinstance(request, MakeMove | MakeSense | EndGame):
        return request.ply is not None
    return getattr(request, "token", None) is not None
