"""Requests and replies as msgspec structs; the field names are the wire's.

The ``kind`` of a request is the struct's tag. UNSET stands for a field not sent; ``None`` for one sent as null.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from .base import FIRST_REGISTERED as FIRST_REGISTERED
from .base import LAST_REGISTERED as LAST_REGISTERED
from .base import GameId, PlayerId, PlayerName
from .base import Reply as Reply
from .base import Request as Request
from .belief import BeliefReply, GetBelief
from .contests import ContestReply, ReportContest
from .endings import Result, Termination, VoluntaryTermination
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
from .state import Color, GameState, SenseResult

Ply = Annotated[int, Meta(ge=0, le=2**53 - 1, description="The ply_index acted on; makes a retry safe.")]
Thought = Annotated[Seconds, Meta(description="Seconds the player took, for a clock with lag.")]

GameStatus = Literal["live", "over", "open"]


# --- Requests ---------------------------------------------------------------------------------------------------


class Hello(Request, tag="hello", kw_only=True):
    """A request to begin a version 2 session, or to name another player for the rest of it, by id or name."""

    retry = "always"
    protocol: Annotated[int, Meta(ge=1)] = 2  #: The highest version the client speaks.
    client: str = ""  #: Client program.
    name: PlayerName | None = None  #: A registered player's name, instead of player.
    password: str | None = None  #: Its password, instead of key.
    spectator_key: str | None = None  #: Shows live games in full.


class Ping(Request, tag="ping", kw_only=True):
    """A request that only checks that the server answers."""

    retry = "always"


class NewGame(GameRequest, tag="new_game", kw_only=True):
    """A request for a new game; with ``pgn`` as :class:`GameFromPgn`. A null seat goes to the first who joins."""

    null_if_refused = frozenset({"game_id", "state"})
    player_white: PlayerId | None  #: The player; null: an open seat.
    player_black: PlayerId | None  #: The player; null: an open seat.
    pgn: str | None = None  #: As in game_from_pgn.


class GameFromPgn(NewGame, tag="game_from_pgn", kw_only=True):
    """A request for a new game from the end of a PGN's main line."""

    pgn: str  #: One game; its main line is played.


class Join(Request, tag="join", kw_only=True):
    """A request to take a seat: an open one, or one that the player was invited to."""

    retry = "always"
    game_id: GameId  #: The game.
    seat: Color | None = None  #: The seat to take.


class MakeMove(Request, tag="move", kw_only=True, gc=False):
    """A request to move, in SAN or UCI; in rbc, null passes."""

    retry = "ply"
    null_if_refused = frozenset({"state"})
    game_id: GameId  #: The game.
    move: str | None  #: SAN or UCI; null (rbc): pass.
    seat: Color | None = None  #: The seat acted for.
    ply: Ply | None = None
    thought: Thought | None = None
    offer_draw: bool = False  #: Whether to offer a draw.
    claim_draw: bool = False  #: Whether to take a draw if the move allows it.


class MakeSense(Request, tag="sense", kw_only=True):
    """A request to sense the three by three squares around ``square`` (a name, or a1 = 0 to h8 = 63); null for none."""

    retry = "ply"
    null_if_refused = frozenset({"state"})
    game_id: GameId  #: The game.
    square: str | int | None  #: A name (e7), 0 (a1) to 63 (h8), or null: sense nothing.
    seat: Color | None = None  #: The seat acted for.
    ply: Ply | None = None
    thought: Thought | None = None


class EndGame(Request, tag="end_game", kw_only=True):
    """A request to resign, to claim a draw, or to agree to a draw."""

    retry = "ply"
    null_if_refused = frozenset({"state"})
    game_id: GameId  #: The game.
    termination: VoluntaryTermination  #: How the game is to end.
    seat: Color | None = None  #: The seat acted for.
    ply: Ply | None = None
    thought: Thought | None = None


class GetState(Request, tag="state", kw_only=True):
    """A request for a game's state, as ``player`` may see it."""

    retry = "always"
    game_id: GameId  #: The game.
    seat: Color | None = None  #: The seat acted for.
    actions: bool = False  #: Whether to add the actions.


