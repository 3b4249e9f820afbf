"""``gmd match --referee codingame``: the rules of CodinGame's chess match; docstrings quote its statement."""

from __future__ import annotations

import io
import os
import random
import re
import shlex
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import chess
import chess.pgn
import pytest

from gm_arena.match.referee import CLASSICAL, JavaRandom, start_position
from gm_client.blocking import connect
from tests.arena.matches import PATIENCE, command, games
from tests.cli.commands import Ran, gmd
from tests.ended import ended
from tests.serving import Served, environment

#: In addition to 50 ms, so that no bot loses because the machine is busy.
PATIENT = ("--each", "timemargin=20000")
FOOLS_WHITE, FOOLS_BLACK = ["f2f3", "g2g4"], ["e7e5", "d8h4"]
AT_RANDOM = "bash -c 'echo; yes random'"


def referee(*arguments: object) -> Ran:
    return gmd("match", "--referee", "codingame", *arguments)


class Played(NamedTuple):
    """A match that was played.

    :ivar inputs: those of both bots in each of their turns.
    """

    ran: Ran
    games: list[dict[str, Any]]
    pgn: str
    constants: list[str]
    inputs: tuple[list[list[str]], list[list[str]]]


def match(folder: Path, first: list[str], second: list[str], *arguments: object, start: str = "") -> Played:
    """Play a match of two bots that write these lines, the first of which is their configuration, and then resign.

    :param start: the start position; otherwise it is the classical one.
    """
    files = [folder / name for name in ("first", "second", "match.jsonl", "match.pgn", "start.fen")]
    for path in files:
        path.unlink(missing_ok=True)
    text = 'exec 3<&0; cat <&3 >"$0" & printf "%s\\n" "$@"; exec yes resign'
    bots = [shlex.join(["bash", "-c", text, str(files[n]), *each]) for n, each in enumerate((first, second))]
    options: list[object] = ["--seed", 0, "--json-out", files[2], "--pgn-out", files[3], *PATIENT, *arguments]
    if start:
        files[4].write_text(f"{start}\n")
        options += ["--openings", f"file={files[4]}"]
    ran = referee(*bots, *options)
    assert ran.status in (0, 1), ran.err
    one, other = (path.read_text().splitlines() for path in files[:2])
    inputs = _turns(one[3:], first[0].split()), _turns(other[3:], second[0].split())
    return Played(ran, games(files[2]), files[3].read_text(), one[1:3], inputs)


def _turns(lines: list[str], names: list[str]) -> list[list[str]]:
    """Return the inputs of each turn; the list of moves is one, without their number."""
    left, turns = iter(lines), []
    while names and (begun := next(left, None)) is not None:
        turn: list[str] = []
        for name in names:
            value = begun if not turn else next(left)
            turn.append(" ".join(next(left) for _ in range(int(value))) if name == "moves" else value)
        turns.append(turn)
    return turns


# Rules.


def test_two_games_are_played_with_colours_swapped_from_the_same_position(tmp_path: Path) -> None:
    """Play 2 games against your opponent, once as each color using the same starting position, where a win gives 1
    point and a draw gives ½ point.
    """
    first = ["", *FOOLS_WHITE, "e7e5 second game", "draw"]
    played = match(tmp_path, first, ["", *FOOLS_BLACK, "e2e4", "g1f3="])
    assert [(game["white"], game["black"]) for game in played.games] == [("bot 1", "bot 2"), ("bot 2", "bot 1")]
    assert len({game["start_fen"] for game in played.games}) == 1
    assert [game["result"] for game in played.games] == ["0-1", "1/2-1/2"]
    assert played.ran.out.splitlines() == [
        "seed 0: start position 518",
        "game 1: bot 1 - bot 2 0-1, checkmate, 4 plies",
        "game 2: bot 2 - bot 1 1/2-1/2, agreement, 3 plies",
        "bot 2 has won: 1½ : ½",
    ]


KINGS = "8/8/4k3/8/8/3pK3/8/8 w - - 0 1"


@pytest.mark.parametrize(
    ("start", "white", "black", "ending"),
    [
        ("k7/8/KQ6/8/8/8/8/8 w - - 0 1", ["b6c7"], [], "stalemate"),
        ("", ["g1f3", "f3g1"] * 4, ["g8f6", "f6g8"] * 4, "threefold repetition"),
        (KINGS, ["e3d3"], [], "insufficient material"),
        ("8/8/4k1b1/8/8/3pK3/8/5B2 w - - 0 1", ["f1d3"], [], "insufficient material"),  # on squares of one colour
        ("8/8/4kb2/8/8/3pK3/8/5B2 w - - 0 1", ["e3d3"], [], "resignation"),  # bishops on squares of both colours
        ("8/8/4k3/8/8/3pK3/8/5NN1 w - - 0 1", ["e3d3"], [], "resignation"),
        ("4k3/8/8/8/8/8/4P3/R3K3 w - - 97 70", ["a1b1"], ["e8d8"], "resignation"),
        ("4k3/8/8/8/8/8/4P3/R3K3 w - - 98 70", ["a1b1"], ["e8d8"], "fifty-move rule"),
        ("", ["e2e4="], ["draw fine"], "agreement"),
        ("", ["random="], ["draw"], "agreement"),
    ],
)
def test_game_is_drawn_as_the_statement_lists(
    start: str, white: list[str], black: list[str], ending: str, tmp_path: Path
) -> None:
    """If any of the following happens, the current game will result into a draw: ..."""
    assert match(tmp_path, ["", *white], ["", *black], start=start).games[0]["ending"] == ending


