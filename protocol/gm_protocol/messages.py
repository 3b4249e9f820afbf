"""Requests and replies as msgspec structs; the field names are the wire's.

The ``kind`` of a request is the struct's tag. UNSET stands for a field that was not sent; ``None`` for one sent as
null.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from .base import FIRST_REGISTERED as FIRST_REGISTERED
from .base import LAST_REGISTERED as LAST_REGISTERED
from .base import SECRET_FIELDS as SECRET_FIELDS
from .base import PlayerId, PlayerName
from .base import Reply as Reply
from .base import Request as Request
from .lobby import (
    Accept,
    Challenge,
    Decline,
    InvitationsReply,
    ListInvitations,
    Pair,
    PairReply,
    SeatReply,
    Seek,
    Settings,
    SettingsReply,
)
from .options import ClockOption as ClockOption
from .options import DrawRule as DrawRule
from .options import GameOptions as GameOptions
from .options import GameRequest as GameRequest
from .options import IllegalMoveRule as IllegalMoveRule
from .options import Seconds
from .options import Variant as Variant
from .players import KeyReply, ListPlayers, PlayersReply, Register, Rekey, Revoke, RevokedReply
from .ranked import GetLeaderboard, LeaderboardReply
from .state import Color, GameState, Result, SenseResult, Termination

GameId = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Ply = Annotated[
    int, Meta(ge=0, le=2**53 - 1, description="The ply_index acted on; with it, a repeated request acts only once.")
]
Thought = Annotated[Seconds, Meta(description="Seconds that the player took, for a clock with lag.")]

GameStatus = Literal["live", "over", "open"]

#: The terminations that ``end_game`` may request.
VoluntaryTermination = Literal[
    "taken_draw_white",
    "taken_draw_black",
    "resignation_white",
    "resignation_black",
    "draw_agreed",
]


# --- Requests ---------------------------------------------------------------------------------------------------


class Hello(Request, tag="hello", kw_only=True):
    """A request to begin a version 2 session, or to name another player for the rest of it, by id or name."""

    protocol: Annotated[int, Meta(ge=1)] = 2
    client: str = ""
    name: PlayerName | None = None
    password: str | None = None
    spectator_key: str | None = None


class Ping(Request, tag="ping", kw_only=True):
    """A request that only checks that the server answers."""


class NewGame(GameRequest, tag="new_game", kw_only=True):
    """A request for a new game; with ``pgn`` as :class:`GameFromPgn`. A null seat goes to the first who joins."""

    player_white: PlayerId | None
    player_black: PlayerId | None
    pgn: str | None = None


class GameFromPgn(NewGame, tag="game_from_pgn", kw_only=True):
    """A request for a new game from the end of a PGN's main line."""

    pgn: str


class Join(Request, tag="join", kw_only=True):
    """A request to take a seat: an open one, or one that the player was invited to."""

    game_id: GameId
    seat: Color | None = None


class MakeMove(Request, tag="move", kw_only=True, gc=False):
    """A request to move, in SAN or UCI; in rbc, null passes."""

    game_id: GameId
    move: str | None
    seat: Color | None = None
    ply: Ply | None = None
    thought: Thought | None = None
    offer_draw: bool = False


class MakeSense(Request, tag="sense", kw_only=True):
    """A request to sense the three by three squares around ``square`` (a name, or a1 = 0 to h8 = 63); null for none."""

    game_id: GameId
    square: str | int | None
    seat: Color | None = None
    ply: Ply | None = None
    thought: Thought | None = None


class EndGame(Request, tag="end_game", kw_only=True):
    """A request to resign, to claim a draw, or to agree to a draw."""

    game_id: GameId
    termination: VoluntaryTermination
    seat: Color | None = None
    ply: Ply | None = None
    thought: Thought | None = None


class GetState(Request, tag="state", kw_only=True):
    """A request for a game's state, as ``player`` may see it."""

    game_id: GameId
    seat: Color | None = None
    actions: bool = False


class Wait(Request, tag="wait", kw_only=True):
    """A request that blocks until the player must act in one of the games, or one is over."""

    game_id: GameId | None = None
    game_ids: list[GameId] | None = None
    any: bool = False
    except_: list[GameId] = field(name="except", default_factory=list)
    seat: Color | None = None
    ply: Ply | None = None
    timeout: Seconds | None = None
    actions: bool = False


class GetActions(Request, tag="actions", kw_only=True):
    """A request for the moves, and in rbc the senses, that the player may make now."""

    game_id: GameId
    seat: Color | None = None


class ListGames(Request, tag="games", kw_only=True):
    """A request for a page of games, newest first."""

    status: GameStatus | None = None
    variant: Variant | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    before: GameId | None = None


class GetHistory(Request, tag="history", kw_only=True):
    """A request for the whole game as PGN and as UCI moves."""

    game_id: GameId


