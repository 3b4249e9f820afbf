"""A game in the terminal: the input, the drawing, and the end."""

from __future__ import annotations

import io

import chess
import pytest
from rich.console import Console

from gm_bots.minimax.play.game import Game
from gm_bots.minimax.play.levels import LEVELS
from gm_bots.minimax.play.prompt import NotUnderstood, Word, legal, read
from gm_bots.minimax.play.terminal import draw
from tests.cli.commands import gmd
from tests.terminal import Terminal

BEGINNER = LEVELS["beginner"]


def play(*lines: str, arguments: tuple[str, ...] = ()) -> list[str]:
    """Return what is printed on a pipe when these lines are typed; a seed makes every game the same."""
    typed = "".join(f"{line}\n" for line in lines)
    done = gmd("play", "--level", "novice", "--seed", "1", *arguments, input=typed)
    assert (done.status, done.err) == (0, "")
    return [line.rstrip() for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("text", "uci"),
    [
        ("e4", "e2e4"),
        ("Nf3", "g1f3"),
        ("nf3", "g1f3"),
        ("g1f3", "g1f3"),
        ("g1 f3", "g1f3"),
        ("G1-F3", "g1f3"),
        (" e2  e4 ", "e2e4"),
    ],
)
def test_move_may_be_typed_in_many_ways(text: str, uci: str) -> None:
    assert read(text, chess.Board()) == chess.Move.from_uci(uci)


@pytest.mark.parametrize(
    ("text", "uci"),
    [("O-O", "e1g1"), ("0-0-0", "e1c1"), ("e1g1", "e1g1"), ("a8=N", "a7a8n"), ("a7a8", "a7a8q"), ("a7 a8 r", "a7a8r"),
     ("exd6", "e5d6"), ("e5xd6", "e5d6")],
)  # fmt: skip
def test_special_moves_may_be_typed(text: str, uci: str) -> None:
    board = chess.Board("6k1/P7/8/3pP3/8/8/8/R3K2R w KQ d6 0 1")
    assert read(text, board) == chess.Move.from_uci(uci)