def test_game_is_drawn_after_max_moves(tmp_path: Path) -> None:
    """After this, a draw will be forced as a game result."""
    path = tmp_path / "match.jsonl"
    assert referee(AT_RANDOM, AT_RANDOM, "--max-moves", 3, "--seed", 7, "--json-out", path, *PATIENT).status == 0
    assert [(game["ending"], game["plies"]) for game in games(path)] == [("move limit", 6)] * 2
    assert games(path)[0]["moves"] != games(path)[1]["moves"], "a random move is drawn anew"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["e2e5"], "'e2e5' is not a legal move in"),
        (["e1g1"], "'e1g1' is not a legal move in"),  # castling is e1h1
        (["Nf3"], "'Nf3' is not a move, 'random', 'resign' or 'draw'"),
        ([""], "'' is not a move"),
        (["draw"], "'draw' accepts an offer, but none was made"),
    ],
)
def test_illegal_move_loses_the_match(lines: list[str], reason: str, tmp_path: Path) -> None:
    """You attempt to make an illegal move."""
    played = match(tmp_path, ["", *lines], [""], start="r3k2r/8/8/8/8/8/4P3/R3K2R w KQkq - 0 1")
    assert played.ran.status == 1
    assert "bot 2 has won: bot 1 has failed in game 1, ply 0: bot 1: " in played.ran.out
    assert reason in played.ran.out
    assert len(played.games) == 1, "the second game is not played"
    assert '[Termination "rules infraction"]' in played.pgn


def test_bot_that_fails_while_it_is_ahead_loses_the_match(tmp_path: Path) -> None:
    """Your opponent loses."""
    played = match(tmp_path, ["", *FOOLS_WHITE], ["", *FOOLS_BLACK, "e2e5"])
    assert [game["result"] for game in played.games] == ["0-1", "0-1"]
    assert "bot 1 has won: bot 2 has failed in game 2, ply 0" in played.ran.out


@pytest.mark.parametrize(
    ("bot", "reason"),
    [
        ("bash -c 'echo; sleep 1000'", "no output in 550 ms"),
        ("sleep 1000", "wrote no configuration in 1.5 seconds"),
        ("bash -c 'echo; exit 3'", "ended, with exit status 3"),
    ],
)
def test_bot_without_an_answer_in_its_time_loses_the_match(bot: str, reason: str) -> None:
    """You do not provide an output in the alloted time. Response time per turn: 50 ms, for the first turn: 1 second."""
    ran = referee(bot, AT_RANDOM, "--each", "timemargin=500")
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith("bot 2 has won: bot 1 has failed in game 1, ply 0: ")
    assert reason in ran.out


# Start positions.


def test_seed_decides_the_position_as_on_the_site() -> None:
    """The initial starting position is randomly shuffled; you can force the classical one by specifying seed=0."""
    assert start_position(0) == CLASSICAL
    # The first numbers of java.util.Random(42).nextInt(), which are well known, and of nextInt(10).
    generator = JavaRandom(42)
    drawn = [generator.bits(32) for _ in range(2)]
    assert [number - 2**32 if number >= 2**31 else number for number in drawn] == [-1170105035, 234785527]
    generator = JavaRandom(42)
    assert [generator.below(10) for _ in range(3)] == [0, 3, 8]
    seeds = random.Random(1)
    counts = Counter(start_position(seeds.getrandbits(48)) for _ in range(1_920))
    assert 790 <= len(counts) <= 870  # 830 are expected
    assert max(counts.values()) <= 10


# Input and output.


def test_every_input_is_as_stated_in_the_configured_order(tmp_path: Path) -> None:
    """fen: six fields. moves: a count, then a move a line. lastmove: or none if it is the first turn of the game.
    draw: 1 if a draw was offered last turn. game: starting at 1. score: the player's, then the opponent's, in
    half-points.
    """
    first = ["draw fen moves lastmove game score", "e2e4", "resign", "e7e5", "c7c5"]
    played = match(tmp_path, first, ["lastmove fen", "e7e6=", "d2d4=", "d4d5"])
    assert played.constants == ["crazyHouse 0", "maxMoves 125"]
    turns = played.inputs[0]
    moves = " ".join(move.uci() for move in chess.Board(chess960=True).legal_moves)
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah - 0 1"
    assert turns[0] == ["0", start, moves, "none", "1", "0 0"]
    assert [[turn[0], *turn[3:]] for turn in turns[1:4]] == [
        ["1", "e7e6", "1", "0 0"],
        ["1", "d2d4", "2", "0 2"],
        ["0", "d4d5", "2", "0 2"],
    ]
    assert played.inputs[1][1] == ["none", start], "a game begins without the last move of the one before"


