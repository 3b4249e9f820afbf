"""Blind chess in the terminal: the player's knowledge, input, messages, drawing, and whole games."""

from __future__ import annotations

import io
import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import chess
import pytest
from chess import Board, Move, Piece, SquareSet
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gm_arena.board_drawing import Palette
from gm_bots.minimax.play.prompt import NotUnderstood, Word
from gm_bots.play.blind import words
from gm_bots.play.blind.memory import Memory, Trace
from gm_bots.play.blind.prompt import PASS, WORDS, listed, read_move, read_sense
from gm_bots.play.blind.view import Scene, draw, suspected
from gm_bots.play.command import play
from gm_client.rbc import possible_moves, simulate_sense
from gm_recon import ReconGame, read_json
from tests.terminal import Terminal, plain
from tests.tools import require_module

START = Board()


def own(board: Board, color: chess.Color) -> Board:
    shown = board.copy(stack=False)
    for square in chess.scan_forward(board.occupied_co[not color]):
        shown.remove_piece_at(square)
    return shown


def beginning(board: Board = START, color: chess.Color = chess.WHITE) -> Memory:
    """Return a memory in the player's first turn."""
    memory = Memory(board, color)
    memory.turn_begins(own(board, color), None)
    return memory


def ask(memory: Memory, requested: str, taken: str | None, capture: str | None = None) -> None:
    memory.moved(
        Move.from_uci(requested),
        None if taken is None else Move.from_uci(taken),
        None if capture is None else chess.parse_square(capture),
    )


# The player's knowledge.


def test_start_position_is_known_before_the_opponent_has_moved_and_one_turn_old_after() -> None:
    white, black = beginning(color=chess.WHITE), beginning(color=chess.BLACK)
    assert white.traces[chess.E8] == Trace(Piece.from_symbol("k"), 1)
    assert (white.turn, len(white.traces), white.theirs) == (1, 16, 16)
    assert black.traces[chess.E1] == Trace(Piece.from_symbol("K"), 0)


def test_sense_replaces_the_suspected_pieces_in_its_window() -> None:
    memory, true = beginning(), START.copy()
    true.push_san("e4")
    true.push_san("Nf6")
    memory.saw(simulate_sense(true, chess.G7))
    assert memory.traces[chess.F6] == Trace(Piece.from_symbol("n"), 1)
    assert chess.G8 not in memory.traces
    assert chess.B8 in memory.traces
    assert memory.seen == SquareSet(chess.BB_KING_ATTACKS[chess.G7] | chess.BB_G7)


@pytest.mark.parametrize(
    ("piece", "seen_on", "still_on"),
    [
        ("k", "c5", ["c5"]),
        ("q", "d4", ["d4"]),
        ("b", "f5", ["f5", "f8"]),  # the one of the light squares
        ("n", "f6", ["b8", "f6", "g8"]),  # the player cannot know which of the two has moved
        ("p", "e5", ["a7", "b7", "c7", "d7", "e5", "e7", "f7", "g7", "h7"]),
    ],
)
def test_piece_that_appears_has_left_its_old_square_if_it_can_be_no_other(
    piece: str, seen_on: str, still_on: list[str]
) -> None:
    memory = beginning()
    memory.saw([(chess.parse_square(seen_on), Piece.from_symbol(piece))])
    squares = [square for square, trace in memory.traces.items() if trace.piece == Piece.from_symbol(piece)]
    assert sorted(map(chess.square_name, squares)) == still_on


def test_capture_is_by_an_unknown_piece_and_may_have_been_en_passant() -> None:
    memory = beginning()
    ask(memory, "e2e4", "e2e4")
    memory.turn_begins(own(Board("8/8/8/8/8/8/PPPP1PPP/RNBQKBNR w KQ - 0 2"), chess.WHITE), chess.E4)
    assert memory.traces[chess.E4] == memory.traces[chess.E3] == Trace(None, 2)
    assert memory.lost_on == chess.E4


@pytest.mark.parametrize(
    ("requested", "taken", "suspected_on"), [("e2e4", "e2e3", "e4"), ("e2e4", None, "e3"), ("e2e3", None, "e3")]
)
def test_something_blocks_a_pawn_that_does_not_reach_its_square(
    requested: str, taken: str | None, suspected_on: str
) -> None:
    memory = beginning()
    ask(memory, requested, taken)
    unknown = [chess.square_name(square) for square, trace in memory.traces.items() if trace.piece is None]
    assert unknown == [suspected_on]


