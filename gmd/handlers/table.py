"""The handler of every kind of request. A new kind needs a line here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

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
from gmd.requests.call import Answer, Call

from .accept import accept
from .actions import actions
from .challenge import challenge
from .decline import decline
from .end_game import end_game
from .games import games
from .hello import hello
from .history import history
from .invitations import invitations
from .join import join
from .leaderboard import leaderboard
from .move import move
from .new_game import new_game
from .pair import pair
from .ping import ping
from .players import players
from .register import register
from .rekey import rekey
from .revoke import revoke
from .seek import seek
from .sense import sense
from .settings import settings
from .state import state
from .wait import wait

Handler = Callable[[Any, Call], Awaitable[Answer]]

#: By the request's type, whose tag is the kind.
HANDLERS: dict[type[Request], Handler] = {
    Hello: hello,
    Ping: ping,
    NewGame: new_game,
    GameFromPgn: new_game,
    Join: join,
    GetState: state,
    MakeMove: move,
    MakeSense: sense,
    GetActions: actions,
    EndGame: end_game,
    Wait: wait,
    GetHistory: history,
    ListGames: games,
    Register: register,
    Rekey: rekey,
    Revoke: revoke,
    ListPlayers: players,
    Settings: settings,
    Challenge: challenge,
    Seek: seek,
    Accept: accept,
    Decline: decline,
    ListInvitations: invitations,
    Pair: pair,
    GetLeaderboard: leaderboard,
}
