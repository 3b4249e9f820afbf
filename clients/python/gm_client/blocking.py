"""A client of the gm protocol: play chess and reconnaissance blind chess on a gm server.

    with connect(player=1) as client:
        game_id = client.new_game(1, 2, variant="rbc")["game_id"]
        for turn in client.turns(game_id):
            turn.sense(random.choice(turn.sense_actions))
            turn.move(random.choice(turn.move_actions))

Needs Python 3.11 and nothing else: copy this one file into a bot's own project, under any name. PROTOCOL is the
reference of all kinds, fields and codes. This client blocks; ``gm_client.trio_client`` is the same for trio.
"""

# The parts between ">>>" and "<<<" are generated, in gmd's source tree: `python -m clients.generate`.

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import socket
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Self, TypedDict, TypeVar, Unpack

if TYPE_CHECKING:
    import ssl

R = TypeVar("R")

VERSION = "0.3.0"
DEFAULT_PORT = 7100

#: The largest reply accepted, in bytes. The longest game's history is some 10 MB. A server of another protocol is
#: recognised by its first four bytes: "HTTP" would be a length of 1.2 GB.
MAX_REPLY = 64 << 20
#: Seconds that each step of connecting may take.
CONNECT_SECONDS = 10.0
#: The same at each of several servers, also for its reply to the hello: a frozen one may accept and never answer.
ANSWER_SECONDS = 5.0
#: Default seconds of retries after a lost connection: enough to restart a server.
PATIENCE_SECONDS = 60.0
#: Seconds between two attempts, at first and at most. They double each time, with jitter for crowds of clients.
FIRST_DELAY, LONGEST_DELAY = 0.05, 2.0
#: Seconds without a reply, in addition to the longest wait, after which the connection counts as lost.
SILENCE_SECONDS = 30.0
#: Options of a connection, where the system has them, by which it ends some ten seconds after the server's machine has
#: lost its power or was cut off: when a silent connection is probed, and how long data may stay unconfirmed.
KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPALIVE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 10_000}

# >>> kinds: generated from the structs of gm_protocol; run `python -m clients.generate`.


#: Kinds that change nothing, or nothing more when repeated.
READING = {
    "hello",
    "ping",
    "state",
    "wait",
    "actions",
    "games",
    "history",
    "join",
    "revoke",
    "players",
    "invitations",
    "accept",
    "decline",
    "settings",
    "leaderboard",
    "contest",
    "belief",
}
#: Kinds that may be sent again if "ply" identifies the action.
ACTING = {
    "move",
    "sense",
    "end_game",
}
#: Kinds that may be sent again if they have a "token".
MAKING = {
    "new_game",
    "game_from_pgn",
    "register",
    "rekey",
    "challenge",
    "seek",
    "pair",
}


# <<< kinds

#: Unwanted invitations that a loop can exclude: as many as the server accepts in the field "except".
MAX_DECLINED = 100
#: Codes of a reply to join that mean that the invitation no longer exists.
GIVEN_UP = {"game_over", "no_such_game", "not_available"}
#: Codes of a reply to hello that a retry may overcome.
PASSING = {"too_many", "shutting_down"}

# --- Errors -----------------------------------------------------------------------------------------------------------


class ClientError(Exception):
    """Base class of the client's errors."""


class GmError(ClientError):
    """The server refused a request, and nothing has changed. The text is the server's sentence.

    :ivar code: the protocol's code for the error: ``illegal_move``, ``not_your_turn`` and so on.
    :ivar kind: the kind of the request.
    :ivar retry_after: with ``too_many``, the seconds to wait before the next attempt.
    :ivar reply: the server's whole reply.
    """

    def __init__(self, reply: dict[str, Any], kind: str) -> None:
        super().__init__(str(reply["error"]))
        self.code: str = reply.get("code", "")
        self.kind = kind
        self.retry_after: float | None = reply.get("retry_after")
        self.reply = reply

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle makes the error of in another process."""
        return type(self), (self.reply, self.kind), vars(self)


class ConnectionLost(ClientError, ConnectionError):
    """There is no connection, and retries have failed or are not allowed.

    :ivar sent: whether the server may have carried out the request.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class BadReply(ClientError):
    """The data received is not a reply of a gm server."""


# --- Requests and replies ---------------------------------------------------------------------------------------------

#: A square's name, or its number: a1 is 0, h8 is 63.
Square = str | int

# >>> types: generated from protocol/schema.json; change gm_protocol's structs and run `python -m clients.generate`.


Color = Literal["black", "white"]
Variant = Literal["chess960", "crazyhouse", "dark_chess", "rbc", "standard"]
Piece = Literal["wp", "wN", "wB", "wR", "wQ", "wK", "bp", "bN", "bB", "bR", "bQ", "bK"]
Phase = Literal["move", "open", "over", "sense"]
Result = Literal["*", "0-1", "1-0", "1/2-1/2"]
Termination = Literal[
    "available_move",
    "declined",
    "draw_agreed",
    "draw_fifty_moves",
    "draw_material",
    "draw_move_limit",
    "draw_repetition",
    "draw_timeout",
    "draw_turn_limit",
    "expired",
    "forfeit_black",
    "forfeit_white",
    "resignation_black",
    "resignation_white",
    "stalemate",
    "taken_draw_black",
    "taken_draw_white",
    "timeout_black",
    "timeout_white",
    "victory_black",
    "victory_white",
    "withdrawn",
]
VoluntaryTermination = Literal[
    "draw_agreed",
    "resignation_black",
    "resignation_white",
    "taken_draw_black",
    "taken_draw_white",
]
GameStatus = Literal["live", "open", "over"]
SenseResult = list[tuple[str, Piece | None]]


class Clock(TypedDict):
    """A time control, in seconds: initial with increment, or first_move with per_move.

    margin is by how much a player may exceed its time without losing. lag is how much of the time until a request
    arrives the client may claim as not the player's, for each request.
    """

    #: Time for the game, above 0.
    initial: NotRequired[float]
    #: Added after each own move.
    increment: NotRequired[float]
    #: Time for the first move, above 0.
    first_move: NotRequired[float]
    #: Time for each later move, above 0.
    per_move: NotRequired[float]
    #: Overstepping that does not lose.
    margin: NotRequired[float]
    #: Most delay not charged, per request.
    lag: NotRequired[float]


class ContestReport(TypedDict):
    """How a contest stands. It says nothing of games that are not over but that they are played."""

    #: The contest's name.
    title: str
    #: What it is.
    form: Literal["match", "tournament"]
    #: Of its games.
    variant: Variant
    #: stopped: it may be resumed.
    status: NotRequired[Literal["over", "running", "stopped"]]
    #: A sentence: what is played, or the verdict.
    note: NotRequired[str]
    #: Games planned, if known.
    planned: NotRequired[int | None]
    #: Games that are over.
    games: NotRequired[int]
    #: The table, best first.
    players: list[ContestPlayer]
    #: The heads of the cells.
    columns: NotRequired[list[str]]
    #: The first player's, from 0 to 1.
    score: NotRequired[ContestInterval | None]
    #: The first player's, over the second.
    elo: NotRequired[ContestInterval | None]
    #: The test that ends the match.
    sprt: NotRequired[ContestSprt | None]
    #: The past, oldest first.
    curve: NotRequired[list[ContestPoint]]
    #: Games, newest first.
    latest: NotRequired[list[ContestGame]]


class ContestPlayer(TypedDict):
    """A row of the table. Its cells are its results against each player, or in each round."""

    #: As in the table.
    name: str
    #: On this server, if known.
    player: NotRequired[int | None]
    #: Of all games.
    points: NotRequired[float]
    #: Played and over.
    games: NotRequired[int]
    #: Of these.
    wins: NotRequired[int]
    #: Of these.
    draws: NotRequired[int]
    #: Of these.
    losses: NotRequired[int]
    #: One for each column.
    cells: NotRequired[list[str]]


class ContestInterval(TypedDict):
    """An estimate, and the interval in which the true value is in 19 of 20 cases."""

    #: The estimate.
    value: float
    #: The interval's lower end.
    low: float
    #: Its upper end.
    high: float


class ContestSprt(TypedDict):
    """A sequential probability ratio test of elo0 (H0) against elo1 (H1)."""

    #: The Elo of H0.
    elo0: float
    #: The Elo of H1.
    elo1: float
    #: The chance to accept H1 where H0 holds.
    alpha: float
    #: The chance to accept H0 where H1 holds.
    beta: float
    #: The kind of Elo.
    model: Literal["logistic", "normalized"]
    #: At or below this ratio H0 is accepted.
    lower: float
    #: At or above this ratio H1 is accepted.
    upper: float
    #: The log-likelihood ratio now.
    llr: float
    #: The hypothesis accepted.
    accepted: NotRequired[Literal["H0", "H1"] | None]


