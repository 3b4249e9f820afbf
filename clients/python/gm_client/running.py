"""A player (:class:`gm_recon.Player`) in a game on a server: :func:`run`."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, Unpack

import chess
from chess import STARTING_FEN, Board, Move, Piece, Square

import gm_recon
from gm_recon import History, Player, read_json
from gm_recon.player import check_players, checked_move, checked_sense, play_turn, tell_end

from .blocking import (
    DEFAULT_PORT,
    PATIENCE_SECONDS,
    Clock,
    Color,
    ConnectionLost,
    GameState,
    GmError,
    HelloFields,
    MoveReply,
    PlayerNames,
)
from .chess_client import Client, Turn, connect
from .chess_turns import read_move, read_square

if TYPE_CHECKING:
    import ssl

#: The protocol's defaults for a game of RBC.
CLOCK, REVERSIBLE_MOVES = "900+5", 100

_COLORS: tuple[Color, Color] = ("black", "white")


class _Terms(TypedDict):
    """The terms of a new game, as the fields of a request."""

    variant: Literal["rbc"]
    clock: str | Clock | None
    fen: str
    reversible_moves: int | None
    max_turns: int | None


_PLAIN = _Terms(variant="rbc", clock=CLOCK, fen=STARTING_FEN, reversible_moves=REVERSIBLE_MOVES, max_turns=None)

_log = logging.getLogger(__name__)
#: Seconds for which a wait for another player is not reported.
SILENT_SECONDS = 3.0


def run(
    bot: gm_recon.Player,
    /,
    game_id: int | None = None,
    *,
    opponent: int | str | None = None,
    color: Color | None = None,
    clock: str | Clock | None = CLOCK,
    fen: str = STARTING_FEN,
    reversible_moves: int | None = REVERSIBLE_MOVES,
    max_turns: int | None = None,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    path: str | None = None,
    tls: bool | ssl.SSLContext = False,
    patience: float = PATIENCE_SECONDS,
    **hello: Unpack[HelloFields],
) -> History:
    """Connect to a server, let a player play a game there from beginning to end, and return the game's record. ::

        run(MyBot(), opponent="random", player=1)

    All of the player's methods are called in this thread, as by :func:`gm_recon.play_local`. The connection is repaired
    as :func:`gm_client.connect` says, and the player does not notice. If the player raises an exception, or is
    interrupted, it has resigned its game when the exception is passed on. A long wait for an opponent is logged as a
    warning, which Python prints to standard error if the program does not configure ``logging``.

    :param game_id: the game, in which the client's player has a seat, is invited to one, or takes an open one. Without
        it and without ``opponent`` it is the next one that waits for the player at its beginning, or invites it; a
        registered player is then invited to one game at a time from now on (``max_games`` of ``settings``).
    :param opponent: makes a new game: the id of the other player, or the name of one of the server's bots or of a
        registered player who is present.
    :param color: the player's colour; by default White in a new game, and else that of its seat.
    :param clock: of a new game: ``"60+2"``, or the fields of the protocol's clock; None for none. This and the next
        three are the protocol's, and need ``opponent``.
    :param fen: the start position of a new game.
    :param reversible_moves: a new game is drawn after so many half-moves without a capture or a pawn's move; None for
        no such limit.
    :param max_turns: a new game is drawn after so many turns of each side.
    :param hello: the client: ``player``, a number of your choice; or ``name`` and ``key`` of a registered player. The
        other arguments are as in :func:`gm_client.connect`.
    :raises ValueError: no player is given; no opponent has that name; the game is not of RBC, has begun, is over, or
        has no seat for the player; ``opponent`` is given with ``game_id``, or missing with terms of a new game; or an
        action of the player is not allowed.
    :raises TypeError: the player is a class.
    :raises GmError: the server refuses a request.
    :raises ConnectionLost: the server cannot be reached.
    """
    check_players(bot)
    if game_id is not None and opponent is not None:
        raise ValueError("opponent: leave it out, since game_id names a game that exists")
    terms = _Terms(variant="rbc", clock=clock, fen=fen, reversible_moves=reversible_moves, max_turns=max_turns)
    if opponent is None and (own := [name for name in terms if terms[name] != _PLAIN[name]]):  # type: ignore[literal-required]
        raise ValueError(f"{own[0]}: leave it out, or name an opponent for a new game")
    if not isinstance(hello.get("player"), int) and hello.get("name") is None:
        raise ValueError("player: give a number as player=, or name= and key= of a registered player")
    with connect(host, port, path=path, tls=tls, patience=patience, **hello) as client:
        if opponent is not None:
            game_id = _new_game(client, opponent, color or "white", terms)
        elif game_id is None:
            if hello.get("key") or hello.get("password"):
                _take_one_at_a_time(client)
            game_id = _next_game(client, color)
        return _play(client, bot, game_id, color)


def _new_game(client: Client, opponent: int | str, color: Color, terms: _Terms) -> int:
    if isinstance(opponent, str):
        bots = {bot["name"]: bot["player"] for bot in client.bots}
        if opponent not in bots:
            return _challenge(client, opponent, color, terms, bots)
        opponent = bots[opponent]
    white, black = (client.player, opponent) if color == "white" else (opponent, client.player)
    return client.new_game(white, black, brief=True, **terms)["game_id"]


def _challenge(client: Client, opponent: str, color: Color, terms: _Terms, bots: Iterable[str]) -> int:
    try:
        return client.challenge(opponent, color=color, brief=True, **terms)["game_id"]
    except GmError as error:
        if str(error).startswith(tuple(f"{name}:" for name in terms)):
            raise
        known = f"no bot of the server ({', '.join(bots) or 'it has none'}), nor a player to invite"
        raise ValueError(f"opponent: {opponent!r} is {known}: {error}") from error


def _take_one_at_a_time(client: Client) -> None:
    """Have a registered player invited to one game at a time: further invitations would lapse during this one."""
    if client.settings()["max_games"] != 1:
        client.settings(max_games=1)


def _next_game(client: Client, color: Color | None) -> int:
    """Return the next game that can be played from its beginning; others, as of an earlier run, are passed over."""
    others: list[int] = []
    with _reported(f"player {client.player}: waiting for a game"):
        while True:
            state = client.wait(any=True, brief=True, except_=others)["state"]
            if state is None:  # the server stops, or its longest wait is over
                continue
            try:
                _seat(client, state, color)
            except ValueError:
                others.append(state["game_id"])
            else:
                return state["game_id"]


def _play(client: Client, bot: Player, game_id: int, color: Color | None) -> History:
    shown = client.state(game_id, player=None, brief=True)  # seen by nobody: no clock starts
    seat = _seat(client, shown["state"], color)
    names = shown.get("names", PlayerNames(white=None, black=None))
    other: Color = "black" if seat == "white" else "white"
    opponent = shown["state"]["player_black" if seat == "white" else "player_white"]
    try:
        bot.handle_game_start(seat == "white", Board(shown["state"]["start_fen"]), names[other] or str(opponent))
        client.join(game_id, seat=seat, brief=True)
        turns = client.turns(game_id, seat=seat, brief=True)
        for turn in _reporting(turns, f"game {game_id}: waiting for player {names[other] or opponent}"):
            game = ServerTurn(turn)
            play_turn(game, bot, game.seconds_left)
    except BaseException:  # of the player, or Ctrl-C: nobody goes on with the game
        with suppress(GmError, ConnectionLost):  # it is over, or cannot be reached
            client.end_game(game_id, f"resignation_{seat}", seat=seat)
        raise
    history = read_json(json.dumps(client.history(game_id)["history"])).history
    tell_end(bot, history, names["white"], names["black"])
    return history


def _reporting(turns: Iterator[Turn], waiting: str) -> Iterator[Turn]:
    """Yield turns. The first two are waited for until the opponent comes, and all later ones while it thinks."""
    for _ in range(2):
        with _reported(waiting):
            turn = next(turns, None)
        if turn is None:
            return
        yield turn
    yield from turns


@contextmanager
def _reported(waiting: str) -> Iterator[None]:
    """Log what is waited for inside this block, if that is long."""
    timer = Timer(SILENT_SECONDS, _log.warning, [waiting])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _seat(client: Client, state: GameState, color: Color | None) -> Color:
    """Return the seat to play.

    :raises ValueError: there is none, or more than one, or it cannot be played from its beginning.
    """
    game_id, players = state["game_id"], {each: state[f"player_{each}"] for each in _COLORS}  # type: ignore[literal-required]
    if state["phase"] == "over":
        raise ValueError(f"game_id: game {game_id} is over")
    if state["variant"] != "rbc":
        raise ValueError(f"game_id: game {game_id} is {state['variant']}, and a player plays rbc")
    own = [each for each in _COLORS if players[each] == client.player]
    seats = [each for each in own or _COLORS if players[each] in (client.player, None) and color in (each, None)]
    if not own:
        seats = seats[-1:]
    if len(seats) != 1:
        how = "both seats; give color" if seats else "no such seat"
        raise ValueError(f"color: player {client.player} has {how} in game {game_id}")
    began = Board(state["start_fen"]).turn == (seats[0] == "white")
    if state["ply_index"] > (not began):
        raise ValueError(f"game_id: game {game_id} is under way, and a player plays from the beginning")
    return seats[0]


class IllegalAction(ValueError):
    """A player has returned something that is not among its actions."""


class SeatTurn(Protocol):
    """One turn of a seat on a server: :class:`gm_client.Turn` has these attributes."""

    @property
    def state(self) -> GameState: ...

    @property
    def color(self) -> Color: ...

    @property
    def sense_actions(self) -> list[str]: ...

    @property
    def move_actions(self) -> list[str]: ...

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]: ...

    def move(self, move: Move | None) -> MoveReply: ...


class ServerTurn:
    """One turn on a server, as a :class:`gm_recon.player.PlayedTurn`, with the player's clock."""

    def __init__(self, turn: SeatTurn) -> None:
        self._turn = turn
        self._out_of_time = math.inf
        self._learn_clock()

    def _learn_clock(self) -> None:
        """Take the seconds left from the state. The server charges no network time: here they only ever decrease."""
        clock = self._turn.state["clock"]
        left = None if clock is None else clock[self._turn.color]
        if left is not None:
            self._out_of_time = min(self._out_of_time, time.monotonic() + left)

    def seconds_left(self) -> float:
        """Return the seconds that the player has left; infinity without a clock."""
        return self._out_of_time - time.monotonic()

    @property
    def opponent_capture(self) -> Square | None:
        return read_square(self._turn.state.get("opponent_capture"))

    def sense_actions(self) -> list[Square]:
        return [chess.parse_square(name) for name in self._turn.sense_actions]

    def move_actions(self) -> list[Move]:
        return [Move.from_uci(uci) for uci in self._turn.move_actions]

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]:
        """Sense, as the player has chosen.

        :raises IllegalAction: it is not a square.
        """
        with _judged():
            square = checked_sense(square)
        seen = self._turn.sense(square)
        self._learn_clock()
        return seen

    def move(self, requested: Move | None) -> tuple[Move | None, Move | None, Square | None]:
        """Move, as the player has chosen.

        :raises IllegalAction: the move may not be requested.
        """
        with _judged():
            checked_move(requested, self.move_actions())
        moved = self._turn.move(requested)
        return requested, read_move(moved["taken_move"]), read_square(moved["capture_square"])


@contextmanager
def _judged() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise IllegalAction(str(error)) from None
