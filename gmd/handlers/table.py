"""The handler of every kind of request. A new kind needs a line here."""

from __future__ import annotations

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
from gmd.requests.games import Handler, in_game

from .accept import accept
from .actions import actions
from .belief import belief
from .challenge import challenge
from .contest import contest
from .decline import decline
from .end_game import end_game, names_seat
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

#: Handlers by the request's type, whose tag is the kind.
HANDLERS: dict[type[Request], Handler] = {
    Hello: hello,
    Ping: ping,
    NewGame: new_game,
    GameFromPgn: new_game,
    Join: in_game(join, by_player=True),
    GetState: in_game(state),
    MakeMove: in_game(move, by_player=True, acts=True),
    MakeSense: in_game(sense, by_player=True, acts=True),
    GetActions: in_game(actions, by_player=True),
    EndGame: in_game(end_game, check=names_seat, acts=True),
    Wait: wait,
    GetHistory: in_game(history),
    ListGames: games,
    Register: register,
    Rekey: rekey,
    Revoke: revoke,
    ListPlayers: players,
    Settings: settings,
    Challenge: challenge,
    Seek: seek,
    Accept: in_game(accept, by_player=True),
    Decline: decline,
    ListInvitations: invitations,
    Pair: pair,
    GetLeaderboard: leaderboard,
    ReportContest: contest,
    GetBelief: in_game(belief, by_player=True),
}