def test_failed_pawn_capture_shows_an_empty_square() -> None:
    memory = beginning(Board("rnbqkbnr/pppp1ppp/8/8/8/4p3/PPPPPPPP/RNBQKBNR w KQkq - 0 1"))
    ask(memory, "d2e3", None)
    assert chess.E3 not in memory.traces


def test_squares_a_move_crossed_are_empty_and_the_captured_piece_is_gone() -> None:
    memory = beginning(Board("4k3/p7/8/n7/8/8/8/R3K3 w Q - 0 1"))
    ask(memory, "a1a8", "a1a7", "a7")
    assert set(memory.traces) == {chess.E8}
    assert memory.theirs == 2


@given(st.integers(0, 10_000), st.sampled_from(chess.COLORS))
def test_own_pieces_and_the_number_of_the_opponents_are_always_right(seed: int, color: chess.Color) -> None:
    """What a sense has just shown is right as well; no trace is on a square of the player's own pieces."""
    rng, game = random.Random(seed), ReconGame(max_turns=15)
    memory = Memory(START, color)
    while not game.is_over():
        square, mine = rng.choice(game.sense_actions()), game.turn == color
        if mine:
            memory.turn_begins(game.board.own_board(color), game.opponent_capture)
        cells = game.sense(square)
        if mine:
            memory.saw(cells)
            assert {at: trace.piece for at, trace in memory.traces.items() if at in memory.seen} == {
                at: piece for at, piece in cells if piece is not None and piece.color != color
            }
        requested, taken, capture = game.move(rng.choice([*game.move_actions(), None]))
        if mine:
            memory.moved(requested, taken, capture)
            assert memory.own.board_fen() == game.board.own_board(color).board_fen()
            assert memory.theirs == chess.popcount(game.board.occupied_by(not color))
            assert not SquareSet(memory.traces) & memory.own.occupied_co[color]


# The messages.


@pytest.mark.parametrize(
    ("fen", "requested", "taken", "capture", "sentence"),
    [
        (chess.STARTING_FEN, None, None, None, "You pass."),
        (chess.STARTING_FEN, "g1f3", "g1f3", None, "Your knight moves g1f3."),
        (chess.STARTING_FEN, "g1f3", "g1f3", "f3", "Your knight moves g1f3 and captures on f3."),
        (chess.STARTING_FEN, "e2e4", "e2e3", None,
         "You ask for e2e4: your pawn gets as far as e3: something stands on e4."),
        (chess.STARTING_FEN, "e2e4", None, None, "You ask for e2e4: nothing moves, something stands on e3."),
        (chess.STARTING_FEN, "e2d3", None, None, "You ask for e2d3: nothing moves, there is nothing to capture on d3."),
        ("8/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "e1g1", None, "You castle: e1g1."),
        ("8/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", None, None,
         "You ask for e1g1: nothing moves, something stands between king and rook."),
        ("8/8/8/8/8/8/8/R3K2R w KQ - 0 1", "a1a8", "a1a5", "a5",
         "You ask for a1a8: your rook gets as far as a5 and captures on a5."),
        ("8/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", "a7a8q", None, "Your pawn moves a7a8 and becomes a queen."),
    ],
)  # fmt: skip
def test_result_of_a_move_is_described(
    fen: str, requested: str | None, taken: str | None, capture: str | None, sentence: str
) -> None:
    requested_move, taken_move = (None if uci is None else Move.from_uci(uci) for uci in (requested, taken))
    square = None if capture is None else chess.parse_square(capture)
    assert words.of_move(own(Board(fen), chess.WHITE), requested_move, taken_move, square) == sentence


def test_senses_captures_and_ends_are_described() -> None:
    seen = simulate_sense(START, chess.E7)
    assert words.of_sense(chess.E7, seen, chess.WHITE) == (
        "You sense e7: king e8, queen d8, bishop f8, pawns d7 e7 f7."
    )
    assert words.of_sense(chess.E7, seen, chess.BLACK) == "You sense e7: nothing of your opponent."
    assert words.of_sense(None, [], chess.WHITE) == "You sense nothing."
    assert words.of_opponent(START, chess.D1) == "Your opponent captures your queen on d1."
    assert words.of_opponent(START, None) == "Your opponent captures nothing."
    assert words.of_end("1-0", "victory_white") == "White wins: 1-0, the king is captured"
    assert words.of_end("0-1", "resignation_white") == "Black wins: 0-1, White resigned"
    assert words.of_end("1/2-1/2", "draw_fifty_moves") == "Draw: 1/2-1/2, fifty moves"


# The input.


@pytest.mark.parametrize(
    ("text", "uci"),
    [("e2e4", "e2e4"), ("e2 e4", "e2e4"), ("E2-E4", "e2e4"), ("e4", "e2e4"), ("Nf3", "g1f3"), ("nf3", "g1f3"),
     ("exd3", "e2d3"), ("ed3", "e2d3"), ("Ng1f3", "g1f3"), ("e2xd3", "e2d3")],
)  # fmt: skip
def test_move_may_be_typed_in_many_ways(text: str, uci: str) -> None:
    board = own(START, chess.WHITE)
    assert read_move(text, board, possible_moves(board)) == Move.from_uci(uci)


@pytest.mark.parametrize(
    ("text", "uci"),
    [("O-O", "e1g1"), ("0-0-0", "e1c1"), ("o-o", "e1g1"), ("a8=N", "a7a8n"), ("a8", "a7a8q"), ("a7a8", "a7a8q"),
     ("a7a8=r", "a7a8r"), ("axb8", "a7b8q"), ("bc4", "f1c4"), ("Bc4", "f1c4")],
)  # fmt: skip
def test_special_moves_may_be_typed(text: str, uci: str) -> None:
    board = Board("8/P7/8/8/8/8/8/R3KB1R w KQ - 0 1") if "c4" in text else Board("8/P7/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert read_move(text, board, possible_moves(board)) == Move.from_uci(uci)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Type a move to ask for, such as e2e4, Nf3 or exd5, or 'help'."),
        ("e5", "e5 is not a move that your pieces could make; 'moves' lists those."),
        ("e2e5", "e2e5 is not a move that your pieces could make; 'moves' lists those."),
        ("castle", "'castle' is neither a move nor a command; 'help' shows the commands."),
        ("Nd2", "Nd2 could be more than one move: b1d2, f3d2."),
    ],
)
def test_unreadable_input_is_explained(text: str, complaint: str) -> None:
    board = Board("8/8/8/8/8/5N2/PPP1PPPP/RNBQKB1R w KQ - 0 1")
    with pytest.raises(NotUnderstood) as refused:
        read_move(text, board, possible_moves(board))
    assert str(refused.value) == complaint


