"""Replay that trusts nothing: it accepts every history that the rules can make, and refuses every other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import chess
import msgspec
import pytest
from hypothesis import given
from msgspec import structs

from gm_protocol.endings import TERMINATIONS, Cause, Ending, Termination, read_ending
from gm_protocol.messages import ClockOption, NewGame
from gmd.games.chess import ChessGame
from gmd.games.events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded, Moved
from gmd.games.replay import DoesNotApply, replay
from gmd.games.variants import resolve
from tests.archive.histories import histories
from tests.event_log.test_contract import CREATED
from tests.games.test_replay import everything

UNCLOCKED = structs.replace(CREATED, options=structs.replace(CREATED.options, clock=None))
OPEN = structs.replace(UNCLOCKED, player_black=None)
BOTH = [FirstContactMade("white"), FirstContactMade("black")]
MATE = [Moved("f2f3"), Moved("e7e5"), Moved("g2g4"), Moved("d8h4")]


@given(histories())
def test_every_history_of_a_game_replays(history: tuple[ChessGame, list[AnyEvent]]) -> None:
    game, events = history
    written = msgspec.json.decode(msgspec.json.encode(events), type=list[AnyEvent])
    assert everything(replay(0, written)) == everything(game)


@given(histories())
def test_history_without_one_move_is_refused_or_another_game(
    history: tuple[ChessGame, list[AnyEvent]],
) -> None:
    """The result is never the same game, and never another exception."""
    game, events = history
    for seq, event in enumerate(events):
        if not isinstance(event, Moved | Created):
            continue
        shorter = events[:seq] + events[seq + 1 :]
        try:
            moves, refused = replay(0, shorter).moves, None
        except DoesNotApply as error:
            moves, refused = [], error.seq
        assert moves != game.moves if refused is None else refused >= seq


def options(**changed: Any) -> Created:
    return structs.replace(UNCLOCKED, options=structs.replace(UNCLOCKED.options, **changed))


REFUSED: dict[str, tuple[Sequence[AnyEvent], int, str]] = {
    "nothing": ([], 0, "the game has no events"),
    "no creation": ([Moved("e2e4")], 0, 'a game begins with its creation, not with {"event":"moved","move":"e2e4"}'),
    "two creations": ([UNCLOCKED, UNCLOCKED], 1, "the game was already created"),
    "created when": (
        [structs.replace(UNCLOCKED, created="yesterday")],
        0,
        "created: 'yesterday' is not a time such as 2026-11-21T04:41:00Z",
    ),
    "position": ([options(fen="8/8/8/8/8/8/8/8 w - - 0 1")], 0, "fen: '8/8/8/8/8/8/8/8 w - - 0 1' is no standard"),
    "fen": ([options(variant="chess960", position=518, fen="8/8/8/8/8/8/8/8 w - - 0 1")], 0, "options.fen: '8/8/8"),
    "clock": ([options(clock=ClockOption(initial=-1.0))], 0, "clock.initial: -1.0 is not from more than 0"),
    "illegal": ([UNCLOCKED, Moved("e2e4"), Moved("e2e4")], 2, "move: 'e2e4' is not legal for black in"),
    "SAN": ([UNCLOCKED, Moved("Nf3")], 1, '{"event":"moved","move":"Nf3"} would have been {"event":"moved","move":"g1'),
    "after mate": ([UNCLOCKED, *MATE, Moved("a2a3")], 5, "game 7 is over: victory_black"),
    "loading nonsense": ([UNCLOCKED, Loaded(["e2e4", "x"])], 1, "move: 'x' is neither SAN (Nf3) nor UCI (g1f3)"),
    "too much loading": ([UNCLOCKED, Loaded(["g1f3"] * 12_001)], 1, "more than 12000 moves are loaded"),
    "kept for nobody": (
        [structs.replace(UNCLOCKED, player_black=None, invited=["black"])],
        0,
        "invited: black's seat is",
    ),
    "joined when both were taken": ([UNCLOCKED, Joined("black", 5)], 1, "seat: black's seat is not free for player 5"),
    "moved before both were there": ([OPEN, Moved("e2e4")], 1, "game 7 has not begun: black's seat is not taken; wait"),
    "lapses at once": (
        [structs.replace(UNCLOCKED, invited=["black"], lapses=0.0)],
        0,
        "lapses: 0.0 seconds is not more than 0",
    ),
    "lapsed without limit": ([OPEN, Ended("expired")], 1, "termination: 'expired' cannot end a game without"),
    "declined by nobody": ([OPEN, Ended("declined")], 1, "termination: 'declined' cannot be requested by any player"),
    "heard from nobody": (
        [structs.replace(CREATED, player_black=None), FirstContactMade("black")],
        1,
        "no first contact of",
    ),
    "heard without clock": ([UNCLOCKED, FirstContactMade("white")], 1, "no first contact of white is awaited"),
    "charged for nothing": ([UNCLOCKED, Moved("e2e4", 1.5)], 1, "seconds: 1.5 are charged while no clock runs"),
    "given time": ([CREATED, *BOTH, Moved("e2e4", -1.5)], 3, "seconds: -1.5 are charged, which is less than 0"),
    "over time": ([CREATED, *BOTH, Moved("e2e4", 60.0)], 3, "game 7 is over: timeout_white"),
    "flag not fallen": ([CREATED, *BOTH, Ended("timeout_white", 30.0)], 3, '{"event":"ended","termination":"timeout_'),
    "nobody resigns": ([UNCLOCKED, Ended("resignation_white")], 1, "termination: 'resignation_white' is requested by"),
    "resigns for another": (
        [UNCLOCKED, Ended("resignation_white", 0.0, "black", "resignation_white")],
        1,
        "termination: 'resignation_white' cannot be requested by black",
    ),
    "no offer": (
        [UNCLOCKED, Ended("draw_agreed", 0.0, "white", "draw_agreed")],
        1,
        "termination: 'draw_agreed': black has not offered",
    ),
    "forfeit by a legal move": (
        [options(illegal_move="lose"), Ended("forfeit_white", 0.0, "white", "e4")],
        1,
        '{"event":"ended","termination":"forfeit_white","seconds":0.0,"seat":"white","asked":"e4"} would have been {"e',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_history_is_refused(name: str) -> None:
    events, seq, why = REFUSED[name]
    with pytest.raises(DoesNotApply) as caught:
        replay(7, events)
    assert (caught.value.seq, str(caught.value)[: len(why)]) == (seq, why)


BLIND = structs.replace(
    UNCLOCKED, options=resolve(NewGame(player_white=1, player_black=2, variant="rbc", clock=None), {}, 0, strict=True)
)


@pytest.mark.parametrize("created", [UNCLOCKED, BLIND], ids=lambda created: created.options.variant)
def test_of_all_ends_only_a_resignation_can_be_the_act_of_one_player(created: Created) -> None:
    """Neither time nor a player can have ended these games otherwise."""
    for word in get_args(Termination):
        with pytest.raises(DoesNotApply, match=r"termination|game 7 has begun") as caught:
            replay(7, [created, Ended(word)])
        assert caught.value.seq == 1
        own = [created, Ended(word, 0.0, "white", word)]
        if read_ending(word) == Ending(Cause.RESIGNATION, winner=chess.BLACK):
            assert replay(7, own).now.ending == read_ending(word)
        else:
            with pytest.raises(DoesNotApply):
                replay(7, own)


FLAGGED = structs.replace(CREATED, options=structs.replace(CREATED.options, fen="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))


@pytest.mark.parametrize(
    ("before", "loss"),
    [
        (BOTH, Ended("timeout_white", 60.0)),
        ([FirstContactMade("black")], Ended("timeout_white")),
        ([*BOTH, Moved("e2e4", 1.0)], Ended("timeout_white", 2.0, "white", "timeout_white")),
    ],
    ids=["fallen flag", "no contact", "given up"],
)
def test_draw_on_time_is_replayed_and_so_is_the_loss_that_older_logs_have(before: list[AnyEvent], loss: Ended) -> None:
    drawn = structs.replace(loss, termination="draw_timeout", asked=loss.asked and "draw_timeout")
    for event in (drawn, loss):
        game = replay(7, [FLAGGED, *before, event])
        assert (game.now.ending, game.over) == (read_ending(event.termination), True)
        assert game.clock is not None
        assert not loss.asked or game.clock.left(chess.WHITE) == 0.0
    wrong = structs.replace(loss, termination="timeout_black", asked=loss.asked and "timeout_black")
    with pytest.raises(DoesNotApply):
        replay(7, [FLAGGED, *before, wrong])


def test_end_with_the_termination_of_a_live_game_is_refused() -> None:
    with pytest.raises(DoesNotApply, match=r"^termination: 'available_move' does not end a game$"):
        replay(7, [UNCLOCKED, Ended("available_move")])


@pytest.mark.parametrize("seat", [None, chess.WHITE, chess.BLACK])
def test_end_is_stored_as_text_and_read_as_its_type(seat: chess.Color | None) -> None:
    for ending in TERMINATIONS:
        event = Ended.of(ending, 1.5, seat=seat, asked="x")
        named = {} if seat is None else {"seat": chess.COLOR_NAMES[seat]}
        kept = {"event": "ended", "termination": ending.termination, "seconds": 1.5, **named, "asked": "x"}
        assert msgspec.to_builtins(event) == kept
        read = msgspec.convert(kept, AnyEvent)
        assert isinstance(read, Ended)
        assert (read.side, read.ending.termination) == (seat, ending.termination)
