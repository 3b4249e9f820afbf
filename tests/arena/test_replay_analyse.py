"""``gmd replay --analyse`` says what each move of a game of blind chess cost, and why the worst ones did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.arena.matches import played
from tests.arena.recordings import blind_line, history, open_line
from tests.cli.commands import Ran, gmd
from tests.tools import require_tool

#: White does not look, and moves its queen to where the rook can take it. Black sees that, and passes.
FEN = "r5k1/5ppp/8/8/8/8/3Q1PPP/6K1 w - - 0 1"
BLUNDERS = [(None, "d2d3"), ("d3", "a8a4"), (None, "d3d4"), ("d4", None)]

#: A turn: its number, its positions, and the rest in words.
TURN = re.compile(r"(\d+\.+) +(\S+)→(\S+) +(.*)")


def analysed(path: Path, *options: object) -> list[str]:
    """Return the lines that the command prints."""
    require_tool("stockfish")
    done = gmd("replay", path, "--analyse", *options)
    assert done.status == 0, done.err
    return done.out.splitlines()


def turns(lines: list[str]) -> list[list[str]]:
    """Return the words of the turns' lines, without the bar."""
    return [[*found.groups()[:3], *found[4].split()[:-1]] for line in lines if (found := TURN.match(line))]


@pytest.fixture
def blunders(tmp_path: Path) -> Path:
    path = tmp_path / "game.json"
    path.write_text(history(*BLUNDERS, fen=FEN))
    return path


@pytest.mark.slow
def test_turns_have_a_line_each_and_the_costliest_their_reason(blunders: Path) -> None:
    lines = analysed(blunders)
    assert lines[:2] == [f"{blunders}: Ann – Bob", "0-1 resignation, blind chess"]
    first, second, third, fourth = turns(lines)
    assert first[:5] == ["1.", "1", "1", "-", "Qd3"]
    assert (second[0], *second[2:6]) == ("1...", "1", "d3", "···/·Q·/···", "Ra4")
    assert (third[0], third[2], *third[3:5]) == ("2.", third[1], "-", "Qd4")
    assert fourth[2:6] == ["1", "d4", "···/·Q·/···", "passes"]
    made, cost, made_as_known, cost_as_known = map(float, third[5:9])
    assert (made < 0.2, cost > 0.3) == (True, True), "the rook takes the queen"
    assert (made_as_known > made + 0.3, cost_as_known < cost / 2) == (True, True), "it seldom can"

    named = {line.split(": ")[0] for line in lines if "on the true board." in line}
    assert {"2. White", "2... Black"} <= named
    (white,) = [line for line in lines if line.startswith("Did not know: ")]
    assert re.fullmatch(
        rf"Did not know: in its {third[2]} possible positions Qd4 has 0\.\d\d, \S+ 0\.\d\d; "
        r"it costs about as much in \d+ % of them\. There \S+ would have had 0\.\d\d\.",
        white,
    )
    passed = r"Knew and erred: in the only possible position a pass has 0\.\d\d, Rxd4 0\.\d\d\."
    assert any(re.fullmatch(passed, line) for line in lines)
    assert [re.sub(r"0\.\d+", "x", line) for line in lines if "a move costs" in line] == [
        f"{name}: a move costs x of a result on the true board, x by its own knowledge; 2 turns."
        for name in ("White", "Black")
    ]


@pytest.mark.slow
def test_turn_that_lost_the_game_is_named_among_costlier_ones(tmp_path: Path) -> None:
    """White overlooks three times that it could capture the king, and then loses its queen."""
    passes = [(None, None)] * 6
    turns = [(None, "d2d8"), *passes, ("d8", "g8h7"), (None, None), ("d8", "g7g5"), (None, "d8d7"), ("d7", "b7d7")]
    path = tmp_path / "game.json"
    path.write_text(history(*turns, fen="6k1/rr3pp1/7p/8/8/8/P2Q1PPP/6K1 w - - 0 1"))
    named = [line for line in analysed(path, "--color", "white") if "on the true board." in line]
    assert len(named) == 3
    assert [line[:8] for line in named if line.endswith(" This lost the game.")] == ["6. White"]
    assert sum("Qxg8 1.00" in line for line in named) == 2


@pytest.mark.slow
def test_no_turn_lost_a_game_that_was_given_up_while_it_was_won(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_text(history(*BLUNDERS, (None, "d4a4"), (None, "g8h8"), fen=FEN))
    named = [line for line in analysed(path, "--color", "white") if "on the true board." in line]
    assert named
    assert not any("lost the game" in line for line in named)


@pytest.mark.slow
def test_costly_turn_is_drawn_as_its_player_knew_it_and_as_it_was(blunders: Path) -> None:
    lines = [line.rstrip() for line in analysed(blunders, "--color", "black")]
    assert {words[0] for words in turns(lines)} == {"1...", "2..."}
    at = lines.index("      as Black knew it       the truth, and the best move")
    assert lines[at + 5 : at + 8] == [
        "4  r  · [·][Q][·] ·  ·  ·  4 [r] ·  · [Q] ·  ·  ·  ·",
        "3  ·  · [·][·][·] ·  ·  ·  3  ·  ·  ·  ·  ·  ·  ·  ·",
        "2  ·  ·  ·  ·  ·  P  P  P  2  ·  ·  ·  ·  ·  P  P  P",
    ]


@pytest.mark.slow
def test_time_of_a_turn_is_that_of_its_record(tmp_path: Path) -> None:
    exported = tmp_path / "games.jsonl"
    exported.write_text(blind_line(7, [(1.0, 0.5), (0.25, 2.0)]))
    assert [words[-1] for words in turns(analysed(exported))] == ["1.5", "2.2"]
    record, pgn = tmp_path / "match.jsonl", tmp_path / "match.pgn"
    options = ["--variant", "rbc", "--max-moves", 2, "--clock", "60", "--games", 1, "--pgn-out", pgn]
    games, _ = played(record, "one=random:seed=1", "two=random:seed=2", *options)
    thought = {row[0]: f"{row[1]:.1f}" for rows in games[0]["times"].values() for row in rows}
    for path in (record, pgn):
        assert [words[-1] for words in turns(analysed(path))] == [thought[ply] for ply in sorted(thought)]


def test_analysis_without_stockfish_says_what_to_install(blunders: Path) -> None:
    done = gmd("replay", blunders, "--analyse", env={"STOCKFISH_EXECUTABLE": "/nowhere/stockfish"})
    assert done.status == 1
    assert done.err.splitlines()[-1] == (
        "Error: the analysis asks Stockfish, which was not found: install it (on Debian: apt install stockfish), or "
        "set STOCKFISH_EXECUTABLE to the path of the program"
    )


def test_game_of_chess_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(open_line(["e4"]))
    done = gmd("replay", path, "--analyse")
    assert (done.status, "is not a game of blind chess" in done.err) == (2, True)


def test_ways_to_use_a_game_exclude_each_other(blunders: Path) -> None:
    def refused(*options: object) -> Ran:
        done = gmd("replay", blunders, *options)
        assert done.status == 2
        return done

    assert "give only one of --ask and --analyse" in refused("--analyse", "--ask", "random").err
    assert "--color goes with --ask and --analyse" in refused("--color", "black").err