def test_every_requestable_move_can_be_typed_as_uci() -> None:
    board = Board("8/P6P/8/8/8/5N2/1PP1PP2/R3KB1R w KQ - 0 1")
    actions = possible_moves(board)
    queening = {Move.from_uci(uci): Move.from_uci(f"{uci}q") for uci in ("a7b8", "h7g8")}
    assert set(queening) < set(actions), "reconchess has captures on the last rank that name no piece"
    assert [read_move(move.uci(), board, actions) for move in actions] == [queening.get(move, move) for move in actions]


def test_senses_and_words_are_read() -> None:
    board = own(START, chess.WHITE)
    assert read_sense(" E5 ") == chess.E5
    assert read_sense("pass") == read_move("--", board, []) == PASS
    assert [read_sense(text) for text in ("?", "Q", "new black")] == [Word("help"), Word("quit"), Word("new", "black")]
    assert listed(board, possible_moves(board), "g1") == "You may ask for: knight g1: e2 f3 h3".replace(" e2", "")
    assert listed(board, possible_moves(board), "a1") == "Nothing can move from a1."
    for text, complaint in (("", "Type the square to sense around, such as e5"), ("z9", "'z9' is neither a square")):
        with pytest.raises(NotUnderstood, match=complaint):
            read_sense(text)
    with pytest.raises(NotUnderstood, match="'z9' is not a square"):
        listed(board, [], "z9")


# The drawing.


def drawn(memory: Memory, palette: Palette | None = None, *, width: int = 80) -> list[str]:
    scene = Scene("title", suspected(memory, palette), ["1. You sense e7: nothing.", "You pass."], chess.WHITE)
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(draw(scene, palette, width=width))
    return [line.rstrip() for line in console.export_text().splitlines()]


def later(memory: Memory, turns: int) -> Memory:
    for _ in range(turns):
        memory.turn_begins(memory.own, None)
    return memory