class Wait(Request, tag="wait", kw_only=True):
    """A request that blocks until the player must act in one of the games, or one is over."""

    retry = "always"
    game_id: GameId | None = None  #: Wait for this game.
    game_ids: list[GameId] | None = None  #: Wait for the first of these games.
    any: bool = False  #: Wait for any of the player's games.
    except_: list[GameId] = field(name="except", default_factory=list)  #: With any: ignore these games.
    seat: Color | None = None  #: The seat acted for.
    ply: Ply | None = None  #: Spectators: wait until ply_index is above it.
    timeout: Seconds | None = None  #: Seconds; default and most: max_wait_seconds.
    actions: bool = False  #: Whether to add the actions.


class GetActions(Request, tag="actions", kw_only=True):
    """A request for the moves, and in rbc the senses, that the player may make now."""

    retry = "always"
    game_id: GameId  #: The game.
    seat: Color | None = None  #: The seat acted for.


class ListGames(Request, tag="games", kw_only=True):
    """A request for a page of games, newest first."""

    retry = "always"
    status: GameStatus | None = None  #: Only games of this status.
    variant: Variant | None = None  #: Only games of this variant.
    limit: Annotated[int, Meta(ge=1, le=100)] = 100  #: The most rows.
    before: GameId | None = None  #: Only games with a lower id.


class GetHistory(Request, tag="history", kw_only=True):
    """A request for the whole game as PGN and as UCI moves."""

    retry = "always"
    game_id: GameId  #: The game.


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
    | ReportContest
    | GetBelief
)

#: Every request struct by its kind.
REQUESTS: dict[str, type[Request]] = {str(request.__struct_config__.tag): request for request in get_args(AnyRequest)}

# --- Replies ----------------------------------------------------------------------------------------------------


class Limits(Struct, kw_only=True, frozen=True):
    """All limits of the server that can refuse a request or end a session."""

    max_message: Annotated[int, Meta(description="Longest request, in bytes.")]
    max_connections: int  #: Most connections at a time.
    max_wait_seconds: float  #: Longest wait.
    max_wait_games: int  #: Most games in one wait.
    max_games_page: int  #: Most rows in a reply of games.
    max_plies: int  #: Plies after which a game is drawn.
    max_pgn: int  #: Longest pgn, in characters.
    max_work_per_minute: int | None  #: Milliseconds of the processor, per address.
    idle_seconds: float  #: Silence after which a session ends.
    frame_seconds: float  #: Time for one message.
    start_seconds: float  #: Time for a player's first request in a game.
    max_failures_per_minute: int  #: Failed keys and passwords, per address.
    max_registrations_per_hour: int  #: Players registered, per address.
    max_players: int  #: Registered players.
    invitation_seconds: float  #: Life of an invitation.
    max_invitations: int  #: Unanswered invitations, per inviter.
    max_invitations_per_minute: int  #: Invitations made, per address.
    kept_seat_seconds: float  #: Life of a seat that new_game keeps.
    max_invitations_received: int  #: Unanswered invitations, per invited player.
    max_invitations_from_address: int  #: Unanswered invitations, per address.
    max_games_per_hour: int  #: Games made, per address.
    max_unfinished_games: int  #: Games that are not over, per address.
    max_registrations_per_day: int  #: Players registered, per address.
    max_rekeys_per_hour: int  #: Keys replaced, per address.


class ServerBot(Struct, kw_only=True, frozen=True):
    """A bot that the server runs: it plays whoever invites it."""

    player: int  #: The player.
    name: str  #: Its name.
    variants: list[str]  #: What it plays.
    about: str  #: Its level.


class HelloReply(Reply, kw_only=True):
    """The server's version, kinds of requests and limits, and the session's player."""

    protocol: int  #: The highest version that both speak.
    server: str  #: Name and version of the server.
    kinds: list[str]  #: The kinds the server knows.
    player: PlayerId | None  #: The session's player.
    limits: Limits  #: The server's limits.
    bots: list[ServerBot] | UnsetType = UNSET  #: The server's bots.
    error: None = None


class Pong(Reply, kw_only=True):
    """The reply to a ping."""

    error: None = None


class NewGameReply(Reply, kw_only=True):
    """The new game, or the one created before with the same token."""

    game_id: int  #: The game.
    state: GameState  #: The game's state.
    options: GameOptions  #: The game's options.
    error: None = None


