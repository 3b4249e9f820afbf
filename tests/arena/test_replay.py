"""``gmd replay`` shows the positions of a game: from a file of any format or from a daemon, as a list and in a
terminal.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import chess
import pytest
from click.testing import CliRunner

from gm_arena.replay.command import replay
from gm_arena.replay.frames import frames_of
from gm_arena.replay.recorded import BadRecord, read_file
from gm_client.blocking import connect
from gm_recon import read_json
from gm_recon.pgn import VARIANT, movetext
from gmd.background import background_daemon
from gmd.config import Config
from tests.arena.recordings import blind_line, history, open_line
from tests.cli.commands import gmd
from tests.serving import Served
from tests.terminal import Terminal, plain, shown

PATIENCE = 120

#: White captures on d5 without knowing it, and Black learns where.
CAPTURE = [("e7", "e2e4"), ("d2", "d7d5"), (None, "e4d5"), ("d5", "d8d7"), ("d7", "d1h5"), (None, None)]

TAKEN = """\
           White                    the truth                    Black
8                          8  r  n  b  q  k  b  n  r  8  r  n  b  q  k  b  n  r
7                          7  p  p  p  ·  p  p  p  p  7  p  p  p     p  p  p  p
6                          6  ·  ·  ·  ·  ·  ·  ·  ·  6
5          [P]             5  ·  ·  · [P] ·  ·  ·  ·  5          [ ]
4             [ ]          4  ·  ·  ·  · [·] ·  ·  ·  4
3                          3  ·  ·  ·  ·  ·  ·  ·  ·  3        ·  ·  ·
2  P  P  P  P     P  P  P  2  P  P  P  P  ·  P  P  P  2        P  P  ·
1  R  N  B  Q  K  B  N  R  1  R  N  B  Q  K  B  N  R  1        B  Q  K
   a  b  c  d  e  f  g  h     a  b  c  d  e  f  g  h     a  b  c  d  e  f  g  h
2. White moves exd5, and captures on d5"""


def listed(*arguments: str) -> list[str]:
    """Return the frames of a game as they are listed, without trailing blanks; the title is the first."""
    done = CliRunner().invoke(replay, arguments)
    assert done.exit_code == 0, done.output
    return ["\n".join(line.rstrip() for line in frame.splitlines()) for frame in done.output.split("\n\n")]


def captions(frames: list[str]) -> list[str]:
    return [frame.splitlines()[-1] for frame in frames[1:]]


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    path = tmp_path / "blind.json"
    path.write_text(history(*CAPTURE, last="e4"))
    return path


def test_senses_and_both_views_of_blind_chess_are_shown(blind: Path) -> None:
    frames = listed(str(blind))
    assert frames[0] == f"{blind}: Ann – Bob\n0-1 resignation, blind chess"
    assert captions(frames) == [
        "start position",
        "1. White senses e7",
        "1. White moves e4",
        "1... Black senses d2",
        "1... Black moves d5",
        "2. White senses nothing",
        "2. White moves exd5, and captures on d5",
        "2... Black senses d5",
        "2... Black moves Qd7",
        "3. White senses d7",
        "3. White moves Qh5",
        "3... Black senses nothing",
        "3... Black passes",
        "4. White senses e4  [0-1 resignation]",
    ]
    assert frames[7] == TAKEN
    assert max(len(line) for frame in frames[1:] for line in frame.splitlines()) <= 80


def test_move_made_differently_than_requested_is_described(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    moves = ["e2e4", "e7e5", "e4e5", "d7d6", "d1h5", None, "h5h8"]
    path.write_text(history(*[(None, move) for move in moves]))
    found = captions(listed(str(path)))
    assert "2. White asks for e5: nothing moves" in found
    assert found[-1] == "4. White asks for Qxh8: moves Qxh7, and captures on h7  [1-0 resignation]"


def test_players_view_shows_no_more_than_the_player_knows(blind: Path) -> None:
    """A view has the player's own pieces and what its latest sense has shown, and nothing else."""
    saved = read_json(blind.read_text()).history
    sensed: dict[bool, dict[int, Any]] = {True: {}, False: {}}
    frames = frames_of(read_file(blind))[1:]
    for index, replayed in enumerate(saved.replay()):
        sensed[replayed.color] = dict(replayed.sense_result)
        for frame, fen in zip(
            frames[2 * index : 2 * index + 2], (replayed.fen_before, replayed.fen_after), strict=True
        ):
            truth = chess.Board(fen).piece_map()
            for view, color in ((frame.views[0], True), (frame.views[2], False)):
                own = {square: piece for square, piece in truth.items() if piece.color == color}
                shown = {square for square, piece in sensed[color].items() if piece and piece.color != color}
                assert {square for square, piece in view.pieces.items() if piece.color != color} == shown - set(own)
                assert {square: view.pieces[square] for square in own} == own
                assert set(view.known) == {*own, *sensed[color]}
            assert frame.views[1].pieces == truth


