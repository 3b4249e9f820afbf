"""Dark chess: its rules, its refusals, and what a seat sees; ``test_dark_openspiel.py`` compares whole games."""

from __future__ import annotations

import json
from typing import Any, get_args

import chess
import chess.pgn
import msgspec
import pytest

from gm_protocol.endings import Cause, termination_of
from gm_protocol.errors import GmError
from gm_protocol.messages import NewGame, Variant
from gmd.games.commands import Command, End, Play, Sense
from gmd.games.dark import DarkBoard, DarkGame
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Decision
from gmd.games.notation import run_through
from gmd.games.replay import replay
from gmd.games.variants import VARIANTS, make_game, named_in_pgn, resolve
from gmd.games.views import VIEWER_IN, Viewer, actions, full_pgn, game_state, history
from tests.helpers import Json

CREATED = "2026-11-22T04:41:00Z"


def new_game(**fields: Any) -> DarkGame:
    request = NewGame(player_white=1, player_black=2, variant="dark_chess", **fields)
    game = make_game(Created(1, 2, resolve(request, {}, 0, strict=True), CREATED))
    assert isinstance(game, DarkGame)
    return game


def happen(game: DarkGame, command: Command) -> Decision:
    decision = game.decide(command, 0.0)
    for event in decision.events:
        game.apply(event)
    return decision


def play(game: DarkGame, *texts: str) -> None:
    for text in texts:
        assert happen(game, Play(game.turn, text)).refusal is None, text


def refusal(game: DarkGame, command: Command) -> tuple[str, str]:
    refused = game.decide(command, 0.0).refusal
    assert refused is not None
    return refused.code, str(refused)


def view(game: DarkGame, viewer: Viewer, *, brief: bool = False) -> Json:
    encoded = msgspec.json.encode(game_state(game, game.now, 0.0, viewer, brief=brief))
    shown: Json = json.loads(encoded)
    return shown


def termination(game: DarkGame) -> str:
    return termination_of(game.now.ending)


def test_registry_has_every_wire_variant_in_order() -> None:
    assert tuple(VARIANTS) == get_args(Variant)
    assert {name: named_in_pgn(variant.pgn_name.upper()) for name, variant in VARIANTS.items()} == dict(VARIANTS)


def test_king_capture_wins_the_game() -> None:
    game = new_game()
    play(game, "e4", "f6", "Qh5", "a6", "Qxe8")
    assert (game.over, termination(game), game.movetext) == (True, "victory_white", "1.e4 f6 2.Qh5 a6 3.Qxe8")


def test_castling_out_of_through_and_into_check_is_legal() -> None:
    game = new_game(fen="4k3/8/8/8/8/4rrr1/8/R3K2R w KQ - 0 1")
    moves = actions(game, Viewer.WHITE).move
    assert moves is not None
    assert {"e1g1", "e1c1"} <= set(moves)
    play(game, "O-O")
    assert game.now.last_move == "e1g1"


@pytest.mark.parametrize(
    ("fen", "texts", "word"),
    [
        ("7k/8/8/p7/P7/8/8/K7 w - - 0 1", ["Kb1", "Kg8", "Ka1", "Kh8"] * 2, "draw_repetition"),
        ("7k/8/8/8/8/8/8/K7 w - - 98 70", ["Kb1", "Kg8"], "draw_fifty_moves"),
        ("7k/8/8/8/8/p7/P7/K7 w - - 0 1", ["Kb1", "Kg8"], "available_move"),
        ("8/8/8/8/8/kp6/1P6/KN6 w - - 0 1", ["Nc3"], "available_move"),
        ("8/8/8/8/8/2k5/8/K7 w - - 0 1", ["Kb1"], "available_move"),
    ],
)
def test_draws_are_automatic_and_bare_kings_play_on(fen: str, texts: list[str], word: str) -> None:
    game = new_game(fen=fen)
    play(game, *texts)
    assert termination(game) == word


def test_side_without_a_move_is_stalemated() -> None:
    game = new_game(fen="KN2k3/PPpP4/P1P5/8/8/8/8/8 b - - 0 1")
    play(game, "Kd8")
    assert (termination(game), game.over) == ("stalemate", True)


def test_game_is_drawn_at_max_moves() -> None:
    game = new_game(max_moves=1)
    play(game, "e4", "e5")
    assert termination(game) == "draw_move_limit"


def test_seat_sees_the_squares_that_its_pieces_reach_but_not_past_a_blocked_pawn() -> None:
    game = new_game(fen="4k3/8/8/3pp3/4P3/8/8/4K3 w - - 0 1")
    state = view(game, Viewer.WHITE)
    assert state["visible"] == ["d1", "e1", "f1", "d2", "e2", "f2", "e4", "d5"]
    assert state["fen"] == "8/8/8/3p4/4P3/8/8/4K3 w - - 0 1"
    assert state["board"][4] == [None, None, None, "bp", None, None, None, None]
    assert state["access_map"][4][3] == [[3, 4]]
    assert state["access_map"][4][4] == []


def test_en_passant_capture_shows_the_pawn_to_the_side_that_may_make_it() -> None:
    game = new_game(fen="4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1")
    play(game, "d5")
    state = view(game, Viewer.WHITE)
    assert (state["passant_file"], state["fen"]) == (3, "8/8/8/3pP3/8/8/8/4K3 w - d6 0 2")
    assert {"d5", "d6"} <= set(state["visible"])
    assert state["access_map"][5][3] == [[4, 4]]
    assert view(game, Viewer.BLACK)["passant_file"] == -1
    play(game, "exd6")
    assert game.now.last_move == "e5d6"