class PlayerNames(Struct, kw_only=True, frozen=True):
    """The names of a game's players; null for an open id or an empty seat."""

    white: str | None  #: The player's name.
    black: str | None  #: The player's name.


class JoinReply(Reply, kw_only=True):
    """The seat that the player has taken, or had already, and the game. ``names`` is left out if no player is
    registered.
    """

    seat: Color  #: The player's seat.
    state: GameState  #: The game's state.
    options: GameOptions  #: The game's options.
    names: PlayerNames | UnsetType = UNSET  #: If a player is registered.
    error: None = None


class StateReply(Reply, kw_only=True, gc=False):
    """The reply of move, end_game, state and wait. That of state and wait may have ``game_id`` and the actions.

    Only the reply of state has ``names``, and only if a player is registered; only that of move ``claim_refused``.
    """

    game_id: int | UnsetType = UNSET  #: In wait: the game that is due.
    state: GameState | None  #: The game's state.
    sense_actions: list[str] | UnsetType | None = UNSET  #: Of actions, if asked for.
    move_actions: list[str] | UnsetType | None = UNSET  #: Of actions, if asked for.
    names: PlayerNames | UnsetType = UNSET  #: In state, if a player is registered.
    claim_refused: str | UnsetType = UNSET  #: Of move, with claim_draw: why there is no draw.
    error: None = None


class SenseReply(Reply, kw_only=True):
    """The result of a sense; empty if nothing was sensed."""

    sense_result: SenseResult  #: The squares sensed, and what stands there.
    state: GameState  #: The game's state.
    error: None = None


class MoveReply(Reply, kw_only=True):
    """The reply of move in rbc: the requested move, the one taken (null: nothing moved), and where it captured."""

    requested_move: str | None  #: The move as sent; null: a pass.
    taken_move: str | None  #: The move made; null: nothing moved.
    capture_square: str | None  #: Where it captured.
    state: GameState  #: The game's state.
    error: None = None


class ActionsReply(Reply, kw_only=True):
    """The UCI moves and, in rbc, the squares to sense; null if it is not the seat's turn."""

    sense_actions: list[str] | None  #: Squares to sense.
    move_actions: list[str] | None  #: Moves to ask for, in UCI.
    error: None = None


class GameRow(Struct, kw_only=True, frozen=True):
    """A game in a list of games.

    Both times are UTC, as in ``2026-11-21T04:41:00Z``. ``changed`` is when the game last began, got a move, or ended.
    """

    game_id: int  #: The game.
    variant: Variant  #: Its variant.
    player_white: PlayerId | None  #: The player; null: an open seat.
    player_black: PlayerId | None  #: The player; null: an open seat.
    status: GameStatus  #: open (not begun), live or over.
    turn: Color  #: The side to move.
    ply_index: int  #: Plies played; rbc: turns played.
    termination: Termination  #: How the game stands.
    result: Result  #: "*" until the game has one.
    created: str  #: UTC: 2026-11-21T04:41:00Z.
    changed: str  #: UTC of its start, last move or end.


class GamesReply(Reply, kw_only=True):
    """A page of games, and the ``before`` to send for the next page; null at the end."""

    games: list[GameRow]  #: The page.
    before: int | None  #: For the next page; null: the end.
    error: None = None


class HistoryReply(Reply, kw_only=True):
    """The full PGN with headers, and the moves in UCI. In rbc, ``history`` is the game as reconchess saves it."""

    pgn: str  #: The game, with headers.
    moves: list[str]  #: Its moves in UCI.
    history: dict[str, Any] | None  #: rbc: reconchess's GameHistory; else null.
    error: None = None


class ErrorReply(Reply, kw_only=True):
    """An error. ``state`` and ``game_id`` are null where the reply of a successful request would have them."""

    game_id: UnsetType | None = UNSET  #: In refusals of some kinds.
    state: UnsetType | None = UNSET  #: In refusals of some kinds.
    retry_after: float | UnsetType = UNSET  #: Seconds to wait before a retry.
    code: str  #: A word for programs.
    error: str  #: A sentence for people.


AnyReply = (
    HelloReply
    | Pong
    | NewGameReply
    | StateReply
    | ActionsReply
    | BeliefReply
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
    | ContestReply
    | SenseReply
    | MoveReply
    | ErrorReply
)