def test_suspected_pieces_have_their_age_and_seen_squares_a_dot() -> None:
    memory = later(beginning(), 3)
    memory.saw(simulate_sense(START, chess.B6))
    memory.traces[chess.H5] = Trace(None, memory.turn)
    assert drawn(memory)[:6] == [
        "title",
        "8  r3 n3 b3 q3 k3 b3 n3 r3   1. You sense e7: nothing.",
        "7  p  p  p  p3 p3 p3 p3 p3      You pass.",
        "6  ·  ·  ·",
        "5  ·  ·  ·              ?",
        "4",
    ]


def test_narrow_terminal_has_the_story_below_a_whole_board() -> None:
    lines = drawn(beginning(), width=30)
    assert [line[:2].strip() for line in lines[1:9]] == [str(rank) for rank in range(8, 0, -1)]
    assert lines[9].split() == list("abcdefgh")
    assert lines[10:12] == ["1. You sense e7: nothing.", "   You pass."]


# Whole games, at a terminal.


@contextmanager
def playing(*arguments: str, cwd: Path | None = None) -> Iterator[Terminal]:
    with Terminal("play", *arguments, cwd=None if cwd is None else str(cwd)) as terminal:
        yield terminal
    assert terminal.status == 0


def answered(terminal: Terminal, typed: str, until: str) -> str:
    terminal.type(typed)
    return plain(terminal.until(until))


SENSE, MOVE, END = "Sense around: ", "Your move: ", "anything else leaves. "


@pytest.mark.slow
def test_game_against_random_is_resigned_saved_and_replayed(tmp_path: Path) -> None:
    with playing("random", "--variant", "rbc", "--seed", "3", cwd=tmp_path) as terminal:
        shown = terminal.until(SENSE)
        assert "Turn 1: sense. You are White, with 16 pieces; random has 16." in plain(shown)
        assert "You are White, against random." in plain(shown)
        assert "\x1b[H" in shown, "the board is drawn in place"
        assert "48;2;" in shown or "48;5;" in shown, "squares have colours"
        assert "1. You sense e7: king e8, queen d8, bishop f8," in answered(terminal, "e7", MOVE)
        assert "You may ask for: pawn e2: d3 e3 e4 f3" in answered(terminal, "moves e2", MOVE)
        assert "'foo' is neither a move nor a command" in answered(terminal, "foo", MOVE)
        shown = answered(terminal, "e4", SENSE)
        assert "Your pawn moves e2e4." in shown
        assert "Turn 2: sense." in shown
        assert "♜¹ ♞¹ ♝¹" in shown
        shown = answered(terminal, "help", SENSE)
        assert "You do not see grey squares." in shown
        assert all(re.search(rf"^  {name} ", shown, re.MULTILINE) for name in WORDS)
        assert re.search(r"^1 .*^8 ", answered(terminal, "flip", SENSE), re.MULTILINE | re.DOTALL)
        shown = answered(terminal, "resign", END)
        assert "Black wins: 0-1, White resigned" in shown
        assert "This is the true position." in shown
        shown = answered(terminal, "save game.json", END)
        assert "The game is in game.json. To step through it: gmd replay game.json" in shown
        assert "game.json cannot be written: File exists." in answered(terminal, "save game.json", END)
        terminal.type("")
    saved = read_json((tmp_path / "game.json").read_text())
    assert (saved.white, saved.black, saved.history.turns[0].requested) == ("you", "random", Move.from_uci("e2e4"))
    with Terminal("replay", "game.json", cwd=str(tmp_path)) as terminal:
        assert "1. White senses e7" in answered(terminal, "", "1. White senses e7")
        terminal.type("q")
    assert terminal.status == 0


@pytest.mark.slow
def test_king_is_captured_wherever_it_goes() -> None:
    """The rook gives check; rook or king captures the king wherever it then is."""
    with playing("random", "--variant", "rbc", "--fen", "k7/8/1K6/8/8/8/8/7R w - - 0 1") as terminal:
        terminal.until(SENSE)
        assert "king a8" in answered(terminal, "b7", MOVE)
        answered(terminal, "Rh8", SENSE)
        seen = re.findall(r"You sense b7: king (\w\d)", answered(terminal, "b7", MOVE))
        source = "h8" if seen[-1] in ("a8", "b8", "c8") else "b6"
        shown = answered(terminal, f"{source}{seen[-1]}", END)
        assert "White wins: 1-0, the king is captured" in shown
        assert f"You capture your opponent's king on {seen[-1]}" in " ".join(shown.split())
        terminal.type("")


