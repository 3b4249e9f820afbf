"""A game is the fold of its events: replaying them gives the same game and the same answers to retries."""

from __future__ import annotations

import random
from typing import Any, get_args

import chess
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.endings import Voluntary
from gm_protocol.messages import ClockOption, NewGame
from gmd.event_log.memory import MemoryLog
from gmd.games.chess import ChessGame
from gmd.games.commands import Absent, Command, End, FirstContact, Flag, Play, RunOut
from gmd.games.events import AnyEvent, Created
from gmd.games.notation import run_through
from gmd.games.variants import make_game, resolve
from gmd.games.views import VIEWER_IN, Viewer, actions, game_state, history
from tests.games.folding import check_fold
from tests.games.playing import STYLES, choose, spell
from tests.helpers import Client, Json, memory_daemon
from tests.oracle import Oracle, start_board

seats = st.sampled_from(chess.COLORS)
seconds = st.sampled_from([0.0, 0.001, 1.5, 30.0, 1000.0])

#: Commands for a game: -1 stands for the current ply, and a number for the legal move of that index.
asked_moves = st.tuples(
    st.integers(0, 60) | st.sampled_from(["e4", "nonsense", "", "--"]),
    seats | st.none(),
    st.sampled_from([None, None, -1, 0, 3]),
    st.booleans(),
    st.booleans(),
)
asked_endings = st.builds(End, seats, st.sampled_from(get_args(Voluntary)), st.sampled_from([None, 0, 3]))
asked = st.one_of(
    *[asked_moves] * 6,
    asked_endings,
    st.builds(FirstContact, seats),
    st.just(Flag()),
    st.sampled_from([Flag(), Absent()]),
    st.builds(RunOut, seats),
)

options = st.builds(
    NewGame,
    player_white=st.just(1),
    player_black=st.sampled_from([1, 2]),
    variant=st.sampled_from(["standard", "chess960", "crazyhouse"]),
    draws=st.sampled_from([None, "claimed", "automatic"]),
    max_moves=st.none() | st.integers(1, 10),
    clock=st.sampled_from(
        [
            None,
            ClockOption(initial=60.0),
            ClockOption(initial=5.0, increment=2.5),
            ClockOption(first_move=10.0, per_move=0.5),
        ]
    ),
    illegal_move=st.sampled_from(["refuse", "lose"]),
)


def new_game(request: NewGame, pgn_moves: list[str]) -> tuple[ChessGame, list[AnyEvent]]:
    """Return a game and the events that it has had."""
    created = Created(1, request.player_black, resolve(request, {}, 342, strict=True), "2026-11-21T04:41:00Z")
    game = make_game(created)
    loading = game.load(pgn_moves)
    while True:
        try:
            next(loading)
        except StopIteration as stop:
            return game, [created, *stop.value]


def command_of(what: Any, game: ChessGame) -> Command:
    if not isinstance(what, tuple):
        assert isinstance(what, Command)
        return what
    move, seat, ply, offer, claim = what
    legal = game.facts.actions
    text = legal[move % len(legal)] if isinstance(move, int) and legal else str(move)
    ply = game.now.ply if ply == -1 else ply
    return Play(game.turn if seat is None else seat, text, ply, offer, claim_draw=claim)


def everything(game: ChessGame) -> list[Any]:
    """Return everything that a game shows."""
    return [
        game.now,
        game.turn,
        game.over,
        game.moves,
        game.ticking,
        game.awaited,
        game.begun,
        game.seating,
        None if game.clock is None else [game.clock.left(seat) for seat in chess.COLORS],
        msgspec.json.encode(game_state(game, game.now, 0.25, Viewer.NOBODY, brief=False)),
        msgspec.json.encode(game.summary()),
        run_through(history(game)),
        [actions(game, VIEWER_IN[seat]) for seat in chess.COLORS],
    ]


@given(options, st.integers(0, 6), st.lists(st.tuples(asked, seconds), max_size=40))
def test_replaying_the_events_gives_the_same_game(
    request: NewGame, loaded: int, commands: list[tuple[Any, float]]
) -> None:
    knights = ["Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6"] if request.variant != "chess960" else []
    game, events = new_game(request, knights[:loaded])
    check_fold(game, events, commands, command_of, everything)


@pytest.mark.parametrize("variant", ["standard", "chess960", "crazyhouse"])
async def test_game_continues_after_any_restart(variant: str) -> None:
    """Each daemon has the log of the previous one, and nothing else."""
    rng = random.Random(f"restart {variant}")
    log = MemoryLog()
    position = None if variant == "standard" else 17
    fields: Json = {} if position is None else {"position": position}
    oracle = Oracle(start_board(variant, position=position), variant, draws="claimed")
    async with memory_daemon(log) as daemon:
        reply = await (await daemon.connect()).new_game(variant=variant, draws="claimed", **fields)
    game_id, shown = reply["game_id"], reply["state"]
    for style in [*STYLES, *STYLES]:
        async with memory_daemon(log) as daemon:
            client = await daemon.connect()
            assert (await client.ask("state", game_id=game_id))["state"] == shown == oracle.state(game_id)
            shown = await play_some(client, oracle, game_id, style, rng) or shown


async def play_some(client: Client, oracle: Oracle, game_id: int, style: str, rng: random.Random) -> Json | None:
    """Make up to twenty moves, some with a draw offer; return the last state if there was a move."""
    shown: Json | None = None
    for _ in range(rng.randrange(20)):
        if oracle.termination != "available_move":
            break
        move = choose(oracle.board, style, rng)
        text, offer = spell(oracle.board, move, rng), rng.random() < 0.3
        player = 1 if oracle.board.turn else 2
        reply = await client.ask("move", game_id=game_id, player=player, move=text, offer_draw=offer)
        oracle.push(move, offer_draw=offer)
        shown = reply["state"]
    return shown
