"""The content of a game's page, without HTTP."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from gm_protocol.errors import BadRequest, NotAvailable
from gm_protocol.state import ClockState, GameState, LastResult, LastSense
from gmd.games.notation import run_through
from gmd.games.rbc_knowledge import Observed
from gmd.http.pages.game_view import MOVES_A_PAGE, GameView, Wanted, pieces_words, view_steps
from gmd.http.pages.looking import Look, Past
from gmd.http.pages.picture_view import picture_steps
from tests.http.pages.recon_games import past_of, random_game

NAMES = {1: "ann", 2: "bob"}
SHUFFLE = ["g1f3", "g8f6", "f3g1", "f6g8"]
SHUFFLED = ["Nf3", "Nf6", "Ng1", "Ng8"]


def state(**fields: Any) -> GameState:
    """Return a state of a game in progress, with some fields changed."""
    usual: dict[str, Any] = {
        "available_castles": 15,
        "passant_file": -1,
        "ply_index": 0,
        "fen": chess.STARTING_FEN,
        "draws": 0,
        "termination": "available_move",
        "in_check": False,
        "game_id": 7,
        "variant": "standard",
        "player_white": 1,
        "player_black": 2,
        "start_fen": chess.STARTING_FEN,
        "turn": "white",
        "phase": "move",
        "result": "*",
        "clock": None,
        "draw_offered": False,
        "last_move": None,
    }
    return GameState(**{**usual, **fields})


def view_of(look: Look, wanted: Wanted = Wanted()) -> GameView:  # noqa: B008
    return run_through(view_steps(look, wanted, NAMES, moves=True))


def shuffle(plies: int, **fields: Any) -> Look:
    """Return a game in which the knights go out and home again."""
    sans = [SHUFFLED[ply % 4] for ply in range(plies)]
    past = Past(" ".join(sans) + " *", [SHUFFLE[ply % 4] for ply in range(plies)])
    return Look(state(ply_index=plies, **fields), None, past)


def test_moves_are_listed_in_pairs_and_the_current_one_is_marked() -> None:
    view = view_of(shuffle(3), Wanted(2))
    (first, second) = view.rows
    assert (first.number, second.number) == (1, 2)
    assert first.white is not None
    assert first.black is not None
    assert second.white is not None
    assert [first.white.san, first.black.san, second.white.san] == ["Nf3", "Nf6", "Ng1"]
    assert [first.white.current, first.black.current, second.white.current] == [False, True, False]
    assert second.black is None
    assert (view.earlier, view.later) == (None, None)


@pytest.mark.parametrize("begins", ["w", "b"])
@pytest.mark.parametrize("plies", [400, 401, 1_201])
def test_pages_of_a_long_list_lead_to_every_move(plies: int, begins: str) -> None:
    start = chess.STARTING_FEN.replace(" w ", f" {begins} ")
    moves = SHUFFLE if begins == "w" else ["g8f6", "g1f3", "f6g8", "f3g1"]
    past = Past(" ".join(["Nf3"] * plies) + " *", [moves[ply % 4] for ply in range(plies)])
    look, ply, seen = Look(state(ply_index=plies, start_fen=start), None, past), 0, list[int]()
    while True:
        view = view_of(look, Wanted(ply))
        assert len(view.rows) <= MOVES_A_PAGE
        seen += [cell.ply for row in view.rows for cell in (row.white, row.black) if cell is not None]
        if view.earlier is not None:
            assert view.earlier in [
                cell.ply
                for row in view_of(look, Wanted(view.earlier)).rows
                for cell in (row.white, row.black)
                if cell is not None
            ]
        if view.later is None:
            break
        ply = view.later
    assert seen == list(range(1, plies + 1))


def test_ply_beyond_the_end_is_refused() -> None:
    with pytest.raises(BadRequest, match="the game has no ply 5 yet; choose 0 to 4"):
        view_of(shuffle(4), Wanted(5))


def test_clock_of_the_side_to_move_runs() -> None:
    sides = view_of(Look(state(clock=ClockState(61.0, 9.5)))).sides
    assert [(side.name, side.seconds, side.running) for side in sides] == [("ann", 61.0, True), ("bob", 9.5, False)]
    over = view_of(Look(state(phase="over", termination="draw_agreed", result="1/2-1/2")))
    assert [side.running for side in over.sides] == [False, False]
    assert over.outcome == "Draw by agreement"
    assert view_of(Look(state(phase="open", player_black=None))).outcome == "Waiting for a player"


def test_captured_pieces_stand_with_the_side_that_captured_them() -> None:
    fen = "rnb1kbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 3"
    white, black = view_of(Look(state(fen=fen))).sides
    assert (white.pieces, white.pieces_words) == ("♛♟", "1 queen, 1 pawn")
    assert (black.pieces, black.pieces_words) == ("♙", "1 pawn")
    assert pieces_words("rrnppp") == "2 rooks, 1 knight, 3 pawns"


# --- Blind games ------------------------------------------------------------------------------------------------------

HIDDEN: dict[str, Any] = {"variant": "rbc", "phase": None, "ply_index": 5}


def test_spectator_of_a_blind_game_sees_nothing_of_it() -> None:
    look = Look(state(**HIDDEN, fen="8/8/8/8/8/8/8/8 w - - 0 3"))
    view = view_of(look)
    assert (view.blind, view.fen, view.rows, view.steps, view.has_past) == (True, "", [], [], False)
    assert [side.pieces for side in view.sides] == ["", ""]
    (board,) = view.boards
    assert (board.source, board.words, board.observed) == (
        "/games/7.svg?size=480",
        "Board: hidden until the game is over",
        [],
    )
    assert run_through(picture_steps(look, 5, None)).unseen == frozenset(chess.SQUARES)


@pytest.mark.parametrize("ply", [0, 4])
def test_earlier_plies_of_a_blind_game_are_refused(ply: int) -> None:
    with pytest.raises(NotAvailable, match="earlier plies are shown once it is over"):
        view_of(Look(state(**HIDDEN)), Wanted(ply))


def test_player_of_a_blind_game_sees_the_own_view_and_what_it_was_told() -> None:
    own = state(
        **{**HIDDEN, "phase": "move", "ply_index": 4},
        fen="8/8/8/8/8/8/PPPP1PPP/RNBQKBNR w KQ - 0 3",
        opponent_capture="d5",
        last_sense=LastSense(4, "e5", [("d5", "bQ"), ("e5", None), ("e4", "wP"), ("d2", "bp")]),
        last_result=LastResult(2, "e4d5", "e4d5", "d5"),
    )
    seen = [Observed("sense", [(chess.D5, chess.Piece.from_symbol("q")), (chess.E5, None), (chess.D2, None)])]
    look = Look(own, chess.WHITE, observed=seen)
    (board,) = view_of(look).boards
    assert board.title == "Your view"
    assert board.observed == [
        "Asked for e4d5: e4d5 was made and captured a piece on d5.",
        "The opponent captured the piece on d5.",
        "Sensed around e5 and saw a queen on d5 and a pawn on d2.",
    ]
    picture = run_through(picture_steps(look, 4, "black"))
    assert picture.placement == "8/8/8/3q4/8/8/PPPPPPPP/RNBQKBNR"  # the own pieces hide nothing of the window
    assert picture.window == {chess.D5, chess.E5, chess.D2}
    assert [side.pieces for side in view_of(look).sides] == ["", "♙"]


def test_finished_blind_game_shows_three_views_or_one() -> None:
    game = random_game(3)
    fields = {"variant": "rbc", "phase": "over", "ply_index": game.ply, "termination": "resignation_white"}
    look = Look(state(**fields), None, past_of(game))
    view = view_of(look, Wanted(6))
    assert [board.title for board in view.boards] == ["The truth", "White’s view", "Black’s view"]
    assert [board.source for board in view.boards] == [
        f"/games/7.svg?ply=6&view={name}&size=360" for name in ("truth", "white", "black")
    ]
    assert [choice.current for choice in view.choices] == [True, False, False, False]
    one = view_of(look, Wanted(6, "black", True))
    assert [(board.title, board.source) for board in one.boards] == [
        ("Black’s view", "/games/7.svg?ply=6&view=black&flip=1&size=480")
    ]
    assert one.flipped == "?ply=6&view=black"


def test_moves_of_a_blind_game_say_what_was_asked_for() -> None:
    game = random_game(3)
    fields = {"variant": "rbc", "phase": "over", "ply_index": game.ply, "termination": "resignation_white"}
    view = view_of(Look(state(**fields), None, past_of(game)))
    cells = [cell for row in view.rows for cell in (row.white, row.black) if cell is not None]
    for cell, turn in zip(cells, game.turns, strict=True):
        asked = turn.requested.uci() if turn.requested is not None and turn.requested != turn.taken else ""
        assert cell.asked == asked
        assert (cell.san == "pass") == (turn.requested is None)
        assert (cell.san == "no move") == (turn.requested is not None and turn.taken is None)