class ContestPoint(TypedDict):
    """How a match of two stood after some games."""

    #: After so many games.
    games: int
    #: The estimate of the first player's Elo.
    elo: NotRequired[float | None]
    #: Its interval's lower end.
    low: NotRequired[float | None]
    #: Its upper end.
    high: NotRequired[float | None]
    #: The test's log-likelihood ratio.
    llr: NotRequired[float | None]


class ContestGame(TypedDict):
    """A game of a contest. white and black are numbers of players, from 0."""

    #: The game.
    game_id: int
    #: The place in players.
    white: int
    #: The place in players.
    black: int
    #: Left out: in progress.
    result: NotRequired[Literal["+/-", "-/+", "-/-", "0-1", "1-0", "1/2-1/2"] | None]


class Limits(TypedDict):
    """All limits of the server that can refuse a request or end a session."""

    #: Longest request, in bytes.
    max_message: int
    #: Most connections at a time.
    max_connections: int
    #: Longest wait.
    max_wait_seconds: float
    #: Most games in one wait.
    max_wait_games: int
    #: Most rows in a reply of games.
    max_games_page: int
    #: Plies after which a game is drawn.
    max_plies: int
    #: Longest pgn, in characters.
    max_pgn: int
    #: Milliseconds of the processor, per address.
    max_work_per_minute: int | None
    #: Silence after which a session ends.
    idle_seconds: float
    #: Time for one message.
    frame_seconds: float
    #: Time for a player's first request in a game.
    start_seconds: float
    #: Failed keys and passwords, per address.
    max_failures_per_minute: int
    #: Players registered, per address.
    max_registrations_per_hour: int
    #: Registered players.
    max_players: int
    #: Life of an invitation.
    invitation_seconds: float
    #: Unanswered invitations, per inviter.
    max_invitations: int
    #: Invitations made, per address.
    max_invitations_per_minute: int
    #: Life of a seat that new_game keeps.
    kept_seat_seconds: float
    #: Unanswered invitations, per invited player.
    max_invitations_received: int
    #: Unanswered invitations, per address.
    max_invitations_from_address: int
    #: Games made, per address.
    max_games_per_hour: int
    #: Games that are not over, per address.
    max_unfinished_games: int
    #: Players registered, per address.
    max_registrations_per_day: int
    #: Keys replaced, per address.
    max_rekeys_per_hour: int


class ServerBot(TypedDict):
    """A bot that the server runs: it plays whoever invites it."""

    #: The player.
    player: int
    #: Its name.
    name: str
    #: What it plays.
    variants: list[str]
    #: Its level.
    about: str


class GameState(TypedDict):
    """A game as one viewer may see it.

    The first ten fields are those of version 1. board, access_map and pgn are left out of the replies to brief
    requests. Only crazyhouse has pockets, only rbc the three fields after it, and only dark_chess visible.
    """

    #: Rank 1 is first, in it file a; null: an empty square.
    board: NotRequired[list[list[Piece | None]]]
    #: Bits: 1, 2 White's king's, queen's side; 4, 8 Black's.
    available_castles: int
    #: File, 0 to 7, of legal en passant; else -1.
    passant_file: int
    #: For each square, the pieces that could move there.
    access_map: NotRequired[list[list[list[tuple[int, int]]]]]
    #: Plies played; rbc: turns played.
    ply_index: int
    #: The moves in PGN, without headers; null: hidden.
    pgn: NotRequired[str | None]
    #: The position in FEN.
    fen: str
    #: Bits of draws that can be taken: 1 fifty moves, 2 threefold.
    draws: int
    #: How the game stands.
    termination: Termination
    #: Whether the side to move is in check.
    in_check: bool
    #: The game.
    game_id: int
    #: Its variant.
    variant: str
    #: The player; null: an open seat.
    player_white: int | None
    #: The player; null: an open seat.
    player_black: int | None
    #: The first position, complete.
    start_fen: str
    #: The side to move.
    turn: Color
    #: What is to be done; null: hidden.
    phase: Phase | None
    #: "*" until the game has one.
    result: Result
    #: null: no clock.
    clock: ClockState | None
    #: Whether an offer stands.
    draw_offered: bool
    #: In UCI.
    last_move: str | None
    #: crazyhouse: the pieces in hand.
    pockets: NotRequired[Pockets]
    #: rbc: where the opponent captured.
    opponent_capture: NotRequired[str | None]
    #: rbc: the seat's latest sense.
    last_sense: NotRequired[LastSense | None]
    #: rbc: the seat's latest move.
    last_result: NotRequired[LastResult | None]
    #: dark_chess: the squares seen.
    visible: NotRequired[list[str] | None]


class ClockState(TypedDict):
    """The seconds that each side has left; null where hidden. The clock of the side to move runs on from this value."""

    #: Seconds left; null: hidden.
    white: float | None
    #: Seconds left; null: hidden.
    black: float | None


class Pockets(TypedDict):
    """The pieces that each side has in hand in crazyhouse, most valuable first (White's in capitals)."""

    #: As "QNP".
    white: str
    #: As "qnp".
    black: str


class LastSense(TypedDict):
    """A seat's latest sense: its ply, its square (null: none), and its result."""

    #: The ply_index it was made at.
    ply: int
    #: Its centre; null: nothing.
    square: str | None
    #: The squares sensed, and what stands there.
    sense_result: SenseResult


class LastResult(TypedDict):
    """A seat's latest move: its ply, the requested move, the one taken (null: none), and where it captured."""

    #: The ply_index it was made at.
    ply: int
    #: The move as sent; null: a pass.
    requested_move: str | None
    #: The move made; null: nothing moved.
    taken_move: str | None
    #: Where it captured.
    capture_square: str | None


class Options(TypedDict):
    """The options of a game as the server resolved them, without those that its variant does not have."""

    #: The variant.
    variant: Variant
    #: The start position.
    fen: str
    #: Its number.
    position: NotRequired[int | None]
    #: As in the request.
    draws: NotRequired[Literal["automatic", "claimed"]]
    #: As in the request.
    max_moves: NotRequired[int | None]
    #: As in the request.
    clock: Clock | None
    #: As in the request.
    illegal_move: NotRequired[Literal["lose", "refuse"]]
    #: As in the request.
    reversible_moves: NotRequired[int | None]
    #: As in the request.
    max_turns: NotRequired[int | None]


class PlayerNames(TypedDict):
    """The names of a game's players; null for an open id or an empty seat."""

    #: The player's name.
    white: str | None
    #: The player's name.
    black: str | None


class Hint(TypedDict):
    """The sense that leaves the fewest positions on average."""

    #: Its square.
    square: str
    #: The share of the positions that it leaves.
    left: float


class GameRow(TypedDict):
    """A game in a list of games.

    Both times are UTC, as in 2026-11-21T04:41:00Z. changed is when the game last began, got a move, or ended.
    """

    #: The game.
    game_id: int
    #: Its variant.
    variant: Variant
    #: The player; null: an open seat.
    player_white: int | None
    #: The player; null: an open seat.
    player_black: int | None
    #: open (not begun), live or over.
    status: GameStatus
    #: The side to move.
    turn: Color
    #: Plies played; rbc: turns played.
    ply_index: int
    #: How the game stands.
    termination: Termination
    #: "*" until the game has one.
    result: Result
    #: UTC: 2026-11-21T04:41:00Z.
    created: str
    #: UTC of its start, last move or end.
    changed: str


class PlayerRow(TypedDict):
    """A registered player, as shown to the operator.

    revoked: it has no key. here: it has a session, or sent a request lately. room: how many more games it takes.
    """

    #: The player.
    player: int
    #: Its name.
    name: str
    #: Whether it has one.
    password: bool
    #: Whether it has no key any more.
    revoked: bool
    #: Whether it is present.
    here: bool
    #: How many more games it takes.
    room: int
    #: UTC: 2026-11-21T04:41:00Z.
    created: str


class InvitationRow(TypedDict):
    """An invitation that waits for an answer, as shown to one of the two players.

    opponent is the other player, or null if that seat is open; name is its name if it is registered; color is the
    colour of the player that asks. lapses is how many seconds it was given to begin; null in games of older servers.
    """

    #: The game.
    game_id: int
    #: The other player; null: an open seat.
    opponent: int | None
    #: Its name, if registered.
    name: str | None
    #: The player's color.
    color: Color
    #: The game's options.
    options: Options
    #: Whether it counts for ratings.
    ranked: bool
    #: UTC: 2026-11-21T04:41:00Z.
    created: str
    #: Seconds from created until it expires, if known.
    lapses: float | None
    #: Games the bots begin first.
    ahead: NotRequired[int]


class LeaderboardRow(TypedDict):
    """A version of a player's bot. deviation is the standard deviation of its rating; anchor: its rating is fixed."""

    #: 1: the highest rating.
    place: int
    #: The player.
    player: int
    #: Its name.
    name: str
    #: Of the player's bot.
    version: int
    #: On Elo's scale.
    rating: float
    #: Its standard deviation.
    deviation: float
    #: Whether the rating is fixed.
    anchor: bool
    #: Ranked games that have ended.
    games: int
    #: Of these.
    wins: int
    #: Of these.
    draws: int
    #: Of these.
    losses: int


