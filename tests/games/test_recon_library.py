"""The library of reconnaissance blind chess, as the author of a bot uses it."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import chess
import pytest
from chess import BLACK, WHITE, Move, Piece
from reconchess import LocalGame

from gm_client.rbc import simulate_move, simulate_sense
from gm_recon import GameOver, ReconBoard, ReconGame, WinReason, WrongPhase

E2E4 = Move.from_uci("e2e4")


def after(*turns: str, fen: str = chess.STARTING_FEN) -> ReconGame:
    """Return a game after these moves, ``--`` for a pass, with nothing sensed."""
    game = ReconGame(fen)
    for uci in turns:
        game.sense(None)
        game.move(None if uci == "--" else Move.from_uci(uci))
    return game


def test_turn_needs_exactly_one_sense_before_its_move() -> None:
    game = ReconGame()
    assert not game.sensed
    with pytest.raises(WrongPhase, match=r"sense before you move; sense\(None\) passes"):
        game.move(E2E4)
    game.sense(chess.E7)
    assert game.sensed
    with pytest.raises(WrongPhase, match="this turn's sense has been made; move next"):
        game.sense(None)
    game.move(E2E4)
    assert (game.turn, game.sensed, game.ply) == (BLACK, False, 1)


def test_sense_shows_nine_squares_from_the_top_left() -> None:
    def piece(symbol: str) -> Piece:
        return Piece.from_symbol(symbol)

    assert ReconGame().sense(chess.B7) == [
        (chess.A8, piece("r")),
        (chess.B8, piece("n")),
        (chess.C8, piece("b")),
        (chess.A7, piece("p")),
        (chess.B7, piece("p")),
        (chess.C7, piece("p")),
        (chess.A6, None),
        (chess.B6, None),
        (chess.C6, None),
    ]


@pytest.mark.parametrize("square", [-1, 64, 3.5, "e4", b"e4", chess.Move.null()])
def test_what_is_no_square_is_named_and_not_sensed(square: Any) -> None:
    game = ReconGame()
    reason = f"square: {square!r} is not a square: use 0 (a1) to 63 (h8); chess.parse_square makes one of a name"
    for sense in (game.sense, game.board.window, partial(simulate_sense, game.board.as_chess())):
        with pytest.raises(ValueError, match=re.escape(reason)):
            sense(square)
    assert not game.sensed


@pytest.mark.parametrize("requested", ["e2e4", "e4", 12, (12, 28)])
def test_what_is_no_move_is_named_and_not_made(requested: Any) -> None:
    game = ReconGame()
    game.sense(None)
    reason = f"requested: {requested!r} is not a chess.Move; chess.Move.from_uci makes one of a text"
    for move in (game.move, game.board.revise, partial(simulate_move, game.board.as_chess())):
        with pytest.raises(ValueError, match=re.escape(reason)):
            move(requested)
    assert (game.sensed, game.ply) == (True, 0)


def test_refused_move_changes_nothing() -> None:
    game = ReconGame()
    game.sense(None)
    with pytest.raises(ValueError, match="e2e5 is not among the move actions"):
        game.move(Move.from_uci("e2e5"))
    assert (game.turn, game.sensed, game.ply, game.board.fen()) == (WHITE, True, 0, chess.STARTING_FEN)


def test_king_capture_wins_the_game() -> None:
    game = after("e2e4", "f7f6", "d1h5", "--", "h5e8")
    assert game.is_over()
    assert (game.winner, game.win_reason) == (WHITE, WinReason.KING_CAPTURE)
    with pytest.raises(GameOver, match="the game is over: KING_CAPTURE"):
        game.sense(None)
    with pytest.raises(GameOver, match="the game is over: KING_CAPTURE"):
        game.move(None)
    with pytest.raises(GameOver, match="the game is over: KING_CAPTURE"):
        game.resign()


@pytest.mark.parametrize("color", [WHITE, BLACK, None])
def test_either_side_can_resign_or_lose_on_time_and_by_default_the_one_to_move(color: bool | None) -> None:
    loser = BLACK if color is None else color
    local = LocalGame()
    local.start()
    local.seconds_left_by_color[loser] = 0
    local.end()
    game = after("e2e4")
    game.resign(color)
    assert (game.winner, game.win_reason) == (not loser, WinReason.RESIGN)
    game = after("e2e4")
    game.lose_on_time(color)
    assert (game.winner, game.win_reason) == (local.get_winner_color(), WinReason[local.get_win_reason().name])


def test_caller_can_end_a_game_by_its_own_rule() -> None:
    game = ReconGame()
    game.end(None, WinReason.TURN_LIMIT)
    assert (game.is_over(), game.winner, game.win_reason) == (True, None, WinReason.TURN_LIMIT)


def pickled(game: ReconGame) -> ReconGame:
    """Return a game that was pickled and unpickled, as for another process."""
    again = pickle.loads(pickle.dumps(game))
    assert isinstance(again, ReconGame)
    return again


def test_games_with_the_same_actions_are_equal() -> None:
    one, other = after("e2e4", "d7d5"), after("e2e4", "d7d5")
    assert one == other == one.copy()
    one.sense(chess.D5)
    assert one != other
    other.sense(chess.D4)
    assert one != other
    for game in (one, other):
        game.move(None)
    assert one != other  # the position is the same, but the record differs
    assert one.board == other.board
    assert ReconGame() != ReconGame(max_turns=5)
    assert ReconGame() != ReconGame(reversible_moves=5)
    assert ReconGame() != chess.STARTING_FEN
    one.resign()
    other.lose_on_time()
    assert one != other


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 1 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 2",
        "r3k2r/8/8/8/4P3/8/8/R3K2R b KQkq - 0 1",
        "r3k2r/8/8/8/4P3/8/8/R3K2R b KQkq e3 0 1",
    ],
)
def test_positions_with_equal_fens_are_equal(fen: str) -> None:
    start = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert ReconBoard(fen) == ReconBoard(fen) != ReconBoard(start) == ReconBoard(start)
    assert ReconBoard(fen) != fen
    assert not isinstance(ReconBoard(fen), Hashable)
    assert not isinstance(ReconGame(fen), Hashable)


def test_repr_describes_positions_and_games() -> None:
    game = after("e2e4")
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
    assert eval(repr(game.board)) == game.board
    assert repr(game) == f"<ReconGame '{fen}', ply 1: Black to sense>"
    game.resign()
    assert repr(game) == f"<ReconGame '{fen}', ply 1: White won, RESIGN>"


def test_own_board_shows_only_the_pieces_of_the_player() -> None:
    board = after("e2e4", "d7d5", "e4d5").board
    assert board.own_board(WHITE).fen() == "8/8/8/3P4/8/8/PPPP1PPP/RNBQKBNR b KQ - 0 2"
    assert board.own_board(BLACK).fen() == "rnbqkbnr/ppp1pppp/8/8/8/8/8/8 b kq - 0 2"


@pytest.mark.parametrize("copied", [ReconGame.copy, copy.copy, copy.deepcopy, pickled])
def test_copies_are_independent(copied: Callable[[ReconGame], ReconGame]) -> None:
    game = after("e2e4", "d7d5")
    game.sense(chess.D5)
    other = copied(game)
    assert other.sensed
    assert other.move(Move.from_uci("e4d5")) == (Move.from_uci("e4d5"), Move.from_uci("e4d5"), chess.D5)
    assert other.history().fens()[:-1] == game.history().fens()
    game.move(None)
    assert (game.ply, other.ply, game.board.fen()) == (3, 3, after("e2e4", "d7d5", "--").board.fen())


def test_returned_lists_belong_to_the_caller() -> None:
    game = ReconGame()
    first = game.history()
    squares, moves = game.sense_actions(), game.move_actions()
    squares.clear()
    moves.clear()
    assert len(game.sense_actions()) == 64
    assert len(game.move_actions()) == 34
    seen = game.sense(chess.E4)
    seen.clear()
    game.move(None)
    assert first.turns == []
    assert len(next(game.history().replay()).sense_result) == 9
