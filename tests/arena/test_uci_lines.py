"""UCI without an engine: the meaning of lines, and what is written."""

from __future__ import annotations

import chess
import chess.engine
import pytest
from chess.engine import Option

from gm_arena.uci import (
    BadOption,
    Identity,
    go,
    milliseconds,
    parsed_score,
    position,
    read_best_move,
    read_info,
    read_words,
)

SAID = """id name Some Engine 3
id author nobody
option name Hash type spin default 16 min 1 max 1024
option name Clear Hash type button
option name Style type combo default Normal var Solid var Very Risky var Normal
  option name UCI_Chess960 type check default false
Loading an option file
joho option name Log File type string default <empty>"""


@pytest.fixture
def identity() -> Identity:
    found = Identity()
    for line in SAID.splitlines():
        found.read_line(line)
    return found


def test_identity_is_read_from_an_engines_lines(identity: Identity) -> None:
    assert identity.name == "Some Engine 3"
    assert identity.variants == {"standard", "chess960"}
    assert identity.options["hash"] == Option("Hash", "spin", "16", 1, 1024, [])
    assert identity.options["style"] == Option(
        "Style", "combo", "Normal", None, None, ["Solid", "Very Risky", "Normal"]
    )
    assert set(identity.options) == {"hash", "clear hash", "style", "uci_chess960", "log file"}


def test_option_name_may_contain_the_word_name(identity: Identity) -> None:
    identity.read_line("option name the name type string default")
    assert identity.options["the name"] == Option("the name", "string", "", None, None, [])


def test_options_are_set_by_any_case_of_their_names(identity: Identity) -> None:
    assert identity.setting("hash", "64") == "setoption name Hash value 64"
    assert identity.setting("Style", "Very Risky") == "setoption name Style value Very Risky"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("clear hash", "", "setoption name Clear Hash"),
        ("Clear Hash", "true", "setoption name Clear Hash"),
        ("Log File", "", "setoption name Log File value <empty>"),
        ("log file", " of mine.txt", "setoption name Log File value  of mine.txt"),
        ("style", "very RISKY", "setoption name Style value Very Risky"),
    ],
)
def test_value_is_sent_in_the_form_of_its_type(name: str, value: str, line: str, identity: Identity) -> None:
    assert identity.setting(name, value) == line


def test_options_of_the_game_are_sent_as_declared() -> None:
    identity = Identity()
    identity.read_line("option name uci_chess960 type check default false")
    identity.read_line("option name UCI_VARIANT type combo default Chess var Chess var CrazyHouse")
    assert identity.variants == {"standard", "chess960", "crazyhouse"}
    assert identity.game_settings("crazyhouse", chess960=True) == [
        "setoption name uci_chess960 value true",
        "setoption name UCI_VARIANT value CrazyHouse",
    ]
    assert identity.game_settings("standard", chess960=False) == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Hash", "2048", "expected value for option 'Hash' to be at most 1024, got: 2048"),
        ("Hash", "much", "expected integer for spin option 'Hash', got: 'much'"),
        ("Style", "risky", "Style: 'risky' is none of Solid, Very Risky, Normal"),
        ("Style", "", "Style: '' is none of Solid, Very Risky, Normal"),
        ("Clear Hash", "now", "Clear Hash: a button has no value, and 'now' is one; write 'Clear Hash='"),
        ("Colour", "red", r"engine does not support option Colour \(it has: Clear Hash, Hash, .*\)"),
        ("UCI_Chess960", "true", "UCI_Chess960 is set by gmd, from the game being played"),
    ],
)
def test_unusable_setting_is_reported(name: str, value: str, message: str, identity: Identity) -> None:
    with pytest.raises(BadOption, match=message):
        identity.setting(name, value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("  \tuciok ", ["uciok"]),
        ("joho readyok", ["readyok"]),
        ("joho info string bestmove e2e4", ["info", "string", "bestmove", "e2e4"]),
        ("information: none", []),
        ("", []),
    ],
)
def test_line_is_read_from_its_first_known_word(line: str, words: list[str]) -> None:
    """UCI requires this of both sides."""
    assert read_words(line) == words


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("bestmove e2e4 ponder e7e5", "e2e4"),
        (" \t bestmove\te2e4", "e2e4"),
        ("joho bestmove e2e4", "e2e4"),
        ("joho bestmove a7a8Q", "a7a8Q"),
        ("joho bestmove P@e4", "P@e4"),
        ("joho bestmove (none)", "(none)"),
        ("bestmove", ""),
        ("bestmove ?!", "?!"),
        ("the bestmove changes", None),
        ("info string bestmove e2e4", None),
        ("bestmoves e2e4", None),
    ],
)
def test_best_move_is_read(line: str, move: str | None) -> None:
    assert read_best_move(line) == move


@pytest.mark.parametrize(
    ("line", "info"),
    [
        ("info depth 12 seldepth 20 score cp 35 nodes 1000 nps 5 pv e2e4 e7e5", ("+35", 12)),
        ("info depth 3 score cp -7 upperbound", ("-7", 3)),
        ("info score mate 3", ("#3", None)),
        ("info score mate -2 depth 9", ("#-2", 9)),
        ("info multipv 1 score cp 0", ("+0", None)),
        ("info multipv 2 score cp 5", None),
        ("info string score cp 5", (None, None)),
        ("info currmove e2e4 currmovenumber 1", (None, None)),
        ("info score cp", (None, None)),
        ("bestmove e2e4", None),
    ],
)
def test_info_line_is_read(line: str, info: tuple[str | None, int | None] | None) -> None:
    assert read_info(line.split()) == info


def test_scores_parse_as_python_chess_s_scores() -> None:
    assert parsed_score("+35") == chess.engine.Cp(35)
    assert parsed_score("#-2") == chess.engine.Mate(-2)


def test_position_line_has_all_moves() -> None:
    board = chess.Board()
    assert position(board, variant="standard") == "position startpos"
    board.push_san("e4")
    assert position(board, variant="standard") == "position startpos moves e2e4"
    fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"
    assert position(chess.Board(fen, chess960=True), variant="chess960") == f"position fen {fen}"


def test_limits_are_written_in_their_order_and_times_are_never_zero() -> None:
    assert go(wtime=1500, btime=milliseconds(0.0002), depth=4, nodes=None) == "go wtime 1500 btime 1 depth 4"
    assert go(movetime=milliseconds(0.25)) == "go movetime 250"