class Fields(TypedDict, total=False):
    """Fields that a request of any kind may have. A player of null is nobody."""

    #: A value that the reply repeats.
    id: int | str | None
    #: Whether states in the reply lack board, access_map and pgn.
    brief: bool
    #: The player who acts; left out: the session's; null: nobody.
    player: int | None
    #: The key of that player; null: none.
    key: str | None


class GameFields(Fields, total=False):
    """The terms of a new game. The client adds a token if there is none."""

    #: Names the request for a retry.
    token: str | None
    #: Default: standard.
    variant: Variant | None
    #: The start position.
    fen: str | None
    #: Number of the start position.
    position: int | None
    #: Instead of position; taken modulo 960.
    seed: int | None
    #: How draws come about.
    draws: Literal["automatic", "claimed"] | None
    #: Moves a side, then a draw.
    max_moves: int | None
    #: The time control.
    clock: str | Clock | None
    #: Default: refuse.
    illegal_move: Literal["lose", "refuse"] | None
    #: rbc; default: 100; null: no limit.
    reversible_moves: int | None
    #: rbc: turns a side, then a draw.
    max_turns: int | None


class HelloFields(Fields, total=False):
    """A request to begin a version 2 session, or to name another player for the rest of it, by id or name."""

    #: The highest version the client speaks.
    protocol: int
    #: Client program.
    client: str
    #: A registered player's name, instead of player.
    name: str | None
    #: Its password, instead of key.
    password: str | None
    #: Shows live games in full.
    spectator_key: str | None


class NewGameFields(GameFields, total=False):
    """A request for a new game; with pgn as GameFromPgn. A null seat goes to the first who joins."""

    #: As in game_from_pgn.
    pgn: str | None


class GameFromPgnFields(GameFields, total=False):
    """A request for a new game from the end of a PGN's main line."""

    #: One game; its main line is played.
    pgn: str


class MoveFields(Fields, total=False):
    """A request to move, in SAN or UCI; in rbc, null passes."""

    #: The seat acted for.
    seat: Color | None
    #: The ply_index acted on; makes a retry safe.
    ply: int | None
    #: Seconds the player took, for a clock with lag.
    thought: float | None
    #: Whether to offer a draw.
    offer_draw: bool
    #: Whether to take a draw if the move allows it.
    claim_draw: bool


class SenseFields(Fields, total=False):
    """A request to sense the three by three squares around square (a name, or a1 = 0 to h8 = 63); null for none."""

    #: The seat acted for.
    seat: Color | None
    #: The ply_index acted on; makes a retry safe.
    ply: int | None
    #: Seconds the player took, for a clock with lag.
    thought: float | None


class EndGameFields(Fields, total=False):
    """A request to resign, to claim a draw, or to agree to a draw."""

    #: The seat acted for.
    seat: Color | None
    #: The ply_index acted on; makes a retry safe.
    ply: int | None
    #: Seconds the player took, for a clock with lag.
    thought: float | None


class StateFields(Fields, total=False):
    """A request for a game's state, as player may see it."""

    #: The seat acted for.
    seat: Color | None
    #: Whether to add the actions.
    actions: bool


class WaitFields(Fields, total=False):
    """A request that blocks until the player must act in one of the games, or one is over."""

    #: Wait for the first of these games.
    game_ids: list[int] | None
    #: Wait for any of the player's games.
    any: bool
    #: With any: ignore these games.
    except_: list[int]
    #: The seat acted for.
    seat: Color | None
    #: Spectators: wait until ply_index is above it.
    ply: int | None
    #: Seconds; default and most: max_wait_seconds.
    timeout: float | None
    #: Whether to add the actions.
    actions: bool


class ActionsFields(Fields, total=False):
    """A request for the moves, and in rbc the senses, that the player may make now."""

    #: The seat acted for.
    seat: Color | None


class GamesFields(Fields, total=False):
    """A request for a page of games, newest first."""

    #: Only games of this status.
    status: GameStatus | None
    #: Only games of this variant.
    variant: Variant | None
    #: The most rows.
    limit: int
    #: Only games with a lower id.
    before: int | None


class RegisterFields(Fields, total=False):
    """A request to register a player. Repeated with the same name and token, it shows the same player."""

    #: 8 to 256 characters.
    password: str | None
    #: The server's code, if it wants one.
    invite: str | None
    #: 1 to 256 characters, for a retry.
    token: str | None


class RekeyFields(Fields, total=False):
    """A request for a new key for the player; the operator may send its name instead of the id."""

    #: Operator: instead of player.
    name: str | None
    #: 1 to 256 characters, for a retry.
    token: str | None


class JoinFields(Fields, total=False):
    """A request to take a seat: an open one, or one that the player was invited to."""

    #: The seat to take.
    seat: Color | None


class RevokeFields(Fields, total=False):
    """The operator's request to revoke a player's key and password, and to end its sessions."""

    #: Instead of player.
    name: str | None


class PlayersFields(Fields, total=False):
    """The operator's request for a page of registered players, newest first; with here, only present ones."""

    #: Whether to list only players who are present.
    here: bool
    #: The most rows.
    limit: int
    #: Only players with a lower id.
    before: int | None


class ChallengeFields(GameFields, total=False):
    """A request to invite a registered player who is present, by name or id, to a game."""

    #: The color wanted; else it is drawn.
    color: Color | None


class SeekFields(GameFields, total=False):
    """A request for a game with any player who seeks the same game. If there is none, the player waits for one."""

    #: The color wanted; else any.
    color: Color | None


class InvitationsFields(Fields, total=False):
    """A request for a page of the invitations that wait for an answer: those sent by the player, and those to it.

    received_after and sent_after are the values from the previous page; without them, both lists start again.
    """

    #: The most rows.
    limit: int
    #: Where the page before ended.
    received_after: str | None
    #: Where the page before ended.
    sent_after: str | None


class SettingsFields(Fields, total=False):
    """A request to change the given settings of a registered player, and to show all of them.

    version is the present version of the player's bot, or the next one.
    """

    #: How many games the player takes at a time.
    max_games: int | None
    #: Whether the player wants ranked games.
    ranked: bool | None
    #: The bot's version.
    version: int | None


class PairFields(GameFields, total=False):
    """The operator's request to create a game between two registered players who are present, and to invite both."""

    #: Whether the game counts for the ratings.
    ranked: bool


class LeaderboardFields(Fields, total=False):
    """A request for a page of the leaderboard, the strongest first: limit rows after the place after."""

    #: The most rows.
    limit: int
    #: How many rows to skip.
    after: int


class BeliefFields(Fields, total=False):
    """A request for what the player may believe of the position in rbc, by all that it has observed."""

    #: The seat acted for.
    seat: Color | None
    #: How many to draw.
    samples: int
    #: Decides which samples.
    seed: int
    #: Whether to name the sense that would tell most.
    hint: bool


class Reply(TypedDict):
    """Fields that every reply has."""

    error: None
    id: NotRequired[int | str]


class HelloReply(Reply):
    """The server's version, kinds of requests and limits, and the session's player."""

    #: The highest version that both speak.
    protocol: int
    #: Name and version of the server.
    server: str
    #: The kinds the server knows.
    kinds: list[str]
    #: The session's player.
    player: int | None
    #: The server's limits.
    limits: Limits
    #: The server's bots.
    bots: NotRequired[list[ServerBot]]


class NewGameReply(Reply):
    """The new game, or the one created before with the same token."""

    #: The game.
    game_id: int
    #: The game's state.
    state: GameState
    #: The game's options.
    options: Options


class ActionsReply(Reply):
    """The UCI moves and, in rbc, the squares to sense; null if it is not the seat's turn."""

    #: Squares to sense.
    sense_actions: list[str] | None
    #: Moves to ask for, in UCI.
    move_actions: list[str] | None


class BeliefReply(Reply):
    """The positions that are possible by all that the seat has observed, each as likely as the others."""

    #: The ply_index it is of.
    ply: int
    #: Positions kept.
    count: int
    #: Whether no other is possible.
    exact: bool
    #: 12 pieces' chances on 64 squares.
    marginals: list[list[float]]
    #: Some positions, in FEN.
    samples: list[str]
    #: If asked for; null: the seat is not to sense.
    hint: NotRequired[Hint | None]


class GamesReply(Reply):
    """A page of games, and the before to send for the next page; null at the end."""

    #: The page.
    games: list[GameRow]
    #: For the next page; null: the end.
    before: int | None