@pytest.mark.slow
def test_new_begins_a_game_during_and_after_another() -> None:
    with playing("random", "--variant", "rbc") as terminal:
        terminal.until(SENSE)
        answered(terminal, "e7", MOVE)
        shown = answered(terminal, "new black", SENSE)
        assert "Turn 1: sense. You are Black, with 16 pieces; random has 16." in shown
        assert "'green' is neither white nor black." in answered(terminal, "new green", SENSE)
        answered(terminal, "resign", END)
        assert "You are Black" in answered(terminal, "new black", SENSE)
        answered(terminal, "pass", MOVE)
        assert "Turn 2: sense. You are Black" in answered(terminal, "pass", SENSE)
        assert "You left the game." in answered(terminal, "quit", "You left the game.")


def need_what_it_plays_with(bot: str) -> None:
    if bot.startswith("recon-zero"):
        require_module("numba")


@pytest.mark.parametrize(
    "arguments",
    [
        ("minimax:depth=1", "--variant", "rbc"),
        pytest.param(("minimax", "--variant", "rbc", "--level", "beginner"), marks=pytest.mark.slow),
        pytest.param(("recon-zero:checkpoint=none,simulations=5,determinisations=2",), marks=pytest.mark.slow),
        pytest.param(("reconchess:reconchess.bots.random_bot",), marks=pytest.mark.slow),
    ],
)
def test_installed_and_other_bots_play(arguments: tuple[str, ...]) -> None:
    need_what_it_plays_with(arguments[0])
    done = CliRunner().invoke(play, [*arguments, "--color", "black"], input="e2\npass\nquit\n")
    assert done.exit_code == 0, done.output
    for text in ("Turn 1: sense. You are Black", "Turn 2: sense. You are Black", "You left the game."):
        assert text in done.output


@pytest.mark.slow
def test_bot_that_fails_is_reported_and_loses(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(
        "from reconchess.bots.random_bot import RandomBot as Base\n"
        "class Failing(Base):\n"
        "    def choose_sense(self, *_):\n"
        "        raise RuntimeError('out of ideas')\n"
        "def get_player():\n"
        "    return Failing\n"
    )
    done = CliRunner().invoke(play, [f"reconchess:{tmp_path / 'failing.py'}", "--color", "black"])
    shown = " ".join(done.output.split())
    assert "Black wins: 0-1, White resigned" in shown
    assert "RuntimeError: out of ideas" in shown


@pytest.mark.slow
def test_interrupt_during_a_prompt_leaves_the_game() -> None:
    with playing("random", "--variant", "rbc") as terminal:
        terminal.until(SENSE)
        terminal.interrupt_until("You left the game.")


def test_end_of_the_input_leaves_the_game() -> None:
    done = CliRunner().invoke(play, ["random", "--variant", "rbc"], input="e7\ne4\n")
    assert done.exit_code == 0
    assert done.output.endswith("You left the game.\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["random"], "random: to play chess, give minimax, with --level instead of options; for blind chess: "
                     "gmd play random --variant rbc"),
        (["minimax:depth=2"], "for blind chess: gmd play minimax:depth=2 --variant rbc"),
        (["uci:stockfish", "--variant", "rbc"], "uci:stockfish plays chess960, crazyhouse, standard, and not rbc"),
        (["random", "--variant", "rbc", "--level", "club"], "--level applies only to minimax without options"),
        (["reconchess:bot.py", "--seed", "1"], "--seed applies only to installed bots, and reconchess:bot.py is"),
        (["fritz"], "'fritz' is not a bot"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_reported(arguments: list[str], complaint: str) -> None:
    done = CliRunner().invoke(play, arguments)
    assert (done.exit_code, complaint in done.output) == (2, True), done.output


@pytest.mark.slow
def test_recon_zero_without_pytorch_names_the_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    need_what_it_plays_with("recon-zero")
    monkeypatch.setitem(sys.modules, "torch", None)  # makes its import fail
    done = CliRunner().invoke(play, ["recon-zero"])
    assert done.exit_code == 2
    assert "recon-zero reads checkpoints with torch, which is not installed: " in done.output
    assert "[train]" in done.output


@pytest.mark.slow
def test_bot_that_does_not_start_ends_the_command() -> None:
    done = CliRunner().invoke(play, ["reconchess:no_such_module_anywhere"])
    assert done.exit_code == 1
    assert "Error: reconchess:no_such_module_anywhere: " in done.output
