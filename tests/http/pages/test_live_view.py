"""The live view of a game: what a script gets of the latest position."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from gm_protocol.state import ClockState, LastResult, LastSense, Pockets
from gmd.games.rbc_knowledge import Observed
from gmd.http.pages.live_view import LivePart, LiveView, live_view, part_of, ply_of_seq, seq_of
from gmd.http.pages.looking import Look
from tests.http.pages.test_game_view import state

NAMES = {1: "ann", 2: "bob"}


def shown(look: Look, since: int | None = None) -> LiveView:
    return live_view(look, since, html=part_of(look, NAMES).standing)


def part_shown(look: Look) -> LivePart:
    return part_of(look, NAMES)


def test_player_to_move_can_make_its_moves_and_offer_a_draw() -> None:
    view = shown(Look(state(clock=ClockState(61.0, 9.5)), chess.WHITE, None, None, ["e2e4"]))
    assert view.can is not None
    assert (view.can.phase, view.can.moves, view.can.senses) == ("move", ["e2e4"], [])
    assert (view.can.resign, view.can.draw, view.can.claim, view.can.skip) == (True, "offer", [], False)
    assert (view.seat, view.html) == ("white", "Your turn to move.")
    assert view.clock is not None
    assert (view.clock.white, view.clock.black, view.clock.running) == (61.0, 9.5, "white")


def test_player_who_waits_can_resign_alone() -> None:
    view = shown(Look(state(turn="black"), chess.WHITE))
    assert view.can is not None
    assert (view.can.phase, view.can.moves, view.can.resign, view.can.draw) == ("wait", [], True, None)
    assert view.html == "Black to move."


def test_spectators_and_players_of_finished_games_can_do_nothing() -> None:
    assert shown(Look(state())).can is None
    over = shown(Look(state(phase="over", termination="draw_agreed", result="1/2-1/2"), chess.WHITE))
    assert (over.can, over.over, over.html) == (None, True, "Draw by agreement.")


@pytest.mark.parametrize(("turn", "draw"), [("white", "accept"), ("black", "offered")])
def test_offered_draw_can_be_accepted_by_the_side_to_move(turn: str, draw: str) -> None:
    view = shown(Look(state(turn=turn, draw_offered=True), chess.WHITE))
    assert view.can is not None
    assert view.can.draw == draw


def test_draws_can_be_claimed_by_the_side_to_move() -> None:
    view = shown(Look(state(draws=3), chess.WHITE))
    assert view.can is not None
    assert view.can.claim == ["fifty_moves", "repetition"]
    waiting = shown(Look(state(draws=3, turn="black"), chess.WHITE))
    assert waiting.can is not None
    assert waiting.can.claim == []


def test_game_that_has_not_begun_can_be_called_off() -> None:
    view = shown(Look(state(phase="open", player_black=None, clock=ClockState(60.0, 60.0)), chess.WHITE))
    assert view.can is not None
    assert (view.can.phase, view.can.call_off, view.can.resign, view.can.draw) == ("open", True, False, None)
    assert view.clock is not None
    assert view.clock.running is None
    assert view.html == "Waiting for a second player."
    invited = shown(Look(state(phase="open"), chess.WHITE))
    assert invited.html == "Waiting for the invitation to be accepted."


def test_moves_are_those_after_the_wanted_ply_with_their_numbers() -> None:
    look = Look(state(ply_index=3, turn="black", pgn="1.e4 e5 2.Nf3"))
    assert [(each.ply, each.number, each.color, each.san) for each in shown(look, 0).moves] == [
        (1, 1, "white", "e4"),
        (2, 1, "black", "e5"),
        (3, 2, "white", "Nf3"),
    ]
    assert [each.san for each in shown(look, 2).moves] == ["Nf3"]
    assert shown(look, 3).moves == shown(look, 10**9).moves == shown(look, None).moves == []


def test_crazyhouse_has_its_pockets_apart_from_the_placement() -> None:
    fen = "rnb1kbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR[PQpp] b KQkq - 0 3"
    board = shown(Look(state(variant="crazyhouse", fen=fen, pockets=Pockets("QP", "pp"), in_check=True), None)).board
    assert board.placement == "rnb1kbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR"
    assert board.pockets == ("QP", "pp")
    assert board.check == "e1"


RBC: dict[str, Any] = {"variant": "rbc", "ply_index": 4, "fen": "8/8/8/8/8/8/PPPP1PPP/RNBQKBNR w KQ - 0 3"}
SENSED = LastSense(4, "e5", [("d5", "bQ"), ("e5", None), ("e4", "wP"), ("d2", "bp")])
TAKEN = "Asked for e4d5: e4d5 was made"


def _step(uci: str, capture: chess.Square | None = None) -> Observed:
    return Observed("move", move=(chess.Move.from_uci(uci), chess.Move.from_uci(uci), capture))


#: What White has observed until then.
OBSERVED = [
    *(Observed("sense"), _step("e2e4"), Observed("opponent"), Observed("sense"), _step("e4d5", chess.D5)),
    Observed("opponent", opponent_capture=chess.D5),
    Observed(
        "sense",
        [
            (each, chess.Piece.from_symbol("q") if each == chess.D5 else None)
            for each in chess.SquareSet(chess.BB_KING_ATTACKS[chess.E5] | chess.BB_E5)
        ],
    ),
]


def test_player_of_a_blind_game_senses_and_then_moves() -> None:
    sensing = shown(Look(state(**RBC, phase="sense"), chess.WHITE, None, ["e5"], ["a2a3"]))
    assert sensing.can is not None
    assert (sensing.can.phase, sensing.can.senses, sensing.can.skip, sensing.can.draw) == ("sense", ["e5"], True, None)
    moving = shown(Look(state(**RBC, phase="move"), chess.WHITE, None, None, ["a2a3"], OBSERVED), 0)
    assert moving.can is not None
    assert (moving.can.phase, moving.can.senses, moving.moves) == ("move", [], [])
    assert moving.seq > sensing.seq
    assert moving.board.placement == "8/8/8/3q4/8/8/PPPP1PPP/RNBQKBNR"
    assert moving.board.window == ["d4", "e4", "f4", "d5", "e5", "f5", "d6", "e6", "f6"]
    assert (moving.board.lost, moving.board.last_move) == ("d5", "e4d5")
    assert len(moving.board.unseen) == 64 - 9 - 15


def test_turns_of_a_blind_game_have_what_was_observed_and_the_board_as_it_was_known() -> None:
    look = Look(state(**RBC, phase="move"), chess.WHITE, None, None, ["a2a3"], OBSERVED)
    turns = shown(look, 0).turns
    assert [(turn.number, turn.ply, turn.words) for turn in turns] == [
        (1, 1, ["Sensed nothing.", "Asked for e2e4: e2e4 was made."]),
        (2, 3, ["The opponent captured nothing.", "Sensed nothing.", f"{TAKEN} and captured a piece on d5."]),
        (3, 5, ["The opponent captured the piece on d5.", "Sensed around e5 and saw a queen on d5."]),
    ]
    assert [turn.board.last_move for turn in turns] == ["e2e4", "e4d5", "e4d5"]
    assert [turn.board.placement.split("/")[4] for turn in turns] == ["4P3", "8", "8"]
    assert ("d7", "p", 0) in [(each.square, each.piece, each.age) for each in turns[0].board.remembered]
    assert [turn.number for turn in shown(look, 4).turns] == [2, 3]
    assert shown(Look(state(**RBC, phase=None))).turns == []


def test_player_of_a_blind_game_is_told_what_came_of_its_move() -> None:
    result = LastResult(2, "e4d5", "e4d5", "d5")
    part = part_shown(Look(state(**RBC, phase="sense", opponent_capture=None, last_result=result), chess.WHITE))
    assert part.observed == [
        "Asked for e4d5: e4d5 was made and captured a piece on d5.",
        "The opponent captured nothing.",
    ]
    assert part.standing == "Your turn: choose the square around which to sense."


def test_player_of_a_blind_game_is_told_in_the_order_of_events() -> None:
    result = LastResult(2, "e4d5", "e4d5", "d5")
    observed = {**RBC, "opponent_capture": None, "last_result": result, "last_sense": SENSED}
    sensing = part_shown(Look(state(**observed, phase="sense"), chess.WHITE)).observed
    moving = part_shown(Look(state(**observed, phase="move"), chess.WHITE)).observed
    sense = "Sensed around e5 and saw a queen on d5 and a pawn on d2."
    assert (sensing[0], moving[-1]) == (sense, sense)
    assert sensing[1:] == moving[:-1]


def test_sequence_grows_through_a_game_and_has_the_ply() -> None:
    looks = [
        Look(state(phase="open", player_white=None, player_black=None)),
        Look(state(phase="open", player_black=None)),
        Look(state()),
        Look(state(ply_index=1, turn="black")),
        Look(state(**RBC, phase="sense"), chess.WHITE),
        Look(state(**RBC, phase="move"), chess.WHITE),
        Look(state(**{**RBC, "ply_index": 5, "turn": "black"}, phase=None), chess.WHITE),
        Look(state(**{**RBC, "ply_index": 5}, phase="over")),
    ]
    numbers = [seq_of(look) for look in looks]
    assert numbers == sorted(set(numbers))
    assert [ply_of_seq(number) for number in numbers] == [look.state.ply_index for look in looks]