def test_seat_does_not_see_whether_its_own_double_step_can_be_captured() -> None:
    safe, unsafe = (new_game(fen=f"4k3/8/8/8/{rank}/8/4PP2/4K3 w - - 0 1") for rank in ("7p", "3p4"))
    for game in (safe, unsafe):
        play(game, "e4")
    hidden = {"start_fen": None}
    assert view(safe, Viewer.WHITE) | hidden == view(unsafe, Viewer.WHITE) | hidden


def test_spectator_sees_no_square_before_the_end() -> None:
    game = new_game()
    play(game, "e4")
    state = view(game, Viewer.NOBODY)
    assert (state["fen"], state["visible"]) == ("8/8/8/8/8/8/8/8 b - - 0 1", [])
    assert view(game, Viewer.OVERSEER)["fen"].startswith("rnbqkbnr/pppppppp/8/8/4P3/8")
    happen(game, End(chess.WHITE, Cause.RESIGNATION))
    state = view(game, Viewer.NOBODY)
    assert (state["visible"], state["pgn"], state["last_move"]) == (None, "1.e4", "e2e4")


def test_access_map_of_the_full_view_ignores_check() -> None:
    game = new_game(fen="4r2k/8/8/8/8/8/4R3/4K3 w - - 0 1")
    pinned_may_leave = view(game, Viewer.OVERSEER)["access_map"][1][0]
    assert pinned_may_leave == [[1, 4]]


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (Play(chess.BLACK, "e5"), "not_your_turn", "it is white's turn"),
        (Play(chess.WHITE, "e5"), "illegal_move", "move: 'e5' is not among white's move_actions"),
        (Play(chess.WHITE, "0000"), "illegal_move", "move: '0000' is not among white's move_actions"),
        (Play(chess.WHITE, "pawn"), "illegal_move", "move: 'pawn' is not among white's move_actions"),
        (Play(chess.WHITE, "e4", offer_draw=True), "not_available", "offer_draw: dark_chess has no draw offers"),
        (Sense(chess.WHITE, "e4"), "not_available", "kind: sense is for rbc only, not for dark_chess"),
        (End(chess.WHITE, Cause.AGREEMENT), "not_available", "dark_chess has no draws to take or to agree on"),
        (Play(chess.WHITE, "e4", ply=4), "stale", "whose ply_index is 0"),
    ],
)
def test_impossible_command_is_refused_with_a_reason(command: Command, code: str, words: str) -> None:
    got, sentence = refusal(new_game(), command)
    assert (got, words in sentence) == (code, True), sentence


def test_san_that_fits_two_moves_is_ambiguous() -> None:
    game = new_game(fen="4k3/8/8/8/8/8/4K3/R6R w - - 0 1")
    assert refusal(game, Play(chess.WHITE, "Rd1"))[0] == "ambiguous_move"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"position": 5}, "position: 5 does not apply to dark_chess"),
        ({"seed": 5}, "seed: 5 does not apply to dark_chess"),
        ({"illegal_move": "lose"}, "illegal_move: 'lose' does not apply to dark_chess"),
        ({"max_turns": 5}, "max_turns: 5 does not apply to dark_chess"),
        ({"draws": "claimed"}, "draws: 'claimed' does not apply to dark_chess; its draws are automatic"),
        ({"pgn": "1. e4"}, "pgn: no game of dark_chess is made from a PGN"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "is no dark_chess position: no white king, no black king, empty"),
        ({"fen": "nonsense"}, "fen: 'nonsense' cannot be read"),
    ],
)
def test_fields_that_dark_chess_lacks_are_refused(fields: Json, words: str) -> None:
    with pytest.raises(GmError) as refused:
        new_game(**fields)
    assert words in str(refused.value)


def test_game_may_start_with_the_waiting_side_in_check() -> None:
    assert not new_game(fen="4k3/8/8/8/8/8/4R3/4K3 w - - 0 1").over


def test_retried_move_and_ending_are_answered_as_before() -> None:
    game = new_game()
    first = Play(chess.WHITE, "e4", ply=0)
    happen(game, first)
    after = game.now
    play(game, "e5")
    for spelt in ("e4", "e2e4", "e2-e4"):
        assert game.decide(Play(chess.WHITE, spelt, ply=0), 0.0) == Decision([], shown=after)
    assert refusal(game, Play(chess.WHITE, "d4", ply=0))[0] == "stale"
    happen(game, End(chess.BLACK, Cause.RESIGNATION, ply=2))
    assert game.decide(End(chess.BLACK, Cause.RESIGNATION, ply=2), 0.0) == Decision([], shown=game.now)


def test_replay_gives_the_same_game_and_its_pgn_can_be_read() -> None:
    game, texts = new_game(), ["e4", "d5", "exd5", "Qxd5", "Nc3", "Qxd2", "Bxd2", "Kd8", "Ba5"]
    events: list[AnyEvent] = [game.created]
    for text in texts:
        events += happen(game, Play(game.turn, text)).events
    events += happen(game, End(chess.WHITE, Cause.RESIGNATION)).events
    again = replay(0, events)
    assert isinstance(again, DarkGame)
    assert (again.moves, again.now, again.movetext) == (game.moves, game.now, game.movetext)
    made = run_through(history(game))
    assert (made.moves, made.record) == (game.moves, None)
    assert '[Variant "Dark chess"]' in full_pgn(game)
    board = DarkBoard(game.options.fen)
    for word in made.pgn.rpartition("]")[2].split()[:-1]:
        if not word.endswith("."):
            board.push_san(word)
    assert board.fen() == view(game, Viewer.NOBODY)["fen"]


def test_seat_sees_only_its_own_clock() -> None:
    game = new_game(clock="60")
    for seat in chess.COLORS:
        shown = view(game, VIEWER_IN[seat])["clock"]
        assert (shown["white"] is None, shown["black"] is None) == (not seat, seat)
