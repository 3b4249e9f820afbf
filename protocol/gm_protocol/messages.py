"""Requests and replies as msgspec structs; the field names are the wire's.

A request is told apart by its ``kind``, which is the struct's tag. UNSET stands for a field that was not sent;
``None`` for one sent as null.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from .base import FIRST_REGISTERED as FIRST_REGISTERED
from .base import LAST_REGISTERED as LAST_REGISTERED
from .base import SECRET_FIELDS as SECRET_FIELDS
from .base import PlayerId, PlayerName
from .base import Reply as Reply
from .base import Request as Request
from .players import KeyReply, ListPlayers, PlayersReply, Register, Rekey, Revoke, RevokedReply
from .state import Color, GameState, Result, Termination

GameId = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Ply = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Seconds = Annotated[float, Meta(ge=0)]

Variant = Literal["standard", "chess960", "crazyhouse"]
DrawRule = Literal["claimed", "automatic"]
IllegalMoveRule = Literal["refuse", "lose"]
GameStatus = Literal["live", "over", "open"]

#: What ``end_game`` may ask for.
VoluntaryTermination = Literal[
    "taken_draw_white",
    "taken_draw_black",
    "resignation_white",
    "resignation_black",
    "draw_agreed",
]


class ClockOption(Struct, frozen=True, forbid_unknown_fields=True):
    """A time control, in seconds: ``initial`` with ``increment``, or ``first_move`` with ``per_move``."""

    initial: Seconds | UnsetType = UNSET
    increment: Seconds | UnsetType = UNSET
    first_move: Seconds | UnsetType = UNSET
    per_move: Seconds | UnsetType = UNSET


class GameOptions(Struct, frozen=True, kw_only=True):
    """The options of a game as the server resolved them."""

    variant: Variant
    fen: str
    position: int | None
    draws: DrawRule
    max_moves: int | None
    clock: ClockOption | None
    illegal_move: IllegalMoveRule


# --- Requests ---------------------------------------------------------------------------------------------------


class Hello(Request, tag="hello", kw_only=True):
    """Begins a version 2 session, or names another player for the rest of it: an id, or a registered name."""

    protocol: Annotated[int, Meta(ge=1)] = 2
    client: str = ""
    name: PlayerName | None = None
    password: str | None = None


class Ping(Request, tag="ping", kw_only=True):
    """Is anybody there?"""


class NewGame(Request, tag="new_game", kw_only=True):
    """Starts a game. With ``pgn`` it is :class:`GameFromPgn`. A seat that is null is open to whoever joins first."""

    player_white: PlayerId | None
    player_black: PlayerId | None
    token: str | None = None
    variant: Variant | None = None
    fen: str | None = None
    position: Annotated[int, Meta(ge=0, le=959)] | None = None
    seed: int | None = None
    draws: DrawRule | None = None
    max_moves: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    clock: ClockOption | None = None
    illegal_move: IllegalMoveRule | None = None
    pgn: str | None = None


class GameFromPgn(NewGame, tag="game_from_pgn", kw_only=True):
    """Starts a game at the end of a PGN's main line."""

    pgn: str


class Join(Request, tag="join", kw_only=True):
    """Takes a seat that the player was invited to, or an open one."""

    game_id: GameId
    seat: Color | None = None


class MakeMove(Request, tag="move", kw_only=True, gc=False):
    """A move in SAN or UCI."""

    game_id: GameId
    move: str
    seat: Color | None = None
    ply: Ply | None = None
    offer_draw: bool = False


class EndGame(Request, tag="end_game", kw_only=True):
    """A resignation, a draw claimed, or a draw agreed to."""

    game_id: GameId
    termination: VoluntaryTermination
    seat: Color | None = None
    ply: Ply | None = None


class GetState(Request, tag="state", kw_only=True):
    """The state as ``player`` may see it."""

    game_id: GameId
    seat: Color | None = None
    actions: bool = False


class Wait(Request, tag="wait", kw_only=True):
    """Blocks until the player is to act in one of the games, or that game is over."""

    game_id: GameId | None = None
    game_ids: list[GameId] | None = None
    any: bool = False
    except_: list[GameId] = field(name="except", default_factory=list)
    seat: Color | None = None
    ply: Ply | None = None
    timeout: Seconds | None = None
    actions: bool = False


class GetActions(Request, tag="actions", kw_only=True):
    """What the player may do now."""

    game_id: GameId
    seat: Color | None = None


class ListGames(Request, tag="games", kw_only=True):
    """A page of games, newest first."""

    status: GameStatus | None = None
    variant: Variant | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    before: GameId | None = None


class GetHistory(Request, tag="history", kw_only=True):
    """The whole game as PGN and as UCI moves."""

    game_id: GameId


AnyRequest = (
    Hello
    | Ping
    | NewGame
    | GameFromPgn
    | MakeMove
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
)

#: Every request struct by its kind.
REQUESTS: dict[str, type[Request]] = {str(request.__struct_config__.tag): request for request in get_args(AnyRequest)}

# --- Replies ----------------------------------------------------------------------------------------------------


class Limits(Struct, kw_only=True, frozen=True):
    """Every limit that can refuse or end something."""

    max_message: int
    max_connections: int
    max_wait_seconds: float
    max_wait_games: int
    max_games_page: int
    max_plies: int
    idle_seconds: float
    frame_seconds: float
    start_seconds: float
    max_failures_per_minute: int
    max_registrations_per_hour: int
    max_players: int


class HelloReply(Reply, kw_only=True):
    """What this server is and can."""

    protocol: int
    server: str
    kinds: list[str]
    player: int | None
    limits: Limits
    error: None = None


class Pong(Reply, kw_only=True):
    """Yes."""

    error: None = None


class NewGameReply(Reply, kw_only=True):
    """The game made, or the one made before under the same token."""

    game_id: int
    state: GameState
    options: GameOptions
    error: None = None


class JoinReply(Reply, kw_only=True):
    """The seat taken, or held already, and the game."""

    seat: Color
    state: GameState
    options: GameOptions
    error: None = None


class StateReply(Reply, kw_only=True, gc=False):
    """The reply of move, end_game, state and wait. The last two may carry ``game_id`` and the actions."""

    game_id: int | UnsetType = UNSET
    state: GameState | None
    sense_actions: list[str] | UnsetType | None = UNSET
    move_actions: list[str] | UnsetType | None = UNSET
    error: None = None


class ActionsReply(Reply, kw_only=True):
    """UCI moves on the seat's turn; null off it. Nothing is sensed in chess."""

    sense_actions: list[str] | None
    move_actions: list[str] | None
    error: None = None


class GameRow(Struct, kw_only=True, frozen=True):
    """A game as a listing shows it. ``created`` is UTC, as in ``2026-11-21T04:41:00Z``."""

    game_id: int
    variant: Variant
    player_white: int | None
    player_black: int | None
    status: GameStatus
    turn: Color
    ply_index: int
    termination: Termination
    result: Result
    created: str


class GamesReply(Reply, kw_only=True):
    """A page of rows, and what to send as ``before`` for the next one; null at the end."""

    games: list[GameRow]
    before: int | None
    error: None = None


class HistoryReply(Reply, kw_only=True):
    """Full PGN with headers, and the moves in UCI. ``history`` is for the variants that have one of their own."""

    pgn: str
    moves: list[str]
    history: Raw | None = None
    error: None = None


class ErrorReply(Reply, kw_only=True):
    """A refusal. ``state`` (and ``game_id``) are null where the same request's success would have had them."""

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
    | ErrorReply
)