class HistoryReply(Reply):
    """The full PGN with headers, and the moves in UCI. In rbc, history is the game as reconchess saves it."""

    #: The game, with headers.
    pgn: str
    #: Its moves in UCI.
    moves: list[str]
    #: rbc: reconchess's GameHistory; else null.
    history: dict[str, Any] | None


class JoinReply(Reply):
    """The seat that the player has taken, or had already, and the game.

    names is left out if no player is registered.
    """

    #: The player's seat.
    seat: Color
    #: The game's state.
    state: GameState
    #: The game's options.
    options: Options
    #: If a player is registered.
    names: NotRequired[PlayerNames]


class KeyReply(Reply):
    """A player and its key; the key is null in the reply to a repeated request if it was used already."""

    #: The player.
    player: int
    #: Its name.
    name: str
    #: The player's key; null: it has been used.
    key: str | None


class PlayerReply(Reply):
    """The player whose key was revoked."""

    #: The player.
    player: int
    #: Its name.
    name: str


class PlayersReply(Reply):
    """A page of players, and the before to send for the next page; null at the end."""

    #: The page.
    players: list[PlayerRow]
    #: For the next page; null: the end.
    before: int | None


class SeatReply(Reply):
    """The game in which the player has a seat; all fields are null while a seek waits."""

    #: The game.
    game_id: int | None
    #: The player's seat.
    seat: Color | None
    #: The game's state.
    state: GameState | None
    #: The game's options.
    options: Options | None


class InvitationsReply(Reply):
    """A page of the invitations to the player and of those that it has sent; and whether it seeks an opponent.

    received_after and sent_after are to be sent for the next page; each is left out at the end of its list.
    """

    #: Invitations to the player.
    received: list[InvitationRow]
    #: Invitations from the player.
    sent: list[InvitationRow]
    #: Whether a seek waits.
    seeking: bool
    #: For the next page; left out: the end.
    received_after: NotRequired[str]
    #: For the next page; left out: the end.
    sent_after: NotRequired[str]


class SettingsReply(Reply):
    """The settings of a registered player."""

    #: The player.
    player: int
    #: Its name.
    name: str
    #: As it is now.
    max_games: int
    #: As it is now.
    ranked: bool
    #: As it is now.
    version: int


class PairReply(Reply):
    """The game that two players were invited to; accepted has the sides that have accepted, called_off the side that
    has called it off, or null.
    """

    #: The game.
    game_id: int
    #: The seats taken so far.
    accepted: list[Color]
    #: The side that called it off.
    called_off: Color | None
    #: The game's state.
    state: GameState
    #: The game's options.
    options: Options


class LeaderboardReply(Reply):
    """A page of the leaderboard; the after to send for the next page, null at the end; and the number of games that the
    ratings are computed from.
    """

    #: The page.
    leaderboard: list[LeaderboardRow]
    #: For the next page; null: the end.
    after: int | None
    #: Games the ratings are computed from.
    games: int


class ContestReply(Reply):
    """The number of the contest, whose page is /contests/NUMBER."""

    #: Its page: /contests/ID.
    contest_id: int


class SenseReply(Reply):
    """The result of a sense; empty if nothing was sensed."""

    #: The squares sensed, and what stands there.
    sense_result: SenseResult
    #: The game's state.
    state: GameState


class StateReply(Reply):
    """The game."""

    state: GameState


class StateActionsReply(Reply):
    """The game, with the actions if requested, and with names if a player is registered."""

    state: GameState
    #: Of actions, if asked for.
    sense_actions: NotRequired[list[str] | None]
    #: Of actions, if asked for.
    move_actions: NotRequired[list[str] | None]
    #: In state, if a player is registered.
    names: NotRequired[PlayerNames]


class WaitReply(Reply):
    """The game in which the player is to act, or which is over; a state of null if no game needs the player yet."""

    #: The game's state.
    state: GameState | None
    #: In wait: the game that is due.
    game_id: NotRequired[int]
    #: Of actions, if asked for.
    sense_actions: NotRequired[list[str] | None]
    #: Of actions, if asked for.
    move_actions: NotRequired[list[str] | None]


class DeclineReply(Reply):
    """The game declined; a state of null where there was no game."""

    #: The game's state.
    state: GameState | None


class ChallengeReply(Reply):
    """The game that the opponent is invited to."""

    game_id: int
    seat: Color
    state: GameState
    options: Options


class MoveReply(Reply):
    """The game. In reconnaissance blind chess also the move requested, the move made, and the capture square."""

    #: The game's state.
    state: GameState
    #: The move as sent; null: a pass.
    requested_move: NotRequired[str | None]
    #: The move made; null: nothing moved.
    taken_move: NotRequired[str | None]
    #: Where it captured.
    capture_square: NotRequired[str | None]
    #: Of move, with claim_draw: why there is no draw.
    claim_refused: NotRequired[str]


# <<< types


class TurnsFields(Fields, total=False):
    """The fields of all requests of a loop. ``seat`` selects one seat for a player who holds both."""

    seat: Color


# --- The protocol, without I/O: what both clients share ---------------------------------------------------------------