def test_blind_game_is_the_same_in_any_format(blind: Path, tmp_path: Path) -> None:
    saved = read_json(blind.read_text()).history
    pgn = tmp_path / "blind.pgn"
    tags = f'[Variant "{VARIANT}"]\n[White "Ann"]\n[Black "Bob"]\n[Result "0-1"]\n[Termination "resignation_white"]\n'
    pgn.write_text(f"{tags}\n{movetext(saved)} 0-1\n")
    assert listed(str(pgn))[1:] == listed(str(blind))[1:]


def test_moves_of_chess_are_shown_with_comments(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text('[White "Ann"]\n[Black "Bob"]\n[Result "0-1"]\n\n1. f3 {really?} e5 2. g4 Qh4# {oh\nno} 0-1\n')
    frames = listed(str(path))
    assert captions(frames) == ["start position", "1. f3  {really?}", "1... e5", "2. g4", "2... Qh4#  {oh no}  [0-1]"]
    assert frames[-1].splitlines()[4] == "4  ·  ·  ·  ·  ·  ·  P [q]"


def test_games_of_gmds_lines_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    drops = open_line(["e4", "d5", "exd5", "Qxd5", "P@e4"], 4, variant="crazyhouse")
    castles = open_line(["g3", "g6", "Bg2", "Bg7", "Nf3", "Nf6", "O-O"], 5, variant="chess960", position=518)
    path.write_text(open_line(["e4", "e5"], 3) + drops + castles + blind_line(1, [(1.0, 2.0)] * 3))
    assert captions(listed(str(path), "--game", "3")) == ["start position", "1. e4", "1... e5"]
    assert captions(listed(str(path), "--game", "4"))[-1] == "3. @e4"
    assert captions(listed(str(path), "--game", "5"))[-1] == "4. O-O"
    found = captions(listed(str(path), "--game", "7"))
    assert len(found) == 7
    assert found[-1].endswith("  [1-0 resignation]")


def test_header_has_names_result_and_clock_and_frames_have_clocks(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text(
        '[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n[Termination "time forfeit"]\n[TimeControl "600+5"]\n\n'
        "1. e4 {[%clk 0:10:03] best} e5 {[%clk 1:00:00.5]} 2. Nf3 {[%clk 0:00:09.9]} 1-0\n"
    )
    frames = listed(str(path))
    assert frames[0] == f"{path}: Ann – Bob\n1-0 time forfeit, clock 600+5"
    assert captions(frames) == ["start position", "1. e4  {best}", "1... e5", "2. Nf3  [1-0 time forfeit]"]
    assert [frame.splitlines()[-2] for frame in frames[2:]] == [
        "White 10:03",
        "White 10:03   Black 1:00:00",
        "White 9.9   Black 1:00:00",
    ]


def test_imported_game_keeps_its_names_as_pgn_and_as_line(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text('[White "Anna"]\n[Black "Bo, \\"B.\\""]\n\n1. f3 e5 2. g4 Qh4#\n')
    assert not gmd("import", "--data", tmp_path, "--white", 1, "--black", 2, tmp_path / "a.pgn").status
    for written in ("pgn", "jsonl"):
        path = tmp_path / f"exported.{written}"
        assert not gmd("export", "--data", tmp_path, "--format", written, "--output", path).status
        assert listed(str(path))[0].splitlines()[0] == f'{path}: Anna – Bo, "B."'


def test_line_has_names_and_the_clock_too(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(blind_line(2, [(1.0, 2.0), (0.5, 0.25), (3.0, 4.0)], sensed=True))
    path.write_text(json.dumps({**json.loads(path.read_text()), "white_name": "ada"}))
    assert listed(str(path))[0] == f"{path}: ada – 2\n1-0 resignation, blind chess, clock 60+2"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.pgn", "1. e4 e5 *\n\n1. d4 *\n", "holds 2 games: choose one with --game (1, 2)"),
        ("a.pgn", "1. Ke3 *\n", "holds no game: it has neither a legal move nor a PGN tag (1. Ke3 is illegal)"),
        ("a.pgn", '[FEN "8"]\n\n1. e4 *\n', "is not a game: fen: '8' cannot be read: expected 8 rows"),
        ("a.pgn", '[Variant "Atomic"]\n[FEN "8"]\n\n1. e4 *\n', "is not a game: expected 8 rows"),
        ("a.pgn", '[Variant "Go"]\n\n1. e4 *\n', "is not a game: unsupported variant: Go"),
        ("a.pem", "-----BEGIN KEY-----\nMIIh2\n-----END KEY-----\n", "is not a game: 1. -----BEGIN is not a move"),
        ("a.pgn", "", "holds no game"),
        (
            "a.pgn",
            "Dear Sir, this is a letter.\n",
            "is not a game: pgn: line 1: ', this is a letter.' is neither a move",
        ),
        ("a.json", '{"type": "Game"}', 'it is not a JSON object of type "GameHistory"'),
        ("a.jsonl", open_line(["e4"]).replace("e2e4", "e2e5"), "event 1 does not apply"),
    ],
)
def test_file_without_a_game_is_reported(name: str, text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadRecord) as error:
        read_file(path)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("moves", "shown", "trouble"),
    [
        ("1. d4 Ke5 2. e4", ["1. d4"], "1... Ke5 is illegal"),
        (
            "1. Nf3 a6 2. Nc3 a5 3. Nd4 a4 4. Nb5",
            ["1. Nf3", "1... a6", "2. Nc3", "2... a5", "3. Nd4", "3... a4"],
            "4. Nb5 is ambiguous",
        ),
        ("1. e4 (1. Ke3) e5 2. Ke3", ["1. e4", "1... e5"], "2. Ke3 is illegal"),
    ],
)
def test_game_is_shown_up_to_its_illegal_move_which_is_named(
    moves: str, shown: list[str], trouble: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.pgn"
    path.write_text(f'[Result "1-0"]\n\n{moves} 1-0\n')
    done = gmd("replay", path)
    assert done.status == 1
    assert done.err == f"Error: {path}: {trouble}; the game is shown up to it\n"
    assert captions(done.out.rstrip().split("\n\n")) == ["start position", *shown[:-1], f"{shown[-1]}  [{trouble}]"]


def test_null_move_marks_no_square_and_variations_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    path.write_text("1. e4 (1. Ke3) -- 2. d4 *\n")
    frames = listed(str(path))
    assert captions(frames) == ["start position", "1. e4", "1... --", "2. d4"]
    assert ["[" in frame for frame in frames[1:]] == [False, True, False, True]


def test_missing_game_is_reported(blind: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(open_line(["e4"], 3))
    for arguments, reason in {
        (str(path), "--game", "9"): "holds no game 9",
        (str(tmp_path / "none.pgn"),): "cannot be read: No such file or directory",
    }.items():
        done = CliRunner().invoke(replay, arguments)
        assert done.exit_code == 2
        assert reason in done.output
    for file, reason in {"x": "x: No such file or directory", str(path): "holds no certificate in PEM"}.items():
        done = CliRunner().invoke(replay, ["12", "--tls", "--ca", file])
        assert done.exit_code == 2
        assert reason in done.output


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text('[White "\x1b[2JAnn"]\n[Black "Bob"]\n\n1. e4 {\x1b]0;mine\x07} *\n')
    done = CliRunner().invoke(replay, [str(path)], color=True)
    assert "\x1b" not in done.output
    assert "�[2JAnn" in done.output


def test_games_of_a_daemon_are_shown(daemon_process: Served) -> None:
    where = ("--server", f"127.0.0.1:{daemon_process.port}")
    with connect(port=daemon_process.port) as client:
        game_id = client.new_game(1, 2)["game_id"]
        client.move(game_id, "e4", player=1)
        assert captions(listed(str(game_id), *where)) == ["start position", "1. e4"]
        blind_id = client.new_game(1, 2, variant="rbc", clock=None)["game_id"]
        client.sense(blind_id, "e7", player=1)
        hidden = CliRunner().invoke(replay, [str(blind_id), *where])
        assert hidden.exit_code == 2
        assert "its history is shown once it is over" in hidden.output
        client.move(blind_id, "e2e4", player=1)
        client.end_game(blind_id, "resignation_white", player=1)
        clock = client.new_game(1, 2, variant="rbc", clock={"initial": 60, "increment": 2})["game_id"]
        client.end_game(clock, "resignation_white", player=1)
    assert listed(str(clock), *where)[0] == f"game {clock}: 1 – 2\n0-1 resignation, blind chess, clock 60+2"
    assert captions(listed(str(blind_id), *where)) == [
        "start position",
        "1. White senses e7",
        "1. White moves e4  [0-1 resignation]",
    ]


def test_operator_sees_games_of_a_daemon_too(tmp_path: Path) -> None:
    with background_daemon(Config(port=0, data=str(tmp_path))) as daemon:
        game_id = daemon.ask("new_game", player_white=1, player_black=2)["game_id"]
        assert captions(listed(str(game_id), "--socket", str(tmp_path / "operator.sock"))) == ["start position"]


# In a terminal.


@pytest.mark.slow
def test_terminal_output_colours_squares_and_distinguishes_the_sides(blind: Path) -> None:
    """Both pieces and squares have their own colours, so that the terminal's background makes no difference."""
    black_on_light, white_on_dark, fog = "1;38;5;233;48;5;137", "1;38;5;231;48;5;94", "48;5;240"
    said = shown([sys.executable, "-m", "gmd", "replay", str(blind)], TERM="xterm-256color")
    a8, a1 = f"\x1b[{black_on_light}m ♜ \x1b[0m", f"\x1b[{white_on_dark}m ♜ \x1b[0m"
    frames = 14
    assert said.count(f"8 {a8}") == 2 * frames  # in the truth, and in Black's view
    assert said.count(f"1 {a1}") == 2 * frames
    assert f"8 \x1b[{fog}m   \x1b[0m" in said or f"7 \x1b[{fog}m   \x1b[0m" in said
    assert not set("♔♕♖♗♘♙") & set(plain(said))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("\x1b[C\x1b[C\x1b[D\r n\x7fpppp\x04", [0, 1, 2, 1, 2, 3, 4, 3, 2, 1, 0, 0]),
        ("\x1b[B\x1b[B\x1b[DG\x1b[A\x1b[Hg?jq", [0, 10, 13, 12, 13, 3, 0, 0, 0, 10]),
        ("\x03", [0]),
    ],
)
def test_keys_step_through_the_game(keys: str, expected: list[int], blind: Path) -> None:
    with Terminal("replay", str(blind), COLUMNS="100", LINES="30") as terminal:
        said = terminal.until("q: leave")
        terminal.press(keys)
        said += terminal.rest()
    assert terminal.status == 0
    screens = [int(at) for at in re.findall(r"(\d+) of 13   →", plain(said))]
    assert screens == expected or (keys == "\x03" and set(screens) == {0})


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give a FILE or a GAME_ID; --follow alone shows the newest live game"),
        (("game.pgn", "--follow"), "--follow: 'game.pgn' is not the id of a game"),
        (
            ("7", "--follow", "--ask", "reconchess:bot.py"),
            "give only one of --follow and --ask",
        ),
        (("game.pgn", "--color", "black"), "--color goes with --ask"),
        (("game.pgn", "--spectator-key", "sesame"), "--spectator-key goes with --follow"),
        (("game.pgn", "--patience", "3"), "--patience goes with --follow"),
        (
            ("--game", "7", "--follow"),
            "--game chooses a game of a FILE; to follow game 7, write: gmd replay 7 --follow",
        ),
        (("8", "--game", "7", "--follow"), "--game chooses a game of a FILE, and 8 is a game of the daemon"),
        (("8", "--game", "7"), "--game chooses a game of a FILE, and 8 is a game of the daemon"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], complaint: str) -> None:
    done = gmd("replay", *arguments)
    assert (done.status, done.out) == (2, "")
    assert complaint in done.err
