"""A game of rbc is the fold of its events: replaying them gives the same game and the same answers to retries."""

from __future__ import annotations

from typing import Any, get_args

import chess
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.endings import Voluntary
from gm_protocol.messages import ClockOption, NewGame
from gmd.games.commands import Absent, Command, End, FirstContact, Flag, Play, RunOut, Sense
from gmd.games.events import AnyEvent, Created
from gmd.games.notation import run_through
from gmd.games.rbc import PASS, RbcGame
from gmd.games.variants import make_game, resolve
from gmd.games.views import Viewer, actions, game_state, history
from tests.games.folding import check_fold
from tests.side_by_side import POSITIONS

seats = st.sampled_from(chess.COLORS)
plies = st.sampled_from([None, None, -1, 0, 3])

#: Commands for a game: -1 stands for the current ply, and a number for a legal move of the side to move.
asked_senses = st.tuples(
    st.just("sense"), st.none() | st.integers(-1, 64) | st.sampled_from(["e4", "z9"]), seats | st.none(), plies
)
asked_moves = st.tuples(
    st.just("move"), st.integers(0, 60) | st.sampled_from([PASS, "e2e4", "nonsense"]), seats | st.none(), plies
)
asked = st.one_of(
    *[asked_senses] * 5,
    *[asked_moves] * 5,
    st.builds(End, seats, st.sampled_from(get_args(Voluntary)), st.sampled_from([None, 0, 3])),
    st.builds(FirstContact, seats),
    st.sampled_from([Flag(), Flag(), Absent()]),
    st.builds(RunOut, seats),
)

games = st.builds(
    NewGame,
    player_white=st.just(1),
    player_black=st.sampled_from([1, 2]),
    variant=st.just("rbc"),
    fen=st.sampled_from(list(POSITIONS.values())),
    reversible_moves=st.sampled_from([msgspec.UNSET, None, 4]),
    max_turns=st.sampled_from([None, 70, 12]),
    clock=st.sampled_from([msgspec.UNSET, None, ClockOption(initial=60.0), ClockOption(first_move=10.0, per_move=0.5)]),
)


def new_game(request: NewGame) -> tuple[RbcGame, list[AnyEvent]]:
    """Return a game and its first event."""
    created = Created(1, request.player_black, resolve(request, {}, 0, strict=True), "2026-11-21T04:41:00Z")
    game = make_game(created)
    assert isinstance(game, RbcGame)
    return game, [created]


def command_of(what: Any, game: RbcGame) -> Command:
    if not isinstance(what, tuple):
        assert isinstance(what, Command)
        return what
    kind, value, seat, ply = what
    seat, ply = game.turn if seat is None else seat, game.now.ply if ply == -1 else ply
    if kind == "sense":
        return Sense(seat, value, ply)
    moves = game.recon.move_actions()
    return Play(seat, moves[value % len(moves)].uci() if isinstance(value, int) and moves else str(value), ply)


def everything(game: RbcGame) -> list[Any]:
    """Return everything that a game shows to each viewer."""
    return [
        game.now,
        game.turn,
        game.over,
        game.ticking,
        game.awaited,
        None if game.clock is None else [game.clock.left(seat) for seat in chess.COLORS],
        [msgspec.json.encode(game_state(game, game.now, 0.25, viewer, brief=False)) for viewer in Viewer],
        [actions(game, viewer) for viewer in Viewer],
        game.summary(),
        run_through(history(game)) if game.over else game.moves,
    ]


@given(games, st.lists(st.tuples(asked, st.sampled_from([0.0, 0.001, 1.5, 30.0])), max_size=40))
def test_replaying_the_events_gives_the_same_game(request: NewGame, commands: list[tuple[Any, float]]) -> None:
    game, events = new_game(request)
    check_fold(game, events, commands, command_of, everything)