def test_draw_offer_lasts_one_turn(tmp_path: Path) -> None:
    """Draw offers only last for one turn. If the opponent does not accept it, it is revoked."""
    played = match(tmp_path, ["", "e2e4=", "d2d4"], ["draw", "e7e5", "draw"])
    assert played.inputs[1] == [["1"], ["0"]]
    assert "'draw' accepts an offer, but none was made" in played.ran.out


@pytest.mark.parametrize(("castles", "san"), [("e1h1", "O-O"), ("e1a1", "O-O-O")])
def test_castling_is_the_kings_move_to_its_rook(castles: str, san: str, tmp_path: Path) -> None:
    """Castling is done as a king moving to its own rook. / A comment can be added by a space after the move."""
    start = "r3k2r/8/8/8/8/8/7P/R3K2R w KQkq - 0 1"
    played = match(tmp_path, ["", f"{castles} safe {{now}}"], ["lastmove"], start=start)
    assert played.inputs[1][0] == [castles]
    game = chess.pgn.read_game(io.StringIO(played.pgn))
    assert game is not None
    assert (game.variations[0].san(), game.variations[0].comment.rpartition("] ")[2]) == (san, "safe {now)")


def test_crazyhouse_drops_captured_pieces(tmp_path: Path) -> None:
    """crazyHouse: 1 as true, indicating whether crazyhouse rules are enabled."""
    first, second = ["", "e2e4", "e4d5", "P@e4"], ["fen lastmove", "d7d5", "d8d5"]
    played = match(tmp_path, first, second, "--variant", "crazyhouse")
    assert played.constants == ["crazyHouse 1", "maxMoves 125"]
    turns = played.inputs[1]
    assert turns[0][0] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR/ b AHah e3 0 1"  # where no capture is possible
    assert turns[2][0].split()[0] == "rnb1kbnr/ppp1pppp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR/p"
    assert turns[2][1] == "P@e4"


# The command.


def test_failed_start_gives_status_2(tmp_path: Path) -> None:
    empty = tmp_path / "empty.fen"
    empty.write_text("8/8/8/8/8/8/8/8 w - - 0 1\n")
    for arguments, reason in {
        ("./no-such-bot", AT_RANDOM): "'./no-such-bot' cannot be started: No such file or directory",
        (AT_RANDOM, ""): "needs a command, such as",
        (AT_RANDOM, "'"): "No closing quotation",
        (AT_RANDOM, AT_RANDOM, AT_RANDOM): "--referee codingame: a match is two games of two bots",
        (AT_RANDOM, AT_RANDOM, "--games", "4"): "--referee codingame: a match is two games of two bots",
        (AT_RANDOM, AT_RANDOM, "--variant", "rbc"): "--variant rbc: CodinGame's match is chess960 or crazyhouse",
        (AT_RANDOM, AT_RANDOM, "--clock", "9"): "--clock has no meaning with --referee codingame: leave it out",
        (AT_RANDOM, AT_RANDOM, "--openings", f"file={empty}"): "line 1: fen: ",
    }.items():
        ran = referee(*arguments)
        assert (ran.status, reason in ran.err) == (2, True), (arguments, ran)


def test_unreachable_daemon_gives_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gm_arena.match.workers.PATIENCE_SECONDS", 0.1)
    ran = referee(AT_RANDOM, AT_RANDOM, "--server", "127.0.0.1:1")
    assert (ran.status, ran.err.startswith("Error: ")) == (3, True)


def test_games_may_be_played_on_a_running_daemon(daemon_process: Served, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    where = ("--server", f"127.0.0.1:{daemon_process.port}", "--json-out", path)
    ran = referee(AT_RANDOM, AT_RANDOM, *where, "--max-moves", 10, "--seed", 9, *PATIENT)
    assert ran.status == 0, ran.err
    with connect(port=daemon_process.port) as client:
        for game in games(path):
            state = client.state(game["game_id"])["state"]
            assert (state["result"], state["start_fen"]) == (game["result"], game["start_fen"])
            board = chess.Board.from_chess960_pos(start_position(9))
            assert game["start_fen"].split()[0] == board.board_fen()


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "times"), [(signal.SIGTERM, 1), (signal.SIGINT, 20)])
def test_signal_ends_the_match_and_its_bots(sent: signal.Signals, times: int, tmp_path: Path) -> None:
    pid, pipe = tmp_path / "pid", subprocess.PIPE
    bot = f"bash -c 'echo $$ > {pid}; echo fen; sleep 1000'"
    arguments = command(AT_RANDOM, bot, "--referee", "codingame", *PATIENT)
    with ended(subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True, env=environment())) as process:
        assert process.stdout is not None
        assert re.match(r"seed \d+: start position \d+\n", process.stdout.readline())
        for _ in range(times):
            process.send_signal(sent)
        assert process.communicate(timeout=PATIENCE) == ("", "")
        assert process.returncode == 128 + sent
    if pid.exists() and pid.read_text().strip():  # it may have ended before it wrote this
        assert not os.path.exists(f"/proc/{pid.read_text().strip()}")