def encode(request: dict[str, Any]) -> bytes:
    """Return a request as JSON."""
    return json.dumps(request, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def decode(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a message.

    :raises BadReply: the message is not a JSON object.
    """
    try:
        value = json.loads(body.rstrip(b"\0").decode())
    except (ValueError, RecursionError) as error:
        raise BadReply(f"a reply is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadReply(f"a reply is not a JSON object: {body[:100]!r}")
    return value


def frame(body: bytes) -> bytes:
    """Return a message with its header, the length in four bytes."""
    return len(body).to_bytes(4, "big") + body


class Frames:
    """Splits the bytes of a connection into messages."""

    def __init__(self) -> None:
        self._received = bytearray()

    @property
    def pending(self) -> int:
        """The number of received bytes that are not part of a message taken yet."""
        return len(self._received)

    def feed(self, chunk: bytes | bytearray) -> None:
        """Add received bytes, split anywhere."""
        self._received += chunk

    def take(self) -> bytes | None:
        """Remove and return the first message, or return None while it is incomplete.

        :raises BadReply: its length is out of range.
        """
        if len(self._received) < 4:
            return None
        length = int.from_bytes(self._received[:4], "big", signed=True)
        if not 0 < length <= MAX_REPLY:
            raise BadReply(
                f"a reply begins with {bytes(self._received[:4])!r}, a length of {length}, which is not between 1 and "
                f"{MAX_REPLY}: is this a gm server, and do both sides use TLS, or neither?"
            )
        if len(self._received) < 4 + length:
            return None
        body = bytes(self._received[4 : 4 + length])
        del self._received[: 4 + length]
        return body


class Asked:
    """A request and its outcome."""

    def __init__(self, kind: str, fields: dict[str, Any]) -> None:
        self.kind = kind
        self.fields = {name.removesuffix("_"): value for name, value in fields.items()}  # except_ is "except"
        if kind in MAKING and self.fields.get("token") is None:
            self.fields["token"] = os.urandom(16).hex()
        tells_ply = kind in ACTING and self.fields.get("ply") is not None
        self.repeatable = tells_ply or kind in READING or kind in MAKING
        self.body = encode({"kind": kind, **self.fields})
        self.sent = False
        self.reply: dict[str, Any] | None = None
        self.error: Exception | None = None

    @property
    def settled(self) -> bool:
        """Whether there is a reply, or an error in its place."""
        return self.reply is not None or self.error is not None

    def result(self) -> Any:
        """Return the reply, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.reply


def addresses(servers: str, port: int = DEFAULT_PORT) -> list[tuple[str, int]]:
    """Return the hosts and ports in ``HOST[:PORT],...``, with IPv6 addresses in brackets, unless it is only one host.

    :param port: the port of those without one.
    :raises ValueError: one of them is not an address.
    """
    if servers.count(":") > 1 and not re.search(r"[],[]", servers):
        return [(servers, port)]
    found = []
    for each in servers.split(","):
        parts = re.fullmatch(r"(\[[^][\s]+\]|[^][:\s]*)(?::([0-9]{1,5}))?", each)
        if not each or parts is None or not 1 <= int(parts[2] or 1) <= 65535:
            raise ValueError(f"{each!r} is not HOST:PORT, with a port from 1 to 65535")
        found.append((parts[1].strip("[]") or "127.0.0.1", int(parts[2] or port)))
    return found


class Servers:
    """The addresses of servers of which one serves: they are tried in turn, from the one that answered last."""

    def __init__(self, host: str, port: int) -> None:
        self._addresses = addresses(host, port)
        several = len(self._addresses) > 1
        #: Seconds for connecting to one of them, and for its reply to the hello.
        self.seconds = (ANSWER_SECONDS, ANSWER_SECONDS) if several else (CONNECT_SECONDS, SILENCE_SECONDS)
        #: Seconds of silence, besides the longest ``wait``, after which a server that owes a reply counts as lost.
        self.silence = ANSWER_SECONDS if several else SILENCE_SECONDS

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._addresses)

    def answered(self, address: tuple[str, int]) -> None:
        """Begin with this address the next time."""
        at = self._addresses.index(address)
        self._addresses = self._addresses[at:] + self._addresses[:at]

    @staticmethod
    def failure(errors: list[ConnectionLost | GmError]) -> ConnectionLost | GmError:
        """Return the error of an attempt that has failed at each server: a refusal, if one of them has answered."""
        refusals = [error for error in errors if isinstance(error, GmError)]
        if refusals or len(errors) == 1:
            return (refusals or errors)[-1]
        return ConnectionLost("; ".join(map(str, errors)))


def may_pass(error: Exception) -> bool:
    """Return whether a retry may overcome the error of an attempt to connect."""
    if isinstance(error, GmError):
        return error.code in PASSING or (error.code == "internal" and error.retry_after is not None)
    return isinstance(error, ConnectionLost)


class Conversation:
    """A session that outlives its connections: the unanswered requests, and the player's hello."""

    def __init__(self, greeting: HelloFields, patience: float) -> None:
        self._greeting: dict[str, Any] = {"protocol": 2, "client": f"gm_client/{VERSION}", **greeting}
        self._patience = patience
        self._unanswered: deque[Asked] = deque()  # first those already sent, then the others
        self._lost_at: float | None = None  # since when requests have had no connection
        self._attempts = 0  # to connect, since then
        self._said: dict[str, Any] = {}  # the fields of the connection's first hello
        self._introduced = True  # false where the hello was refused because of an old key
        #: The server's latest hello.
        self.hello: dict[str, Any] = {"server": None, "protocol": None, "kinds": [], "limits": {}, "player": None}

    @property
    def longest_wait(self) -> float:
        """The seconds for which the server may let a ``wait`` wait."""
        return float(self.hello["limits"].get("max_wait_seconds", 60))

    @property
    def awaits_reply(self) -> bool:
        """Whether a request that was sent on the connection is unanswered."""
        return bool(self._unanswered) and self._unanswered[0].sent

    def ask(self, kind: str, fields: dict[str, Any]) -> Asked:
        """Add a request to the queue.

        :raises GmError: the request is longer than the server accepts.
        """
        asked = Asked(kind, self._with_key(fields) if kind == "rekey" else fields)
        limit = self.hello["limits"].get("max_message")
        if limit is not None and len(asked.body) > limit:
            error = f"the request has {len(asked.body)} bytes; the server accepts at most {limit} (limits.max_message)"
            raise GmError({"error": error, "code": "bad_frame"}, kind)
        self._unanswered.append(asked)
        return asked

    def _with_key(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Add the old key to a rekey, which makes it repeatable: no hello accepts that key afterwards."""
        key, player = self._greeting.get("key"), self.hello["player"]
        if key is None or "name" in fields or fields.get("player", player) != player:
            return fields
        return {"player": player, "key": key, **fields}

    def again(self) -> Conversation:
        """Return a new conversation that begins with this one's current hello."""
        other = Conversation({}, self._patience)
        other._greeting, other.hello = self._greeting, self.hello
        return other

    def abandon(self, asked: Asked) -> None:
        """Do not send a request (again): its caller no longer waits for the reply."""
        asked.repeatable = False
        if not asked.sent and asked in self._unanswered:
            self._unanswered.remove(asked)

    def greeting(self) -> bytes:
        """Return the first message of a connection."""
        self._said = dict(self._greeting)
        return encode({"kind": "hello", **self._said})

    def greeted(self, body: bytes) -> None:
        """Take the reply to the hello.

        :raises GmError: the server refuses it.
        """
        reply = decode(body)
        self._introduced = reply.get("error") is None
        if self._introduced:
            self.hello = reply
        elif reply.get("code") != "unauthorized" or not self._rekeys():
            raise GmError(reply, "hello")

    def _rekeys(self) -> bool:
        """Return whether the reply to a rekey may have been lost: the old key then serves to repeat it."""
        return any(asked.kind == "rekey" and asked.repeatable for asked in self._unanswered)

    def unsent(self) -> list[bytes]:
        """Return the requests to send on the connection, and mark them as sent."""
        asked = [each for each in self._unanswered if not each.sent]
        for each in asked:
            each.sent = True
        return [each.body for each in asked]

    def answered(self, body: bytes) -> None:
        """Take a reply: it belongs to the oldest request.

        :raises ConnectionLost: the server is ending the session.
        """
        reply = decode(body)
        asked = self._unanswered[0] if self.awaits_reply else None
        if asked is None or reply.get("code") == "shutting_down":  # no request was carried out
            if asked is not None:
                asked.sent = False
            raise ConnectionLost(f"the server ended the session: {reply.get('error')}")
        if reply.get("code") == "internal" and reply.get("retry_after") is not None:
            # It is sent again if that is safe, as after a lost connection.
            raise ConnectionLost(f"the server cannot reach its database: {reply.get('error')}")
        if reply.get("code") == "unauthorized" and self._said != self._greeting:
            asked.sent = False
            raise ConnectionLost("the session began with a key that has been replaced")
        self._unanswered.popleft()
        self._connects()
        if reply.get("error") is not None:
            asked.error = GmError(reply, asked.kind)
        else:
            self._learn(asked, reply)
            asked.reply = reply
        if not self._introduced and asked.kind == "rekey":
            raise ConnectionLost("the session has no player")  # the next one begins with the new key

    def _learn(self, asked: Asked, reply: dict[str, Any]) -> None:
        """Use a later hello, or a later key, for the next connection."""
        if asked.kind == "hello":
            others = {name: value for name, value in asked.fields.items() if name != "id"}
            self._greeting = {"protocol": 2, "client": self._greeting["client"], **others}
            self._said, self.hello = dict(self._greeting), reply
        elif asked.kind == "rekey" and reply.get("player") == self.hello["player"] and reply.get("key") is not None:
            self._greeting["key"] = reply["key"]  # shared with the conversations made by again()
            self._greeting.pop("password", None)

    def lost(self, error: Exception) -> None:
        """Handle the loss of the connection: fail requests that might be carried out twice, and requeue the others."""
        if isinstance(error, BadReply):
            return self.refuse(error)
        doubtful = [asked for asked in self._unanswered if asked.sent and not asked.repeatable]
        self._unanswered = deque(asked for asked in self._unanswered if asked not in doubtful)
        for asked in self._unanswered:
            asked.sent = False
        for asked in doubtful:
            asked.error = _in_doubt(asked.kind, error)
        return None

    def refuse(self, error: Exception) -> None:
        """Fail all unanswered requests."""
        self._connects()
        for asked in self._unanswered:
            asked.error = error
        self._unanswered.clear()

    def pause(self, error: Exception | None, now: float) -> float | None:
        """Return the seconds before the next attempt to connect; None if it is hopeless, after failing all requests.

        :param error: the error of the last connection or attempt; None if nothing has failed.
        :param now: the time in seconds, on a monotonic clock.
        """
        if error is None:
            self._connects()
        self._lost_at = now if self._lost_at is None else self._lost_at
        seconds = 0.0
        if self._attempts:
            seconds = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._attempts - 1, 10)) * random.uniform(0.5, 1)
        self._attempts += 1
        if isinstance(error, GmError):
            seconds = max(seconds, error.retry_after or 0.0)
        if error is not None and (not may_pass(error) or now + seconds > self._lost_at + self._patience):
            self.refuse(error)
            return None
        return seconds

    def _connects(self) -> None:
        """Reset the count of attempts: a reply has come, the requests have failed, or nothing has."""
        self._lost_at, self._attempts = None, 0


def _in_doubt(kind: str, cause: Exception) -> ConnectionLost:
    how = '; with "ply" the client would have retried it' if kind in ACTING else ""
    message = f"the connection was lost, and it is not known whether this {kind} was carried out{how}"
    error = ConnectionLost(message, sent=True)
    error.__cause__ = cause
    return error


class Session:
    """What both clients know about the server from its latest hello."""

    _conversation: Conversation

    @property
    def server(self) -> str | None:
        """The server's name and version."""
        server: str | None = self._conversation.hello["server"]
        return server

    @property
    def protocol(self) -> int | None:
        """The protocol version of the session."""
        protocol: int | None = self._conversation.hello["protocol"]
        return protocol

    @property
    def kinds(self) -> list[str]:
        """The kinds that the server knows."""
        kinds: list[str] = self._conversation.hello["kinds"]
        return kinds

    @property
    def limits(self) -> dict[str, float]:
        """The server's limits, by name."""
        limits: dict[str, float] = self._conversation.hello["limits"]
        return limits

    @property
    def bots(self) -> list[ServerBot]:
        """The server's own bots, who play whoever invites them."""
        bots: list[ServerBot] = self._conversation.hello.get("bots", [])
        return bots

    @property
    def player(self) -> int | None:
        """The default player of requests."""
        player: int | None = self._conversation.hello["player"]
        return player


