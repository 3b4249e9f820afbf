"""``gmd match --referee codingame`` as run from a shell: its output, its files and its exit status."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import chess.pgn
import pytest

from gm_arena.referee.command import sums_up
from gm_arena.referee.record import BotRecord, MatchRecord
from gm_client.blocking import connect
from tests.arena.playing import BOTS
from tests.cli.commands import Ran, gmd
from tests.ended import ended
from tests.serving import Served, environment

REFEREE = (sys.executable, "-m", "gmd", "match", "--referee", "codingame")
#: Seconds for a command on a busy machine.
PATIENCE = 60
#: In addition to 50 ms, so that no bot loses because the machine is busy.
PATIENT = ("--each", "timemargin=20000")

RANDOM = "bash -c 'echo fen; yes random'"
FIRST = r"""bash -c 'printf "fen\nf2f3\ng2g4\nresign why not\n"; cat'"""
SECOND = r"""bash -c 'printf "fen clock\ne7e5\nd8h4 mate\n"; cat'"""


def referee(*arguments: str) -> Ran:
    return gmd("match", "--referee", "codingame", *arguments)


def test_match_is_summed_up_and_recorded(tmp_path: Path) -> None:
    record, pgn = tmp_path / "match.json", tmp_path / "match.pgn"
    second = r"""bash -c 'printf "fen clock\ne7e5\nd8h4 mate\ne2e4=\n"; cat'"""
    done = referee(FIRST, second, "--seed", "0", "--json-out", str(record), "--pgn-out", str(pgn), *PATIENT)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert re.fullmatch(r"seed 0: start position 518; the games are on 127\.0\.0\.1:\d+", lines[0])
    assert [line.split(" needed ")[0] for line in lines[1:6]] == [
        "game 1 (1): White bot 1, Black bot 2, 0-1 checkmate, 4 plies",
        "game 2 (2): White bot 2, Black bot 1, 1-0 resignation, 1 ply",
        "bot 1",
        "bot 2 asked for unknown inputs: 'clock'",
        "bot 2",
    ]
    assert re.fullmatch(r"bot 2 \(bash -c .*\) has won: 2 : 0", lines[6])
    assert len(lines) == 7
    read = json.loads(record.read_text())
    assert (read["seed"], read["start"], read["score"], read["winner"]) == (0, 518, [0, 4], 2)
    assert [turn["comment"] for turn in read["games"][0]["turns"]] == ["", "", "", "mate"]
    game = chess.pgn.read_game(io.StringIO(pgn.read_text()))
    assert game is not None
    assert (game.headers["Result"], game.end().comment) == ("0-1", "mate Checkmate.")


def test_failing_bot_gives_status_1() -> None:
    done = referee("codingame:" + RANDOM, r"bash -c 'echo fen; echo I give up >&2; echo castle; cat'", *PATIENT)
    assert done.status == 1
    assert re.search(r"bot 2: I give up\n", done.err)
    last = done.out.splitlines()[-1]
    assert last.startswith("bot 1 has won: bot 2 (bash -c ")
    assert last.endswith("has failed in game 1, ply 1: 'castle' is not a move, 'random', 'resign' or 'draw'")


def test_failed_start_gives_status_2(tmp_path: Path) -> None:
    config, empty = tmp_path / "match.toml", tmp_path / "empty.fen"
    config.write_text('data = "/dev/null"\n')
    empty.write_text("8/8/8/8/8/8/8/8 w - - 0 1\n")
    for arguments, reason in {
        ("./no-such-bot", RANDOM): "'./no-such-bot' cannot be started: No such file or directory",
        (RANDOM, ""): "a bot is a command, such as 'python3 my_bot.py'",
        (RANDOM, "'"): "No closing quotation",
        (RANDOM, RANDOM, "--server", "here:there"): "'here:there' is not HOST:PORT",
        (RANDOM, RANDOM, "--config", str(config)): "data (--config): ",
        (RANDOM, RANDOM, "--config", str(config), "--server", ":7100"): "data (--config) configures the daemon inside",
        (RANDOM, RANDOM, RANDOM): "--referee codingame: a match is two games of two bots",
        (RANDOM, RANDOM, "--games", "4"): "--referee codingame: a match is two games of two bots",
        (RANDOM, RANDOM, "--variant", "rbc"): "--variant rbc: CodinGame's match is chess960 or crazyhouse",
        (RANDOM, RANDOM, "--sprt", "elo0=0", "elo1=5"): "--sprt has no meaning with --referee codingame: leave it out",
        (RANDOM, RANDOM, "--openings", str(empty)): "line 1: fen: ",
    }.items():
        done = referee(*arguments)
        assert done.status == 2, done
        assert reason in done.err


def test_unreachable_daemon_gives_no_verdict() -> None:
    done = referee(RANDOM, RANDOM, "--server", "127.0.0.1:1")
    assert done.status == 3
    assert done.err.startswith("Error: ")


def test_games_may_begin_with_a_position_and_be_crazyhouse(tmp_path: Path) -> None:
    record, start = tmp_path / "match.json", tmp_path / "start.fen"
    start.write_text("4k3/8/8/8/8/8/8/4K2R w K - 0 1\n")
    chosen = ("--variant", "crazyhouse", "--openings", start, "--max-moves", "2", "--json-out", record)
    assert referee(RANDOM, RANDOM, *map(str, chosen), *PATIENT).status == 0
    read = json.loads(record.read_text())
    assert (read["crazyhouse"], read["max_moves"], read["limits"]["margin"]) == (True, 2, 20.0)
    assert [game["start_fen"].split("[")[0].split()[0] for game in read["games"]] == ["4k3/8/8/8/8/8/8/4K2R"] * 2


def test_games_may_be_played_on_a_running_daemon(daemon_process: Served, tmp_path: Path) -> None:
    record = tmp_path / "match.json"
    where = ("--server", f"127.0.0.1:{daemon_process.port}")
    done = referee(RANDOM, RANDOM, *where, "--json-out", str(record), "--max-moves", "10", "--seed", "9", *PATIENT)
    assert done.status == 0, done.err
    games = json.loads(record.read_text())["games"]
    with connect(port=daemon_process.port) as client:
        for game in games:
            state = client.state(game["game_id"])["state"]
            players = (state["player_white"], state["player_black"])
            assert players[game["white"] == 1] == players[game["white"] != 1] + 1
            assert (state["result"], state["termination"]) == (game["result"], game["termination"])
            assert state["start_fen"] == game["start_fen"]
            assert client.history(game["game_id"])["moves"] == [turn["move"] for turn in game["turns"]]


def test_games_may_be_kept(tmp_path: Path) -> None:
    config = tmp_path / "match.toml"
    config.write_text(f'data = "{tmp_path / "games"}"\n')
    done = referee(FIRST, SECOND, "--config", str(config), "--seed", "0", *PATIENT)
    assert done.status == 1  # in the second game the second bot repeats its input
    lines = gmd("export", "--data", tmp_path / "games", "--format", "jsonl").out
    assert [json.loads(line)["termination"] for line in lines.splitlines()] == ["victory_black", "forfeit_white"]


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "times"), [(signal.SIGTERM, 1), (signal.SIGINT, 20)])
def test_signal_ends_the_match_and_its_bots(sent: signal.Signals, times: int, tmp_path: Path) -> None:
    pid, pipe = tmp_path / "pid", subprocess.PIPE
    bot = f"bash -c 'echo $$ > {pid}; echo fen; sleep 1000'"
    command = [*REFEREE, RANDOM, bot, *PATIENT]
    with ended(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment())) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(times):
            process.send_signal(sent)
        assert process.communicate(timeout=PATIENCE) == ("", "")
        assert process.returncode == 128 + sent
    if pid.exists() and pid.read_text().strip():  # it may have ended before it wrote this
        assert not os.path.exists(f"/proc/{pid.read_text().strip()}")


def test_late_referee_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"turn": 0.05, "first_turn": 1.0, "margin": 0.01}
    bots = [BotRecord("one", slowest_seconds=0.0594), BotRecord("two", slowest_seconds=0.0701)]
    sums_up(MatchRecord("gmd", 1, 518, False, 125, limits, bots, score=[1, 3], winner=2))
    assert capsys.readouterr().out.splitlines() == [
        "bot 1 needed 59.4 ms of 60 ms at most",
        "bot 2 needed 70.1 ms of 60 ms at most; the referee itself was late to look",
        "bot 2 (two) has won: 1½ : ½",
    ]


@pytest.mark.slow
def test_bot_that_exhausts_memory_loses_and_affects_nothing_else(tmp_path: Path) -> None:
    eater = f"{sys.executable} {BOTS / 'nuisance.py'} eat"
    config = tmp_path / "match.toml"
    config.write_text("max-memory = 256\n")
    done = referee(eater, RANDOM, *PATIENT, "--seed", "0", "--config", str(config))
    assert done.status == 1
    assert "MemoryError" in done.err
    assert re.search(r"bot 1 .* has failed in game 1, ply 2: .*it ended, with exit status 1", done.out)
