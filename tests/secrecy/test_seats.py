"""A reply never shows more than the seat that its request speaks for may see.

Two games are played that differ in everything hidden from the seat: if any byte of any reply differs, the request was
shown too much.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import chess
import pytest
import trio
from chess import Board
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from gm_protocol.messages import FIRST_REGISTERED, REQUESTS
from gmd.games.views import Viewer
from gmd.handlers import state, wait
from gmd.players.account import is_registered
from gmd.players.authenticator import Authenticator
from tests.helpers import Json
from tests.proofs import cases, in_processes
from tests.secrecy.noninterference import quiet
from tests.secrecy.paired_daemons import (
    OBSERVER,
    OPPONENT,
    REGISTERED_OBSERVER,
    REGISTERED_OPPONENT,
    REGISTERED_STRANGER,
    STRANGER,
    Distinguished,
    PairedDaemons,
    key_of,
    paired_daemons,
    proof_of,
)

#: The lists of requests that one process draws and sends at a time.
EXAMPLES = 125

#: An open player who holds both seats of a game.
BOTH = 5
#: The games on each daemon, by their ids: the players in their seats, White first. A registered player has both of the
#: last.
GAMES = {
    1: (OBSERVER, OPPONENT),
    2: (BOTH, BOTH),
    3: (REGISTERED_OBSERVER, REGISTERED_OPPONENT),
    4: (REGISTERED_STRANGER, REGISTERED_STRANGER),
}

ANY_SEAT: list[Any] = ["white", "black", None, "both", 1]
NO_SEAT: list[Any] = [None, "both", 1]


def with_keys(*keys: str | None) -> list[Json]:
    """Return the third game's Black, a registered player whose view differs between the daemons, with each of these as
    its key.
    """
    return [{"player": REGISTERED_OPPONENT, "key": key} for key in keys]


#: The askers: by name, what their requests have for "player" and "key", and for "seat".
ASKERS: dict[str, tuple[list[Json], list[Any]]] = {
    "nobody": ([{"player": player} for player in (None, STRANGER, -1, FIRST_REGISTERED)], ANY_SEAT),
    "White": ([{"player": OBSERVER}], ANY_SEAT),
    "both, for no seat": ([{"player": BOTH}], NO_SEAT),
    "both, for White": ([{"player": BOTH}], ["white"]),
    "registered, without its key": ([{"player": REGISTERED_OPPONENT}, *with_keys(None, "")], ANY_SEAT),
    "registered, with a wrong key": (with_keys("x", "A" * 43, f"{key_of(REGISTERED_OPPONENT)}x"), ANY_SEAT),
    "registered, with another's key": (with_keys(key_of(REGISTERED_OBSERVER), key_of(REGISTERED_STRANGER)), ANY_SEAT),
    "registered, White": ([proof_of(REGISTERED_OBSERVER)], ANY_SEAT),
    "registered, both, for no seat": ([proof_of(REGISTERED_STRANGER)], NO_SEAT),
    "registered, both, for White": ([proof_of(REGISTERED_STRANGER)], ["white"]),
}

#: Black's moves on either daemon, which White's senses and moves reveal nothing of; White begins, and Black is to move.
BLACKS = (["g8f6", "e7e5", "f8c5"], ["b8c6", "d7d5", "c8f5"])
WHITES = ["b1c3", "a2a3", "h2h3", "g1f3"]

ids = st.sampled_from([*GAMES, 5, 0, 2**53])
anything = (
    st.none() | st.booleans() | st.integers(-2, 70) | st.text(max_size=5) | st.lists(st.integers(0, 3), max_size=3)
)
#: The fields that a request may have, with values that may mean something; any of them may have any other value.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "game_id": ids,
    "game_ids": st.lists(ids, max_size=3),
    "any": st.booleans(),
    "except": st.lists(ids, max_size=2),
    "ply": st.integers(0, 9),
    "actions": st.booleans(),
    "samples": st.integers(0, 9),
    "brief": st.booleans(),
    "square": st.sampled_from([*chess.SQUARE_NAMES, 0, 63, None]),
    "move": st.sampled_from(["e7e5", "e2e4", "Nf6", "0000", None]),
    "termination": st.sampled_from(["taken_draw_white", "taken_draw_black", "draw_agreed"]),
    "offer_draw": st.booleans(),
    "claim_draw": st.booleans(),
    "token": st.text(max_size=2),
    "player_white": st.sampled_from([None, OBSERVER, OPPONENT, BOTH, REGISTERED_OPPONENT]),
    "player_black": st.sampled_from([None, OBSERVER, OPPONENT, BOTH, REGISTERED_OPPONENT]),
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
    "name": st.sampled_from(["observer", "newcomer"]),
    "password": st.text(max_size=9),
    "key": st.text(max_size=3),
    "reversible_moves": st.integers(1, 9),
    "max_turns": st.none() | st.integers(1, 9),
    # No request has these.
    "viewer": st.sampled_from(["white", "black", "overseer"]),
    "spectate": st.just("live"),
    "phase": st.just("over"),
}


#: Without "rekey": after one that succeeds, the asker's key is no longer valid.
KINDS = sorted({*REQUESTS, "spectate"} - {"rekey"})


@st.composite
def requests(draw: st.DrawFn, proofs: list[Json], seats: list[Any]) -> Json:
    """Draw a request that speaks for one of the players and seats, or for none."""
    names = draw(st.lists(st.sampled_from(list(FIELDS)), max_size=8, unique=True))
    fields = {name: draw(FIELDS[name] if draw(st.integers(0, 9)) else anything) for name in names}
    request: Json = {"kind": draw(st.sampled_from(KINDS)), **fields, "timeout": 0}
    request |= draw(st.sampled_from(proofs))
    if draw(st.booleans()):
        request["seat"] = draw(st.sampled_from(seats))
    if draw(st.integers(0, 3)):
        request["game_id"] = draw(st.sampled_from(list(GAMES)))
    return request


async def begin(daemons: PairedDaemons) -> None:
    """Begin the games on each daemon, with Black to move. Black has sensed on one daemon."""
    for game_id, (white, black) in GAMES.items():
        made = await daemons.act("new_game", white, player_white=white, player_black=black, variant="rbc", clock=None)
        assert made["game_id"] == game_id
        if is_registered(black) and black != white:
            await daemons.act("join", black, game_id=game_id)
        for daemon, blacks in zip(daemons.daemons, BLACKS, strict=True):
            moves = [move for pair in zip(WHITES, [*blacks, ""], strict=True) for move in pair]
            requests: list[Json] = []
            for ply, move in enumerate(moves[:-1]):
                who = proof_of(black if ply % 2 else white)
                acts: Json = {"game_id": game_id, **who, "seat": "black" if ply % 2 else "white", "brief": True}
                requests += [{"kind": "sense", **acts, "square": None}, {"kind": "move", **acts, "move": move}]
            await daemon.act_all(requests)
        await daemons.daemons[0].act("sense", black, game_id=game_id, seat="black", square="e4")


async def compare(asked: list[Json]) -> int:
    """Send the requests to both daemons, all in one session and some also in new sessions; return how many replies
    there were.
    """
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    async with paired_daemons(clock) as daemons:
        await begin(daemons)
        await daemons.ask(*asked)
        for request in asked[:3]:
            await daemons.ask_alone(request)
        return daemons.compared


def ask_at_random(asker: str, number: int, examples: int) -> int:
    """Let hypothesis draw so many lists of an asker's requests; return how many replies were compared.

    The number is not the profile's: a list has up to sixty requests, and several processes share the lists.

    :raises Distinguished: the replies differed somewhere.
    """
    compared = []

    @seed(number)
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(requests(*ASKERS[asker]), min_size=20, max_size=60))
    def check(asked: list[Json]) -> None:
        compared.append(trio.run(partial(compare, asked), clock=MockClock()))

    with quiet():
        check()
    return sum(compared)


#: The askers of the ordinary run.
ORDINARY = ("White", "registered, with another's key")


@pytest.mark.parametrize(
    "asker", [each if each in ORDINARY else pytest.param(each, marks=pytest.mark.slow) for each in ASKERS]
)
def test_no_reply_shows_more_than_the_requests_seat_may_see(asker: str) -> None:
    examples = cases(5 if asker in ORDINARY else 2)
    jobs = [(asker, first, min(EXAMPLES, examples - first)) for first in range(0, examples, EXAMPLES)]
    compared = sum(in_processes(ask_at_random, jobs))
    assert compared >= 23 * examples
    print(f"{examples} lists of requests, {compared} replies compared")


#: The first requests of an asker without any right.
PLAIN: list[Json] = [
    {"kind": kind, "game_id": game_id, **proof, "timeout": 0, **fields}
    for game_id, proof in ((2, {"player": BOTH}), (4, proof_of(REGISTERED_STRANGER)))
    for kind in ("state", "wait", "actions")
    for fields in ({}, {"actions": True}, {"game_id": None, "any": True}, {"game_id": None, "game_ids": [game_id]})
]


@pytest.mark.slow
@pytest.mark.parametrize("viewer", [Viewer.OVERSEER, Viewer.BLACK])
@pytest.mark.parametrize("half", [0, 1])
async def test_wrong_viewer_is_found(
    viewer: Viewer, half: int, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (state, wait):
        monkeypatch.setattr(module, "viewer_of", lambda *args, **options: viewer)
    with pytest.RaisesGroup(Distinguished, flatten_subgroups=True):
        await compare(PLAIN[half * len(PLAIN) // 2 :][: len(PLAIN) // 2])


@pytest.mark.slow
@pytest.mark.parametrize("asker", ["registered, without its key", "registered, with a wrong key"])
async def test_authenticator_that_admits_everybody_is_found(
    asker: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Authenticator, "admit", lambda *args: None)
    for proof in ASKERS[asker][0]:
        with pytest.RaisesGroup(Distinguished, flatten_subgroups=True):
            await compare([{"kind": "state", "game_id": 3, **proof}])