class Following:
    """The requests of a loop of turns, and the games that it has seen end.

    The end of a game may be seen in the reply to an action, to a wait, or to both. A wait for any game does not report
    an end again that the reply to an action has shown.

    Every wait for any game reports an invitation until it is answered, before all later turns. So an unwanted
    invitation is excluded from the waits that follow.
    """

    def __init__(
        self,
        game_id: int | None,
        over: Callable[[GameState], object] | None,
        invited: Callable[[GameState], object] | None,
        games: int | None,
        fields: TurnsFields,
    ) -> None:
        self.game_id, self._games = game_id, games
        self.seat: dict[str, Any] = dict(fields)
        self.player: dict[str, Any] = {name: fields[name] for name in ("player", "key") if name in fields}
        which = {"any": True} if game_id is None else {"game_id": game_id}
        self._wait: dict[str, Any] = {**which, **fields, "actions": True}
        self._over, self._invited = over, invited
        self._ended: set[int] = set()
        self._declined: list[int] = []
        #: An invitation to decline: the server cannot exclude more than are excluded already.
        self.unwanted: int | None = None
        #: The last state of the game that has ended last.
        self.last: GameState | None = None
        #: Whether the next move offers a draw.
        self.offers_draw = False

    @property
    def wait(self) -> dict[str, Any]:
        """The fields of the next wait."""
        return {**self._wait, "except": list(self._declined)} if self._declined else self._wait

    def takes_up(self, reply: WaitReply) -> int | None:
        """Return the game of an invitation in a reply, if the player is to join it."""
        state = reply["state"]
        if self.game_id is not None or state is None or state["phase"] != "open":
            return None
        if state["game_id"] in self._declined:  # this wait was sent before
            return None
        if self._invited is None or self._invited(state):
            return state["game_id"]
        if len(self._declined) == MAX_DECLINED:
            self.unwanted = state["game_id"]
        else:
            self._declined.append(state["game_id"])
        return None

    def see(self, state: GameState | None) -> None:
        """Report the end of a game, once."""
        if state is None or state["phase"] != "over" or state["game_id"] in self._ended:
            return
        self._ended.add(state["game_id"])
        self.last = state
        if self._over is not None:
            self._over(state)

    def is_over(self) -> bool:
        """Return whether the loop has seen the end of its game, or of as many games as it was to see."""
        return self.game_id in self._ended or (self._games is not None and len(self._ended) >= self._games)


#: A square sensed, and its piece. ``gm_client.trio_client`` and ``gm_client.chess_client`` have python-chess's here.
Sensed = list[tuple[str, Piece | None]]
#: A move in UCI, or where all is shown in SAN, too. There it may also be python-chess's.
AnyMove = str


def read_sense(result: SenseResult) -> Sensed:
    """Return a sense result as :meth:`Turn.sense` does: as the server sent it."""
    return result


def written(move: AnyMove | None) -> str | None:
    """Return a move as the server reads it."""
    return move


class TurnView:
    """The data of a turn.

    :ivar state: the latest state that the player has seen.
    :ivar sense_actions: the squares that the player may sense; empty if there is no sense in this turn, or after it.
    :ivar move_actions: the moves that the player may make, in UCI.
    :ivar reply: the whole reply to the turn's latest action; empty before.
    """

    def __init__(self, reply: WaitReply) -> None:
        assert reply["state"] is not None
        self.reply: dict[str, Any] = {}
        self.state: GameState = reply["state"]
        self.sense_actions: list[str] = reply.get("sense_actions") or []
        self.move_actions: list[str] = reply.get("move_actions") or []
        self._ply, self._color = self.state["ply_index"], self.state["turn"]  # a move changes the state

    @property
    def game_id(self) -> int:
        """The game of the turn."""
        return self.state["game_id"]

    @property
    def ply(self) -> int:
        """The turn's ``ply_index``."""
        return self._ply

    @property
    def color(self) -> Color:
        """The player's colour."""
        return self._color


# --- Blocking I/O -----------------------------------------------------------------------------------------------------


