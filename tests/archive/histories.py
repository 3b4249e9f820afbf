"""Hypothesis strategies for whole games as the rules make them: any variant, clock and ending, with forfeits and games
loaded from PGN.
"""

from __future__ import annotations

from typing import Any

import chess
from hypothesis import strategies as st
from msgspec import structs

from gm_protocol.endings import Cause
from gm_protocol.messages import ClockOption, NewGame
from gmd.games.chess import ChessGame
from gmd.games.commands import CallOff, Command, End, FirstContact, Join, Play, Sense
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.rbc import PASS, RbcGame
from gmd.games.variants import make_game, resolve
from tests.games.test_replay import asked, command_of, new_game, options

KNIGHTS = ["Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6"]
#: Open seats, and seats reserved for invited players.
KEPT: list[dict[str, Any]] = [
    {"player_white": None},
    {"player_white": None, "player_black": None},
    {"invited": ["black"]},
    {"invited": ["white", "black"]},
    {"invited": ["black"], "lapses": 60.5, "ranked": True, "versions": (2, 7)},
]
elapsed_times = st.sampled_from([0.0, 0.1 + 0.2, 1.5, 30.0, 1000.0])


@st.composite
def histories(draw: st.DrawFn) -> tuple[ChessGame, list[AnyEvent]]:
    """Return a game of chess and its events."""
    request: NewGame = draw(options)
    loaded = [] if request.variant == "chess960" else KNIGHTS[: draw(st.integers(0, 6))]
    game, events = _with_seats(*new_game(request, loaded), kept=draw(st.sampled_from([{}, {}, *KEPT])))
    joiner = 1 if request.player_black == 1 else 2
    calls_off = draw(st.lists(st.sampled_from([CallOff(1), CallOff(2), *_lapses(game)]), max_size=1))
    joins = [Join(1, chess.WHITE), Join(joiner, chess.BLACK), Join(7), *calls_off]
    for command in [] if game.begun else draw(st.permutations(joins)):
        _do(game, events, command, 0.0)
    if request.clock is not None and draw(st.booleans()):
        for seat in (True, False):
            _do(game, events, FirstContact(seat), 0.0)
    for what, elapsed in draw(st.lists(st.tuples(asked, elapsed_times), max_size=30)):
        _do(game, events, _command(what, game), elapsed)
    return game, events


def _lapses(game: Game) -> list[CallOff]:
    """Return the command for a passed invitation deadline, if the game has such a deadline."""
    return [CallOff(None)] if game.lapsing else []


def _with_seats(game: ChessGame, events: list[AnyEvent], kept: dict[str, Any]) -> tuple[ChessGame, list[AnyEvent]]:
    """Return the same game with some of its seats open or reserved."""
    if not kept:
        return game, events
    again = make_game(structs.replace(game.created, **kept))
    for event in events[1:]:
        again.apply(event)
    return again, [again.created, *events[1:]]


#: Starting positions of reconnaissance blind chess: the usual one, and two that are a few turns from the end.
BLIND_STARTS = [None, "4k3/P7/8/8/8/8/p7/4K3 w - - 96 50", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"]


@st.composite
def blind_histories(draw: st.DrawFn) -> tuple[RbcGame, list[AnyEvent]]:
    """Return a game of reconnaissance blind chess and its events."""
    clock = draw(st.sampled_from([None, ClockOption(initial=100.0, increment=1.5)]))
    request = NewGame(
        player_white=1, player_black=2, variant="rbc", clock=clock, fen=draw(st.sampled_from(BLIND_STARTS))
    )
    created = Created(1, 2, resolve(request, {}, 0, strict=True), "2026-11-21T04:41:00Z")
    created = structs.replace(created, **draw(st.sampled_from([{}, {}, *KEPT])))
    game, events = RbcGame(created), [created]
    calls_off = draw(st.lists(st.sampled_from([CallOff(1), CallOff(2), *_lapses(game)]), max_size=1))
    for command in [] if game.begun else [*calls_off, Join(1, chess.WHITE), Join(2, chess.BLACK)]:
        _do(game, events, command, 0.0)
    if clock is not None:
        for seat in (True, False):
            _do(game, events, FirstContact(seat), 0.0)
    for number, elapsed in draw(st.lists(st.tuples(st.integers(0, 10**6), elapsed_times), max_size=40)):
        _do(game, events, _blind_command(game, number), elapsed)
    if draw(st.booleans()):
        _do(game, events, End(game.turn, Cause.RESIGNATION), 0.0)
    return game, events


def _blind_command(game: RbcGame, number: int) -> Command:
    """Return a command that the side to move may give now or a moment later."""
    if number % 3:
        return Sense(game.turn, chess.SQUARE_NAMES[number % 64] if number % 5 else None)
    moves = [PASS, *(move.uci() for move in game.recon.board.move_actions())]
    return Play(game.turn, moves[number % len(moves)])


def _command(what: Any, game: ChessGame) -> Command:
    """Return the drawn command: mostly a move, mostly by the side to move. Some texts are too long to be stored."""
    command = command_of(what, game)
    if isinstance(command, Play) and command.text == "nonsense":
        return structs.replace(command, text="nonsense " * 5)
    return command


def _do(game: Game, events: list[AnyEvent], command: Command, elapsed: float) -> None:
    """Apply a command as the arbiter does, which charges no time to a stopped clock."""
    for event in game.decide(command, elapsed if game.ticking else 0.0).events:
        game.apply(event)
        events.append(event)
