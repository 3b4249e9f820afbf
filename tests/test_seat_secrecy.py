"""Whatever a request says, it is shown no more than the seat it speaks for may see.

Two games are played in which everything differs that the seat may not see: if any byte of any reply is different, the
request was shown too much.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import chess
import pytest
import trio
from chess import Board
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from gm_protocol.messages import FIRST_REGISTERED, REQUESTS
from gmd.games.views import Viewer
from gmd.handlers import show, state, wait
from tests.helpers import Json
from tests.helpers_proof import proof_size
from tests.noninterference import OBSERVER, OPPONENT, STRANGER, Rooms, Told, two_rooms

#: Who holds both seats of the second game.
BOTH = 5

#: Who may ask: by name, the values of "player" its requests have, and of "seat".
ASKERS: dict[str, tuple[list[Any], list[Any]]] = {
    "nobody": ([None, STRANGER, -1, FIRST_REGISTERED], ["white", "black", None, "both", 1]),
    "White": ([OBSERVER], ["white", "black", None, "both", 1]),
    "both, for no seat": ([BOTH], [None, "both", 1]),
    "both, for White": ([BOTH], ["white"]),
}

#: Moves of Black's in either room, which White's senses and moves tell nothing of; White begins, Black is to move.
BLACKS = (["g8f6", "e7e5", "f8c5"], ["b8c6", "d7d5", "c8f5"])
WHITES = ["b1c3", "a2a3", "h2h3", "g1f3"]

ids = st.sampled_from([1, 2, 3, 0, 2**53])
anything = (
    st.none() | st.booleans() | st.integers(-2, 70) | st.text(max_size=5) | st.lists(st.integers(0, 3), max_size=3)
)
#: The fields a request may have, with values that may mean something; any of them may have any other value.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "game_id": ids,
    "game_ids": st.lists(ids, max_size=3),
    "any": st.booleans(),
    "except": st.lists(ids, max_size=2),
    "ply": st.integers(0, 9),
    "actions": st.booleans(),
    "brief": st.booleans(),
    "square": st.sampled_from([*chess.SQUARE_NAMES, 0, 63, None]),
    "move": st.sampled_from(["e7e5", "e2e4", "Nf6", "0000", None]),
    "termination": st.sampled_from(["taken_draw_white", "taken_draw_black", "draw_agreed"]),
    "offer_draw": st.booleans(),
    "token": st.text(max_size=2),
    "player_white": st.sampled_from([OBSERVER, OPPONENT, BOTH]),
    "player_black": st.sampled_from([OBSERVER, OPPONENT, BOTH]),
    "fen": st.sampled_from([chess.STARTING_FEN, Board().fen()]),
    "clock": st.none(),
    "status": st.sampled_from(["live", "over", "open"]),
    "variant": st.sampled_from(["rbc", "standard", "crazyhouse"]),
    "limit": st.integers(1, 100),
    "before": st.integers(1, 9),
    "spectator_key": st.text(max_size=3),
    "protocol": st.integers(1, 3),
    "id": st.integers(0, 9),
    "pgn": st.just("1. e4"),
    # No request has these.
    "viewer": st.sampled_from(["white", "black", "overseer"]),
    "spectate": st.just("live"),
    "key": st.text(max_size=3),
    "phase": st.just("over"),
}


@st.composite
def requests(draw: st.DrawFn, players: list[Any], seats: list[Any]) -> Json:
    """A request that speaks for one of the players and seats, if for any."""
    names = draw(st.lists(st.sampled_from(list(FIELDS)), max_size=8, unique=True))
    fields = {name: draw(FIELDS[name] if draw(st.integers(0, 9)) else anything) for name in names}
    request: Json = {"kind": draw(st.sampled_from([*REQUESTS, "spectate"])), **fields, "timeout": 0}
    request["player"] = draw(st.sampled_from(players))
    if draw(st.booleans()):
        request["seat"] = draw(st.sampled_from(seats))
    if draw(st.integers(0, 3)):
        request["game_id"] = draw(st.sampled_from([1, 2]))
    return request


async def begin(rooms: Rooms) -> None:
    """Two games in each room, one of two players and one of a player with both seats, each with Black to move.

    Black has sensed in one room.
    """
    for game_id, white, black in ((1, OBSERVER, OPPONENT), (2, BOTH, BOTH)):
        for room, blacks in zip(rooms.rooms, BLACKS, strict=True):
            await room.opponent.new_game(white, black, variant="rbc", clock=None)
            moves = [move for pair in zip(WHITES, [*blacks, ""], strict=True) for move in pair]
            for ply, move in enumerate(moves[:-1]):
                player, seat = (black, "black") if ply % 2 else (white, "white")
                await room.act("sense", game_id, player=player, seat=seat, square=None)
                await room.act("move", game_id, player=player, seat=seat, move=move)
        await rooms.rooms[0].act("sense", game_id, player=black, seat="black", square="e4")


async def compare(asked: list[Json]) -> None:
    """Ask in both rooms, everything in one session, and the same as sessions of their own."""
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    async with two_rooms(clock) as rooms:
        await begin(rooms)
        await rooms.ask(*asked)
        for request in asked[:3]:
            await rooms.ask_alone(request)


@pytest.mark.proof
@pytest.mark.parametrize("asker", ASKERS)
@settings(max_examples=proof_size(small=25, full=2_000))
@given(data=st.data())
def test_no_request_is_shown_more_than_it_may_see(asker: str, data: st.DataObject) -> None:
    asked = data.draw(st.lists(requests(*ASKERS[asker]), min_size=10, max_size=30))
    trio.run(partial(compare, asked), clock=MockClock())


#: What an asker without any right would ask first.
PLAIN: list[Json] = [
    {"kind": kind, "game_id": 2, "player": BOTH, "timeout": 0, **fields}
    for kind in ("state", "wait", "actions")
    for fields in ({}, {"actions": True}, {"game_id": None, "any": True}, {"seat": None})
]


@pytest.mark.parametrize("viewer", [Viewer.OVERSEER, Viewer.BLACK])
async def test_it_would_be_found_out(viewer: Viewer, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (show, state, wait):
        monkeypatch.setattr(module, "viewer_of", lambda *args, **options: viewer)
    with pytest.RaisesGroup(Told, flatten_subgroups=True):
        await compare(PLAIN)