class Connection:
    """A connection that carries messages, whatever they contain."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._frames = Frames()

    @classmethod
    def open(
        cls,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        path: str | None = None,
        tls: bool | ssl.SSLContext = False,
        patience: float = CONNECT_SECONDS,
    ) -> Self:
        """Connect within ``patience`` seconds.

        :raises ConnectionLost: no connection can be made.
        """
        try:
            return cls(_connected(host, port, path, tls, patience))
        except (OSError, UnicodeError) as error:  # ssl.SSLError is one
            raise ConnectionLost(f"cannot connect to {path or f'{host}:{port}'}: {_reason(error)}") from error

    def send(self, *bodies: bytes) -> None:
        """Send messages in one write."""
        try:
            self._socket.settimeout(SILENCE_SECONDS)
            self._socket.sendall(b"".join(map(frame, bodies)))
        except OSError as error:
            raise ConnectionLost(f"the connection was lost: {_reason(error)}") from error

    def receive(self, patience: float) -> bytes:
        """Return the next message. ``patience`` limits the seconds between two pieces of it.

        :raises ConnectionLost: nothing came in time, or the connection ended.
        :raises BadReply: the data is not a message.
        """
        while (body := self._frames.take()) is None:
            try:
                self._socket.settimeout(patience)
                chunk = self._socket.recv(1 << 16)
            except TimeoutError as error:
                raise ConnectionLost("the server did not answer in time") from error
            except OSError as error:
                raise ConnectionLost(f"the connection was lost: {_reason(error)}") from error
            if not chunk:
                raise ConnectionLost("the server closed the connection")
            self._frames.feed(chunk)
        return body

    def is_over(self) -> bool:
        """Return whether the server has closed the connection, or has sent data while no reply was pending."""
        try:
            self._socket.settimeout(0)
            return self._frames.pending > 0 or self._socket.recv(1) is not None
        except BlockingIOError:
            return False
        except OSError as error:
            return type(error).__name__ != "SSLWantReadError"  # by name, since ssl may not be loaded

    def close(self) -> None:
        """Close the connection at once."""
        with contextlib.suppress(OSError):
            self._socket.close()


def _connected(host: str, port: int, path: str | None, tls: bool | ssl.SSLContext, patience: float) -> socket.socket:
    if path is not None:
        connected = socket.socket(socket.AF_UNIX)
        connected.settimeout(patience)
        try:
            connected.connect(path)
        except BaseException:
            connected.close()
            raise
        return connected
    connected = socket.create_connection((host, port), patience)
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(connected.setsockopt)
        return tls_context(tls).wrap_socket(connected, server_hostname=host) if tls else connected
    except BaseException:
        connected.close()
        raise


def keep_alive(set_option: Callable[[int, int, int], None]) -> None:
    """Have the system notice that the other machine is gone, by a socket's ``setsockopt``."""
    set_option(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            with contextlib.suppress(OSError):  # an older system than Python was built for
                set_option(socket.IPPROTO_TCP, getattr(socket, name), value)


def tls_context(tls: bool | ssl.SSLContext) -> ssl.SSLContext:
    """Return the given context, or one that trusts the system's certificates."""
    import ssl  # takes as long to import as all else

    return tls if isinstance(tls, ssl.SSLContext) else ssl.create_default_context()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or "no answer in time"


class BlockingSession(Session):
    """A session over changing connections. Use it from one thread at a time; several threads need a client each."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        path: str | None = None,
        tls: bool | ssl.SSLContext = False,
        patience: float = PATIENCE_SECONDS,
        **hello: Unpack[HelloFields],
    ) -> None:
        """Take the arguments of :func:`connect`; connect with the first request."""
        self._servers, self._path, self._tls = Servers(host, port), path, tls_context(tls) if tls else False
        self._conversation = Conversation(hello, patience)
        self._connection: Connection | None = None
        self._why: Exception | None = None  # why there is no connection
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Connect, in one attempt at each server. Calling this is optional: a request connects.

        :raises ConnectionLost: the server cannot be reached.
        :raises GmError: the server refuses the hello.
        """
        if self._closed:
            raise ConnectionLost("the client was closed")
        if self._connection is not None:
            return
        connecting, answering = self._servers.seconds
        errors: list[ConnectionLost | GmError] = []
        for address in self._servers:
            try:
                opened = Connection.open(*address, self._path, self._tls, connecting)
                self._connection = self._greeted(opened, answering)
                self._servers.answered(address)
                return
            except (ConnectionLost, GmError) as error:
                errors.append(error)
                if not may_pass(error):
                    break
        raise self._servers.failure(errors)

    def _greeted(self, connection: Connection, patience: float) -> Connection:
        """Say hello on a connection, and return it once the reply has come, within ``patience`` seconds."""
        try:
            connection.send(self._conversation.greeting())
            self._conversation.greeted(connection.receive(patience))
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """End the session."""
        self._closed = True
        self._drop(ConnectionLost("the client was closed"))

    def request(self, kind: str, **fields: Any) -> Any:
        """Send a request of any kind, also one without a method here, and return the reply.

        :raises GmError: the server refuses it.
        :raises ConnectionLost: there is no connection.
        """
        return self._result(self._ask(kind, **fields))

    def _ask(self, kind: str, **fields: Any) -> Asked:
        """Queue a request; it is sent together with the next one whose reply is awaited."""
        if self._closed:
            raise ConnectionLost("the client was closed")
        return self._conversation.ask(kind, fields)

    def _result(self, asked: Asked) -> Any:
        """Return the reply to a request, after those to earlier requests."""
        try:
            while not asked.settled:
                self._step()
        except BaseException:  # such as a KeyboardInterrupt
            self._conversation.abandon(asked)
            raise
        return asked.result()

    def _step(self) -> None:
        """Receive one reply, or do what is needed before: connect and send."""
        try:
            if self._connection is None:
                self._connect_again()
            else:
                self._send(self._connection)
                self._conversation.answered(
                    self._connection.receive(self._conversation.longest_wait + self._servers.silence)
                )
        except (ConnectionLost, BadReply) as error:
            self._drop(error)

    def _send(self, connection: Connection) -> None:
        if not self._conversation.awaits_reply and connection.is_over():
            raise ConnectionLost("the server closed the connection")
        bodies = self._conversation.unsent()
        if not bodies:
            return
        try:
            connection.send(*bodies)
        except BaseException as error:  # part of it may have been sent
            self._drop(error if isinstance(error, ConnectionLost) else ConnectionLost("the client was interrupted"))
            raise

    def _drop(self, error: Exception) -> None:
        """Close the connection because of an error."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._conversation.lost(error)
        self._why = error

    def _connect_again(self) -> None:
        pause = self._conversation.pause(self._why, time.monotonic())
        if pause is None:
            self._why = None  # the next request tries again
            return
        time.sleep(pause)
        try:
            self.open()
        except (ConnectionLost, GmError, BadReply) as error:
            self._why = error

    def _loop(self) -> Self:
        """Return the session for a loop of turns: this one, since nothing else is requested while it waits."""
        return self

    def _leave(self) -> None:
        """Do nothing: a loop has no session of its own to close."""

    def _abandon(self) -> None:
        """Do nothing, as above."""


# --- The client -------------------------------------------------------------------------------------------------------

# >>> client: generated from trio_client.py; change that file and run `python -m clients.generate`.


def connect(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    path: str | None = None,
    tls: bool | ssl.SSLContext = False,
    patience: float = PATIENCE_SECONDS,
    **hello: Unpack[HelloFields],
) -> Client:
    """Connect and say hello, in one attempt at each server.

    Later losses of the connection are repaired: the client reconnects for up to ``patience`` seconds, and sends
    unanswered requests again. Only a request that might then be carried out twice fails, with a
    :class:`ConnectionLost` that was ``sent``: a ``move``, ``sense`` or ``end_game`` without ``ply``.

    :param host: a server; or several of which one serves, as in ``"a:7100,[::1]:7101,c"``. They are tried in turn, from
        the one that answered last; one that does not answer the hello in five seconds is left for the next.
    :param port: the port of servers without one.
    :param path: a Unix socket, instead of host and port.
    :param tls: True to trust the system's certificates, or a context.
    :param hello: the default ``player`` of all requests, with its ``key`` if it is registered.
    :raises ConnectionLost: the server cannot be reached.
    :raises GmError: the server refuses the hello.
    """
    client = Client(host, port, path=path, tls=tls, patience=patience, **hello)
    client.open()
    return client


class Client(BlockingSession):
    """A session. Every kind of message is a method of the same name; it returns the reply or raises :class:`GmError`.

    Ids are integers, whatever their size.
    """

    def _call(self, reply: type[R], kind: str, **fields: Any) -> R:
        """Send a request of a kind.

        :param reply: the type of the reply.
        """
        result: R = self.request(kind, **fields)
        return result

    def hello(self, **fields: Unpack[HelloFields]) -> HelloReply:
        """Change the default player of the requests and connections that follow."""
        return self._call(HelloReply, "hello", **fields)

    def ping(self, **fields: Unpack[Fields]) -> Reply:
        """Check that the server answers."""
        return self._call(Reply, "ping", **fields)

    def new_game(
        self, player_white: int | None, player_black: int | None, **fields: Unpack[NewGameFields]
    ) -> NewGameReply:
        """Begin a game; a seat that is None is open to any player."""
        seats = {"player_white": player_white, "player_black": player_black}
        return self._call(NewGameReply, "new_game", **seats, **fields)

    def game_from_pgn(
        self, player_white: int | None, player_black: int | None, **fields: Unpack[GameFromPgnFields]
    ) -> NewGameReply:
        """Begin a game from the end of the main line of ``pgn``."""
        seats = {"player_white": player_white, "player_black": player_black}
        return self._call(NewGameReply, "game_from_pgn", **seats, **fields)

    def move(self, game_id: int, move: str | None, **fields: Unpack[MoveFields]) -> MoveReply:
        """Move, in SAN or UCI; in reconnaissance blind chess in UCI, or None to pass."""
        return self._call(MoveReply, "move", game_id=game_id, move=move, **fields)

    def sense(self, game_id: int, square: Square | None, **fields: Unpack[SenseFields]) -> SenseReply:
        """Sense around a square, or None to sense nothing."""
        return self._call(SenseReply, "sense", game_id=game_id, square=square, **fields)

    def end_game(self, game_id: int, termination: str, **fields: Unpack[EndGameFields]) -> StateReply:
        """Resign, claim a draw, or agree to one."""
        return self._call(StateReply, "end_game", game_id=game_id, termination=termination, **fields)

    def state(self, game_id: int, **fields: Unpack[StateFields]) -> StateActionsReply:
        """Return the game as the player may see it."""
        return self._call(StateActionsReply, "state", game_id=game_id, **fields)

    def wait(self, game_id: int | None = None, **fields: Unpack[WaitFields]) -> WaitReply:
        """Wait until the player is to act in the game, or in any of its games, or until a game is over."""
        which = {} if game_id is None else {"game_id": game_id}
        return self._call(WaitReply, "wait", **which, **fields)

    def actions(self, game_id: int, **fields: Unpack[ActionsFields]) -> ActionsReply:
        """Return the actions that are open to the player now."""
        return self._call(ActionsReply, "actions", game_id=game_id, **fields)

    def games(self, **fields: Unpack[GamesFields]) -> GamesReply:
        """Return a page of games, newest first."""
        return self._call(GamesReply, "games", **fields)

    def history(self, game_id: int, **fields: Unpack[Fields]) -> HistoryReply:
        """Return the whole game."""
        return self._call(HistoryReply, "history", game_id=game_id, **fields)

    def belief(self, game_id: int, **fields: Unpack[BeliefFields]) -> BeliefReply:
        """Return what the player may know of the position of a game of rbc, by all that it has observed."""
        return self._call(BeliefReply, "belief", game_id=game_id, **fields)

    def register(self, name: str, **fields: Unpack[RegisterFields]) -> KeyReply:
        """Register a player. Store the key: it is shown only once."""
        return self._call(KeyReply, "register", name=name, **fields)

    def rekey(self, **fields: Unpack[RekeyFields]) -> KeyReply:
        """Get another key for a registered player, which replaces its present one.

        The client and its loops of turns go on with a key of their own player.
        """
        return self._call(KeyReply, "rekey", **fields)

    def join(self, game_id: int, **fields: Unpack[JoinFields]) -> JoinReply:
        """Take the seat that the player was invited to, or an open one."""
        return self._call(JoinReply, "join", game_id=game_id, **fields)

    def challenge(self, opponent: str | int, **fields: Unpack[ChallengeFields]) -> ChallengeReply:
        """Invite a registered player who is present, by name or id, to a game in which one's own seat is taken."""
        return self._call(ChallengeReply, "challenge", opponent=opponent, **fields)

    def seek(self, **fields: Unpack[SeekFields]) -> SeatReply:
        """Get a game with another player who seeks one like it, or wait to be found while this connection lasts."""
        return self._call(SeatReply, "seek", **fields)

    def invitations(self, **fields: Unpack[InvitationsFields]) -> InvitationsReply:
        """Return a page of the invitations that are not answered."""
        return self._call(InvitationsReply, "invitations", **fields)

    def accept(self, game_id: int, **fields: Unpack[Fields]) -> JoinReply:
        """Take the seat that the player was invited to."""
        return self._call(JoinReply, "accept", game_id=game_id, **fields)

    def decline(self, game_id: int | None = None, **fields: Unpack[Fields]) -> DeclineReply:
        """Call off a game that has not begun; without a game, stop seeking."""
        which = {} if game_id is None else {"game_id": game_id}
        return self._call(DeclineReply, "decline", **which, **fields)

    def settings(self, **fields: Unpack[SettingsFields]) -> SettingsReply:
        """Set the given fields, and return the player's settings."""
        return self._call(SettingsReply, "settings", **fields)

    def leaderboard(self, **fields: Unpack[LeaderboardFields]) -> LeaderboardReply:
        """Return a page of the ratings from ranked games, the strongest first."""
        return self._call(LeaderboardReply, "leaderboard", **fields)

    def contest(self, token: str, report: ContestReport, **fields: Unpack[Fields]) -> ContestReply:
        """Report how a match or a tournament stands, under a token of its own; it begins with the first report."""
        return self._call(ContestReply, "contest", token=token, report=report, **fields)

    def revoke(self, **fields: Unpack[RevokeFields]) -> PlayerReply:
        """Revoke a player's key. For the operator only."""
        return self._call(PlayerReply, "revoke", **fields)

    def players(self, **fields: Unpack[PlayersFields]) -> PlayersReply:
        """Return a page of registered players. For the operator only."""
        return self._call(PlayersReply, "players", **fields)

    def pair(self, white: str | int, black: str | int, **fields: Unpack[PairFields]) -> PairReply:
        """Invite two registered players who are present, by name or id, to a game. For the operator only."""
        return self._call(PairReply, "pair", white=white, black=black, **fields)

    def game(self, game_id: int, **fields: Unpack[TurnsFields]) -> Game:
        """Return a game of the player's, without asking the server about it.

        :param fields: of all its requests, such as ``seat`` for a player who holds both.
        """
        return Game(self, game_id, fields)

    def turns(
        self,
        game_id: int | None = None,
        *,
        games: int | None = None,
        over: Callable[[GameState], object] | None = None,
        invited: Callable[[GameState], object] | None = None,
        **fields: Unpack[TurnsFields],
    ) -> Turns:
        """Iterate over the player's turns in a game until it is over; without ``game_id``, in all its games for ever.

        It waits between turns, and includes games that begin later. A turn without an action comes again. What
        ``turn.sense`` returns depends on python-chess: by ``gm_client.connect`` its squares and pieces where it is
        installed, else the server's names, as always in the module ``blocking``.

        :param games: without ``game_id``, ends the loop when so many games have ended.
        :param over: called once with the last state of each game that has ended.
        :param invited: without ``game_id``, called with the state of each game that the player is invited to, which it
            joins if the result is true. Without this argument it joins all. The first hundred invitations that it does
            not join remain open, and may be accepted later; any further ones are declined, which ends them.
        """
        return Turns(self, Following(game_id, over, invited, games, fields))


class Game:
    """A game of the client's player, from :meth:`Client.game`. Each of its attributes asks the server.

    :ivar game_id: its number.
    """

    def __init__(self, client: Client, game_id: int, fields: TurnsFields) -> None:
        self._client, self.game_id = client, game_id
        self._following = Following(game_id, None, None, None, fields)

    @property
    def state(self) -> GameState:
        """The game as the player may see it."""
        return (self._client.state(self.game_id, **self._following.seat))["state"]

    @property
    def moves(self) -> list[str]:
        """The moves so far, in UCI; of a game with hidden information once it is over."""
        return (self._client.history(self.game_id, **self._following.player))["moves"]

    @property
    def result(self) -> str:
        """The result: ``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` while the game goes on."""
        return (self.state)["result"]

    def turns(self) -> Turns:
        """Iterate over the player's turns in the game until it is over."""
        return Turns(self._client, self._following)

    def resign(self) -> GameState:
        """Resign, in either player's turn, and return the last state."""
        seat = self._following.seat.get("seat") or self._own_seat()
        return (self._client.end_game(self.game_id, f"resignation_{seat}", **self._following.seat))["state"]

    def _own_seat(self) -> Color:
        state, player = self.state, self._following.player.get("player", self._client.player)
        if state["player_white"] == player == state["player_black"]:
            return state["turn"]
        return "white" if state["player_white"] == player else "black"

    def offer_draw(self) -> None:
        """Accept a draw that the opponent has offered; else offer one with the next move of :meth:`turns`."""
        state = self.state
        if state["draw_offered"]:
            self._client.end_game(self.game_id, "draw_agreed", ply=state["ply_index"], **self._following.seat)
        else:
            self._following.offers_draw = True


class Turns(Iterator["Turn"]):
    """The iterator of :meth:`Client.turns`.

    It closes what it has opened when it ends, when its ``with`` block does, when nothing refers to it any more,
    as after the ``break`` of a plain loop, and with its client.
    """

    _ended = True  # until it has a session

    def __init__(self, client: Client, following: Following) -> None:
        self._client, self._session = client, client._loop()
        self._following = following
        self._waits: deque[Asked] = deque()  # the last one reports the next turn, those before it only ends of games
        self._ended = False

    def __del__(self) -> None:
        if not self._ended:
            self._session._abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> GameState | None:
        """The last state of the game that has ended, of several the last one; None before."""
        return self._following.last

    @property
    def result(self) -> str | None:
        """The result of that game: ``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` if it was called off; None before."""
        return None if self.state is None else self.state["result"]

    def __next__(self) -> Turn:
        while not self._ended:
            if self._following.is_over():
                self.close()
                break
            reply = self._next_reply()
            if self._following.is_over():
                continue
            if (invitation := self._following.takes_up(reply)) is not None:
                self._join(invitation)
            elif self._following.unwanted is not None:
                self._decline(self._following.unwanted)
            elif reply["state"] is not None and reply.get("move_actions") is not None:
                return Turn(self, reply)
        raise StopIteration

    def close(self) -> None:
        """End the loop."""
        self._ended = True
        self._session._leave()

    def _join(self, game_id: int) -> None:
        try:
            self._session.join(game_id, **self._following.seat)
        except GmError as error:
            if error.code not in GIVEN_UP:
                raise

    def _decline(self, game_id: int) -> None:
        self._following.unwanted = None
        try:
            self._session.decline(game_id, **self._following.player)
        except GmError as error:
            if error.code not in GIVEN_UP:
                raise

    def _next_reply(self) -> WaitReply:
        if not self._waits:
            self._wait_for_next()
        while self._waits:
            reply: WaitReply = self._session._result(self._waits.popleft())
            self._following.see(reply["state"])
        return reply

    def _wait_for_next(self) -> None:
        self._waits.append(self._session._ask("wait", **self._following.wait))


class Turn(TurnView):
    """One turn of the player. Its actions are safe to send again, and the client does so after a lost connection.

    They are possible after the loop has been left, too.

    If the game has ended while the bot was thinking (the opponent resigned, the time ran out), an action is not an
    error: it does nothing, and its reply has the last state.
    """

    def __init__(self, turns: Turns, reply: WaitReply) -> None:
        super().__init__(reply)
        self._client, self._following = turns._client, turns._following
        self._turns = weakref.ref(turns)  # so that leaving the loop ends it while the turn is still in use

    def sense(self, square: Square | None) -> Sensed:
        """Sense around a square, or None to sense nothing; return the squares seen, each with its piece or None.

        :attr:`reply` has the whole reply, with the result as the server sent it.
        """
        reply = self._act("sense", square=square)
        self.sense_actions = []
        self.reply = {"sense_result": [], **reply}
        return read_sense(self.reply["sense_result"])

    def move(self, move: AnyMove | None, *, offer_draw: bool = False, claim_draw: bool = False) -> MoveReply:
        """Move, or None to pass; this ends the turn. Outside of blind chess ``taken_move`` is None."""
        drawn = {"offer_draw": offer_draw or self._following.offers_draw, "claim_draw": claim_draw}
        wanted, text = {name: True for name, asked in drawn.items() if asked}, written(move)
        reply = self._act("move", move=text, **wanted)
        self._following.offers_draw = False
        self.reply = {"requested_move": text, "taken_move": None, "capture_square": None, **reply}
        return self.reply  # type: ignore[return-value]

    def end_game(self, termination: str) -> StateReply:
        """Claim a draw, or agree to one."""
        return self._act("end_game", termination=termination)  # type: ignore[return-value]

    def resign(self) -> StateReply:
        """Resign the game."""
        return self.end_game(f"resignation_{self.color}")

    def _act(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the reply to an action; it is made in the client's own session if the loop has ended."""
        turns, seat = self._turns(), self._following.seat
        turns = None if turns is None or turns._ended else turns
        session = self._client if turns is None else turns._session
        asked = session._ask(kind, game_id=self.game_id, **seat, **fields, ply=self.ply)
        if kind == "move" and turns is not None:
            turns._wait_for_next()  # sent in one write with the move
        try:
            reply: dict[str, Any] = session._result(asked)
        except GmError as error:
            if error.code != "game_over":
                raise
            reply = session.request("state", game_id=self.game_id, **seat)
        self.state, self.reply = reply["state"], reply
        self._following.see(self.state)
        return reply


# <<< client