@pytest.mark.parametrize(
    ("text", "fen", "complaint"),
    [
        ("", chess.STARTING_FEN, "Type a move, such as e4 or e2e4, or 'help'."),
        ("e5", chess.STARTING_FEN, "e5 is not legal here."),
        ("e2e5", chess.STARTING_FEN, "e2e5 is not legal here."),
        ("castle", chess.STARTING_FEN, "'castle' is neither a move nor a command; 'help' shows the commands."),
        ("a7a8k", "6k1/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8k is not legal here."),
        ("Rd1", "4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "Rd1 could be more than one move: Rad1, Rhd1."),
        ("a1a2", "4k3/8/8/8/8/8/4r3/R3K3 w - - 0 1", "a1a2 is not legal here: you are in check."),
        ("Ra2", "4k3/8/8/8/8/8/4r3/R3K3 w - - 0 1", "Ra2 is not legal here: you are in check."),
    ],
)
def test_unreadable_input_is_explained(text: str, fen: str, complaint: str) -> None:
    with pytest.raises(NotUnderstood) as refused:
        read(text, chess.Board(fen))
    assert str(refused.value) == complaint


def test_words_are_read() -> None:
    board = chess.Board()
    assert read("moves e2", board) == Word("moves", "e2")
    assert [read(text, board) for text in ("?", "Q", "undo")] == [Word("help"), Word("quit"), Word("undo")]
    assert legal(board, "g1") == ["Nf3", "Nh3"]
    with pytest.raises(NotUnderstood, match="'z9' is not a square"):
        legal(board, "z9")


def test_game_is_played_on_a_pipe() -> None:
    lines = play("e2 e4", "moves g1", "hint", "foo", "undo", "undo", "resign")
    assert lines[1].split()[:9] == ["8", *"rnbqkbnr"]
    assert "Legal: Ne2, Nf3, Nh3" in "\n".join(lines)
    assert any(line.startswith("Hint: ") for line in lines)
    assert "'foo' is neither a move nor a command; 'help' shows the commands." in lines
    assert "Your last move is taken back." in lines
    assert "You have made no move yet." in lines
    assert lines[-1] == "Black wins: 0-1, White resigned"


def test_new_begins_a_game_during_another() -> None:
    lines = play("e2 e4", "new", "e2 e4", "new black", "new green", "quit")
    starts = [number for number, line in enumerate(lines) if line[:2] == "8 "]
    boards = [[rank.split()[:9] for rank in lines[start : start + 8]] for start in starts]
    first, moved, _, again = boards[:4]
    assert again == first != moved
    begun = [line.split(".")[0] for line in lines if line.startswith("You are ")]
    assert begun == ["You are White", "You are White", "You are Black"]
    assert "'green' is neither white nor black." in lines
    assert lines[-1] == "You left the game."


@pytest.mark.slow
def test_new_begins_another_game_after_the_end() -> None:
    with Terminal("play", "--fen", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1") as terminal:
        terminal.until("Your move: ")
        terminal.type("Ra8")
        assert "White wins: 1-0, checkmate" in terminal.until("anything else leaves. ")
        terminal.type("new")
        assert "White to move" in terminal.until("Your move: ")
        terminal.type("Ra8")
        terminal.until("anything else leaves. ")
        terminal.type("")
    assert terminal.status == 0


def test_mate_is_announced() -> None:
    lines = play("Ra8", arguments=("--fen", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"))
    assert lines[-1] == "White wins: 1-0, checkmate"


def test_check_is_announced_and_black_sees_the_board_from_its_side() -> None:
    lines = play("quit", arguments=("--color", "black", "--fen", "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1"))
    assert lines[1].split()[0] == "1"
    assert lines[9].split() == list("hgfedcba")
    assert "Black to move, in check" in lines
    assert lines[-1] == "You left the game."


def test_end_of_the_input_leaves_the_game() -> None:
    assert play()[-1] == "You left the game."


def test_engine_begins_when_the_player_is_black() -> None:
    lines = play("quit", arguments=("--color", "black"))
    assert any(line.startswith("The engine plays ") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--fen", "nonsense"), "Invalid value for '--fen': "),
        (("--fen", "8/8/8/8/8/8/8/4K3 w - - 0 1"), "is not a legal position of chess"),
        (("--level", "god"), "Invalid value for '--level'"),
    ],
)
def test_wrong_arguments_are_reported(arguments: tuple[str, ...], complaint: str) -> None:
    done = gmd("play", *arguments)
    assert done.status == 2
    assert complaint in done.err


@pytest.mark.parametrize("former", [("recon-zero",), ("random", "--variant", "rbc"), ("minimax", "--variant", "rbc")])
def test_blind_chess_is_said_to_be_played_in_the_browser(former: tuple[str, ...]) -> None:
    done = gmd("play", *former)
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("Error: gmd play is chess against minimax; play blind chess in the browser")


# The game behind the display.


def test_undo_takes_back_the_answer_too() -> None:
    game = Game(chess.WHITE, BEGINNER)
    assert not game.undo()
    game.move(chess.Move.from_uci("e2e4"))
    game.engine_moves()
    assert game.undo()
    assert game.board == chess.Board()


def test_engine_agrees_to_a_draw_only_when_it_is_not_ahead() -> None:
    behind = "4k3/8/8/8/8/8/8/R3K3 w - - 0 40"
    assert Game(chess.WHITE, BEGINNER, chess.Board(behind)).offer_draw()
    assert not Game(chess.BLACK, BEGINNER, chess.Board(behind.replace(" w ", " b "))).offer_draw()
    assert not Game(chess.WHITE, BEGINNER).offer_draw()


def test_claimable_draws_are_claimed() -> None:
    game = Game(chess.WHITE, BEGINNER)
    for _ in range(2):
        for uci in ("g1f3", "g8f6", "f3g1", "f6g8"):
            game.move(chess.Move.from_uci(uci))
    assert game.result == ("1/2-1/2", "the position was there three times")


def test_narrow_terminal_has_the_moves_below_a_whole_board() -> None:
    game = Game(chess.WHITE, BEGINNER)
    for san in ("e4", "e5", "Nf3", "Nc6"):
        game.move(game.board.parse_san(san))
    console = Console(width=30, file=io.StringIO(), record=True)
    console.print(draw(game, width=30))
    lines = console.export_text().splitlines()
    assert [line[:2] for line in lines[1:9]] == [f"{rank} " for rank in range(8, 0, -1)]
    assert lines[9].split() == list("abcdefgh")
    assert "1.  e4   e5" in lines[10]
    assert "2.  Nf3  Nc6" in lines[11]


@pytest.mark.slow
def test_terminal_is_drawn_in_place() -> None:
    """On a pseudo-terminal the screen is cleared before each board, and squares have colours."""
    with Terminal("play", "--level", "novice", "--seed", "1") as terminal:
        shown = terminal.until("Your move: ")
        terminal.type("e4")
        shown += terminal.until("Your move: ")
        terminal.type("quit")
        shown += terminal.until("You left the game.")
    assert terminal.status == 0
    assert shown.count("\x1b[H") >= 3
    assert "♟" in shown
    assert "\x1b[" in shown