AnyRequest = (
    Hello
    | Ping
    | NewGame
    | GameFromPgn
    | MakeMove
    | MakeSense
    | EndGame
    | GetState
    | Wait
    | GetActions
    | ListGames
    | GetHistory
    | Register
    | Rekey
    | Join
    | Revoke
    | ListPlayers
    | Challenge
    | Seek
    | ListInvitations
    | Accept
    | Decline
    | Settings
    | Pair
    | GetLeaderboard
)

#: Every request struct by its kind.
REQUESTS: dict[str, type[Request]] = {str(request.__struct_config__.tag): request for request in get_args(AnyRequest)}

# --- Replies ----------------------------------------------------------------------------------------------------


class Limits(Struct, kw_only=True, frozen=True):
    """All limits of the server that can refuse a request or end a session."""

    max_message: Annotated[int, Meta(description="Longest request, in bytes.")]
    max_connections: int
    max_wait_seconds: float
    max_wait_games: int
    max_games_page: int
    max_plies: int
    max_pgn: int
    max_work_per_minute: int | None
    idle_seconds: float
    frame_seconds: float
    start_seconds: float
    max_failures_per_minute: int
    max_registrations_per_hour: int
    max_players: int
    invitation_seconds: float
    max_invitations: int
    max_invitations_per_minute: int
    kept_seat_seconds: float
    max_invitations_received: int
    max_invitations_from_address: int
    max_games_per_hour: int
    max_unfinished_games: int
    max_registrations_per_day: int
    max_rekeys_per_hour: int


class HelloReply(Reply, kw_only=True):
    """The server's version, kinds of requests and limits, and the session's player."""

    protocol: int
    server: str
    kinds: list[str]
    player: PlayerId | None
    limits: Limits
    error: None = None


class Pong(Reply, kw_only=True):
    """The reply to a ping."""

    error: None = None


class NewGameReply(Reply, kw_only=True):
    """The new game, or the one created before with the same token."""

    game_id: int
    state: GameState
    options: GameOptions
    error: None = None


class PlayerNames(Struct, kw_only=True, frozen=True):
    """The names of a game's players; null for an open id or an empty seat."""

    white: str | None
    black: str | None


class JoinReply(Reply, kw_only=True):
    """The seat that the player has taken, or had already, and the game. ``names`` is left out if no player is
    registered.
    """

    seat: Color
    state: GameState
    options: GameOptions
    names: PlayerNames | UnsetType = UNSET
    error: None = None


class StateReply(Reply, kw_only=True, gc=False):
    """The reply of move, end_game, state and wait. That of state and wait may have ``game_id`` and the actions.

    Only the reply of state has ``names``, and only if a player is registered.
    """

    game_id: int | UnsetType = UNSET
    state: GameState | None
    sense_actions: list[str] | UnsetType | None = UNSET
    move_actions: list[str] | UnsetType | None = UNSET
    names: PlayerNames | UnsetType = UNSET
    error: None = None


class SenseReply(Reply, kw_only=True):
    """The result of a sense; empty if nothing was sensed."""

    sense_result: SenseResult
    state: GameState
    error: None = None


class MoveReply(Reply, kw_only=True):
    """The reply of move in rbc: the requested move, the one taken (null: nothing moved), and where it captured."""

    requested_move: str | None
    taken_move: str | None
    capture_square: str | None
    state: GameState
    error: None = None


class ActionsReply(Reply, kw_only=True):
    """The UCI moves and, in rbc, the squares to sense; null if it is not the seat's turn."""

    sense_actions: list[str] | None
    move_actions: list[str] | None
    error: None = None


class GameRow(Struct, kw_only=True, frozen=True):
    """A game in a list of games.

    Both times are UTC, as in ``2026-11-21T04:41:00Z``. ``changed`` is when the game last began, got a move, or ended.
    """

    game_id: int
    variant: Variant
    player_white: PlayerId | None
    player_black: PlayerId | None
    status: GameStatus
    turn: Color
    ply_index: int
    termination: Termination
    result: Result
    created: str
    changed: str


class GamesReply(Reply, kw_only=True):
    """A page of games, and the ``before`` to send for the next page; null at the end."""

    games: list[GameRow]
    before: int | None
    error: None = None


class HistoryReply(Reply, kw_only=True):
    """The full PGN with headers, and the moves in UCI. In rbc, ``history`` is the game as reconchess saves it."""

    pgn: str
    moves: list[str]
    history: dict[str, Any] | None = None
    error: None = None


class ErrorReply(Reply, kw_only=True):
    """An error. ``state`` and ``game_id`` are null where the reply of a successful request would have them."""

    game_id: UnsetType | None = UNSET
    state: UnsetType | None = UNSET
    retry_after: float | UnsetType = UNSET
    code: str
    error: str


AnyReply = (
    HelloReply
    | Pong
    | NewGameReply
    | StateReply
    | ActionsReply
    | GamesReply
    | HistoryReply
    | JoinReply
    | KeyReply
    | RevokedReply
    | PlayersReply
    | SeatReply
    | InvitationsReply
    | SettingsReply
    | PairReply
    | LeaderboardReply
    | SenseReply
    | MoveReply
    | ErrorReply
)
