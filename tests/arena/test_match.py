"""``gmd match`` as its users run it: a process, its games, its files and its exit status."""

from __future__ import annotations

import io
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import chess.pgn
import pytest

from gm_arena.match import workers
from gm_client import connect
from tests.arena.matches import (
    AT_RANDOM,
    PATIENCE,
    SHORT,
    TWO,
    command,
    games,
    lines,
    nuisance,
    played,
    run,
    same_whenever,
    summary,
)
from tests.serving import Served, environment
from tests.tools import require_tool

# The games that are played.


@pytest.mark.slow
def test_match_prints_its_games_and_its_result(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    status, said, complaints = run(
        *TWO, *SHORT, "--games", 4, "--clock", "60+0.5", "--each", "timemargin=200", "--json-out", path
    )
    assert (status, complaints) == (0, "")
    shown = said.splitlines()
    assert shown[0] == "game 1: one - two 1/2-1/2, move limit, 24 plies"
    assert shown[1].startswith("game 2: two - one ")
    assert shown[4] == "one against two: won 0, drawn 4, lost 0; 50.0 %"
    assert shown[5] == "Elo: unknown, since all results are the same"
    assert shown[6] == "Ptnml(0-2): [0, 0, 2, 0, 0]"
    assert shown[7] == "games ended by: move limit 4"
    assert shown[8:] == [
        "not decided: one scored 50.0 % in 4 games; about 1,700 more games would show a difference of 20 Elo"
    ]
    assert summary(path)["verdict"] == shown[8]
    first = games(path)[0]
    assert first["clock"] == {"initial": 60.0, "increment": 0.5, "margin": 0.2, "lag": 1.0}
    assert lines(path)[0]["arguments"]["margin"] == 200
    assert [len(first["times"][color]) for color in ("white", "black")] == [12, 12]
    assert summary(path)["meetings"][0]["pairs"] == [0, 0, 2, 0, 0]


@pytest.mark.slow
def test_same_seed_gives_the_same_games_at_any_concurrency(tmp_path: Path) -> None:
    book = tmp_path / "book.pgn"
    book.write_text("".join(f"1. {move} *\n\n" for move in ("e4", "d4", "c4", "Nf3")))
    arguments = (TWO[0], "random", *SHORT, "--games", 8, "--openings", f"file={book}")
    runs = [
        same_whenever(played(tmp_path / f"{number}.jsonl", *arguments, "--seed", seed, "--concurrency", at_once)[0])
        for number, (seed, at_once) in enumerate([(1, 1), (1, 4), (2, 4)])
    ]
    assert runs[0] == runs[1] != runs[2]
    assert [game["game"] for game in runs[0]] == list(range(1, 9))
    assert {game["opening"] for game in runs[0]} == {"1", "2", "3", "4"}
    assert all(
        first["moves"][0] == second["moves"][0] for first, second in zip(runs[0][::2], runs[0][1::2], strict=True)
    )


def test_match_plays_other_variants_of_chess(tmp_path: Path) -> None:
    for variant in ("chess960", "crazyhouse"):
        records, _ = played(tmp_path / f"{variant}.jsonl", *TWO, "--variant", variant, "--max-moves", 1)
        assert [(game["variant"], game["ending"]) for game in records] == [(variant, "move limit")] * 2
        assert records[0]["opening"].startswith("position ") == (variant == "chess960")


@pytest.mark.slow
def test_match_of_installed_bots_and_of_more_than_two(tmp_path: Path) -> None:
    arguments = ("random:seed=1", "random:seed=2", "third=random", "--variant", "standard", "--max-moves", 1)
    status, said, _ = run(*arguments, "--json-out", tmp_path / "match.jsonl", "--quiet")
    assert status == 0
    assert len(games(tmp_path / "match.jsonl")) == 6
    assert re.search(r"│ 1 │ .* │ +2 │ +4 │ +× │ +½½ │ +½½ │", said)
    records, _ = played(tmp_path / "gauntlet.jsonl", *arguments, "--tournament", "gauntlet")
    assert len(records) == 4
    assert all("random:seed=1" in (game["white"], game["black"]) for game in records)


def playing(daemon: Served, moves: int, **who: Any) -> Thread:
    """Return the running thread of a player that is present, and makes so many moves in all its games."""
    ready = Event()

    def play() -> None:
        with connect(port=daemon.port, **who) as client:
            client.ping()
            ready.set()
            for turn in itertools.islice(client.turns(), moves):
                turn.move(turn.move_actions[0])

    thread = Thread(target=play)
    thread.start()
    assert ready.wait(PATIENCE)
    return thread


REMOTE = ("--variant", "standard", "--max-moves", 3, "--clock", "60")


def test_match_plays_on_a_server_against_an_independent_player(tmp_path: Path, daemon_process: Served) -> None:
    other = playing(daemon_process, 6, player=77_001)
    server = ("--server", f"localhost:{daemon_process.port}")
    records, _ = played(tmp_path / "match.jsonl", TWO[0], "gm:77001", *REMOTE, *server)
    other.join()
    assert [game["ending"] for game in records] == ["move limit"] * 2
    assert [list(game["times"]) for game in records] == [["white"], ["black"]]


@pytest.mark.slow
def test_player_who_leaves_loses_on_time(tmp_path: Path, daemon_process: Served) -> None:
    def come_and_go() -> None:
        with connect(port=daemon_process.port, player=77_002) as client:
            client.state(client.wait(any=True)["state"]["game_id"])

    other = Thread(target=come_and_go)
    other.start()
    arguments = (TWO[0], "gm:77002", *SHORT, "--games", 1, "--clock", "1")
    records, totals = played(tmp_path / "match.jsonl", *arguments, "--server", f"localhost:{daemon_process.port}")
    other.join()
    assert [(game["result"], game["ending"]) for game in records] == [("1-0", "time")]
    assert totals["faults"] == {"gm:77002": {"time": 1}}


@pytest.mark.parametrize("remote", [["match-ann"], ["match-bea", "match-joe"]])
def test_registered_players_are_challenged_by_their_names(
    remote: list[str], tmp_path: Path, daemon_process: Served
) -> None:
    """The match plays for a player of its own, or one of the two invites the other."""
    me = remote[-1] if len(remote) == 2 else "match-me"
    with connect(port=daemon_process.port) as operator:
        keys = {name: str(operator.register(name)["key"]) for name in {*remote, me}}
    threads = [playing(daemon_process, 6, name=name, key=keys[name]) for name in remote]
    bots = [*TWO[: 2 - len(remote)], *(f"gm:{name}" for name in remote)]
    who = ("--server", f"localhost:{daemon_process.port}", "--player", me, "--key", keys[me])
    records, _ = played(tmp_path / "match.jsonl", *bots, *REMOTE, *who)
    for thread in threads:
        thread.join()
    assert [game["ending"] for game in records] == ["move limit"] * 2


# Resuming, and ending early.


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 2])
def test_game_that_lost_its_process_goes_on_at_the_server(at_once: int, tmp_path: Path, daemon_process: Served) -> None:
    """A bot kills the process that plays its game, once: the match, which is resumed then, or one of its workers."""
    turns = f"[ $((++n)) = 3 ] && mkdir {tmp_path / 'killed'} && kill -9 $PPID; echo random"
    killer = f"killer=codingame:bash -c 'echo fen; read; read; read; while read; do {turns}; done'"
    path = tmp_path / "match.jsonl"
    server = ("--server", f"localhost:{daemon_process.port}", "--concurrency", at_once, "--json-out", path)
    arguments = (killer, TWO[0], *SHORT, "--games", 2, *server)
    with connect(port=daemon_process.port) as client:
        before = {game["game_id"] for game in client.games()["games"]}
        found = subprocess.run(command(*arguments), env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        if at_once == 1:
            assert found.returncode == -signal.SIGKILL
            assert run(*arguments, "--resume")[0] == 0
        else:
            assert (found.returncode, found.stderr) == (0, "A process is lost. Its job is given to another.\n")
        made = {game["game_id"]: game["status"] for game in client.games()["games"] if game["game_id"] not in before}
    assert made == dict.fromkeys((game["game_id"] for game in games(path)), "over")
    assert [game["plies"] for game in games(path)] == [24, 24]


@pytest.mark.slow
def test_killed_match_resumes_and_ends_with_the_same_games(tmp_path: Path) -> None:
    arguments = (*TWO, "--variant", "chess960", "--max-moves", 30, "--games", 12, "--concurrency", 3)
    whole, _ = played(tmp_path / "whole.jsonl", *arguments)
    path = tmp_path / "killed.jsonl"
    files = ("--json-out", path, "--pgn-out", tmp_path / "games.pgn")
    process = subprocess.Popen(command(*arguments, *files), env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    process.kill()
    process.communicate()
    before = len(games(path))
    assert 4 <= before < 12
    status, said, complaints = run(*arguments, *files, "--resume")
    assert (status, complaints) == (0, "")
    assert said.startswith(f"{before} games were played before\n")
    assert same_whenever(games(path)) == same_whenever(whole)
    assert (tmp_path / "games.pgn").read_text().count("[Event ") == 12
    status, said, _ = run(*arguments, *files, "--resume")
    assert (status, len(games(path)), len(lines(path))) == (0, 12, 14)
    assert said.startswith("12 games were played before\none against two: ")


def test_match_resumes_only_with_its_own_arguments(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    terms = ("--variant", "standard", "--max-moves", 1)
    played(path, *TWO, *terms)
    status, _, complaints = run(*TWO, *terms, "--games", 4, "--json-out", path, "--resume")
    assert (status, complaints) == (1, f"Error: {path} belongs to another match: its games is 2, not 4\n")
    status, _, complaints = run(*TWO, *terms, "--json-out", path)
    assert (status, complaints) == (
        1,
        f"Error: {path} exists already: continue it with --resume, or name another file\n",
    )


@pytest.mark.slow
def test_ctrl_c_keeps_the_games_played(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    arguments = (*TWO, *SHORT, "--games", 1000, "--json-out", path)
    process = subprocess.Popen(command(*arguments), env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    count = len(games(path))
    assert 3 <= count < 1000
    assert f"one against two: won 0, drawn {count}, lost 0; 50.0 %" in said
    assert not any("summary" in line for line in lines(path))


def groups_running() -> set[int]:
    """Return the process groups that have more than zombies."""
    rows = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout.splitlines()
    return {int(group) for group, state in map(str.split, rows) if not state.startswith("Z")}


@pytest.mark.slow
@pytest.mark.parametrize("signals", [2, 20])
def test_repeated_ctrl_c_leaves_no_bot_and_reports_the_games_played(signals: int, tmp_path: Path) -> None:
    fifo = tmp_path / "pids"
    os.mkfifo(fifo)
    deaf = f"deaf=codingame:bash -c 'trap \"\" TERM HUP PIPE; echo $$ > {fifo}; sleep 1000 & while :; do wait; done'"
    arguments = (deaf, AT_RANDOM, *SHORT, "--games", 4, "--concurrency", 2)
    process = subprocess.Popen(
        command(*arguments), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with open(os.open(fifo, os.O_RDWR), "rb", buffering=0) as pipe:
        pids = [int(pipe.readline()) for _ in range(2)]
    for _ in range(signals):
        process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said, complaints) == (130, "no game was played\n", "")
    until = time.monotonic() + PATIENCE
    while groups_running() & set(pids):  # they are killed, which takes some time
        assert time.monotonic() < until


@pytest.mark.slow
def test_sequential_test_ends_the_match_when_it_is_decided(tmp_path: Path) -> None:
    """It ends at the same game, however many are played at once."""
    found = []
    for at_once in (1, 3):
        path = tmp_path / f"{at_once}.jsonl"
        arguments = (nuisance("die"), AT_RANDOM, "--variant", "standard", "--games", 500, "--concurrency", at_once)
        status, said, _ = run(*arguments, "--sprt", "elo0=0", "elo1=200", "alpha=0.1", "--json-out", path)
        assert status == 0
        assert re.search(r"^LLR: -[\d.]+ \(-2.\d+, 2.\d+\) \[normalized elo0=0, elo1=200\]: ", said, re.MULTILINE)
        assert "]: elo0=0 is accepted" in said
        assert summary(path)["sprt"]["accepted"] == "H0"
        found.append(same_whenever(games(path)))
    assert found[0] == found[1]
    assert 4 <= len(found[0]) < 50


# The files that it writes.


def test_games_are_written_as_pgn_with_the_bots_names(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    status, _, _ = run(
        nuisance("die"),
        AT_RANDOM,
        "--variant",
        "standard",
        "--clock",
        "9+1",
        "--each",
        "timemargin=500",
        "--pgn-out",
        path,
    )
    assert status == 0
    text = io.StringIO(path.read_text())
    first, second = chess.pgn.read_game(text), chess.pgn.read_game(text)
    assert first is not None
    assert second is not None
    assert [first.headers[name] for name in ("White", "Black", "Round", "Result", "Ending", "TimeMargin")] == [
        "die", AT_RANDOM, "1", "0-1", "crash", "0.5",
    ]  # fmt: skip
    assert "ended, with exit status 3" in first.headers["WhiteFault"]
    assert (second.headers["White"], second.headers["BlackFault"][:3]) == (AT_RANDOM, sys.executable[:3])
    assert len(list(first.mainline_moves())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["standard", "rbc"])
def test_moves_in_pgn_have_their_scores_depths_and_times_as_comments(variant: str, tmp_path: Path) -> None:
    path, record = tmp_path / "games.pgn", tmp_path / "match.jsonl"
    bots = ("deep=minimax:depth=2", "blind=random", "--variant", variant, "--max-moves", 6, "--clock", "60")
    status, _, _ = run(*bots, "--pgn-out", path, "--json-out", record)
    assert status == 0
    text = path.read_text("utf-8")
    assert max(map(len, text.splitlines())) < 80
    assert " 1... " in text, "a comment after White's move needs the number again"
    for game, pgn in zip(games(record), text.strip().split("\n\n[Event"), strict=True):
        said = re.findall(r"(?:\[%eval (-?\d+\.\d\d),(\d+)\]\s+)?\[%emt (\d:\d\d:\d\d(?:\.\d+)?)\]", pgn)
        rows = sorted([(*row, color) for color in game["times"] for row in game["times"][color]])
        assert len(said) == len(rows) == game["plies"]
        for (score, depth, emt), (_, thought, _, _, own, searched, color) in zip(said, rows, strict=True):
            side = 1 if color == "white" else -1
            assert (score, depth) == ("", "") if own is None else (float(score), depth) == (
                pytest.approx(side * int(own) / 100), str(searched)
            )  # fmt: skip
            hours, minutes, seconds = map(float, emt.split(":"))
            assert 3600 * hours + 60 * minutes + seconds == pytest.approx(thought, abs=1e-3)
        assert {row[5] is None for row in rows} == {True, False}


@pytest.mark.slow
def test_comments_in_pgn_are_read_by_other_programs(tmp_path: Path) -> None:
    path, record = tmp_path / "games.pgn", tmp_path / "match.jsonl"
    bots = ("deep=minimax:depth=2", "blind=random", *SHORT, "--json-out", record)
    assert run(*bots, "--pgn-out", path)[0] == 0
    text = path.read_text("utf-8")
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    assert [move.uci() for move in game.mainline_moves()] == games(record)[0]["moves"]
    first = game.variations[0]
    assert (first.eval_depth(), first.emt() is None) == (2, False)


@pytest.mark.slow
def test_every_move_is_written_with_its_times_and_scores(tmp_path: Path) -> None:
    stockfish = require_tool("stockfish")
    path = tmp_path / "moves.csv"
    bots = (f"fish=uci[depth=1]:{stockfish}", AT_RANDOM)
    status, _, _ = run(
        *bots, "--variant", "standard", "--clock", "60", "--games", 1, "--max-moves", 3, "--csv-out", path
    )
    assert status == 0
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    assert header[:7] == ["game", "ply", "color", "bot", "move", "score", "pawns"]
    assert [row[:3] for row in rows] == [["1", str(ply), ("white", "black")[ply % 2]] for ply in range(6)]
    for row in rows[::2]:
        assert row[3] == "fish"
        assert re.fullmatch(r"[+-]\d+", row[5])
        assert float(row[6]) == int(row[5]) / 100
    assert all(row[5:7] == ["", ""] for row in rows[1::2])


@pytest.mark.parametrize("option", ["--json-out", "--pgn-out", "--csv-out"])
def test_full_disk_ends_the_match(option: str) -> None:
    status, _, complaints = run(*TWO, *SHORT, option, "/dev/full")
    assert (status, complaints) == (1, "Error: /dev/full cannot be written: No space left on device\n")


# Wrong arguments.

#: A bot that is not in this process, and plays chess alone.
CHESS = f"chess={AT_RANDOM}"

WRONG = {
    ("random",): "BOTS: a match needs at least two bots",
    ("random", "fritz:x"): "'fritz:x' is not a bot: write reconchess:FILE, uci:COMMAND, codingame:COMMAND",
    ("random", "uci[Hash]:x"): "uci[Hash]:x: 'Hash' is not NAME=VALUE",
    ("random", "uci[depth=0]:x"): "depth=0 is not a whole number above 0",
    ("random", "codingame[Hash=1]:x"): "codingame[...]: only UCI engines have settings in brackets",
    ("random", "gm:"): "'gm:' is not a player: write gm:ID or gm:NAME",
    ("random", "gm:7"): "gm:7 plays on a server: give --server",
    ("random", "gm:7", "--server", ":1"): "gm:7 plays elsewhere: give --clock",
    (
        "random",
        "gm:joe",
        "--server",
        ":1",
        "--clock",
        "9",
    ): "gm:joe can only be challenged by a registered player: give",
    ("gm:ann", "gm:joe", "--server", ":1", "--clock", "9"): "one of gm:ann and gm:joe must invite the other: give its",
    (*TWO, "--resume"): "--resume needs --json-out, the record to continue",
    (*TWO, "--each", "timemargin=5"): "margin needs a clock: give --clock as well",
    (*TWO, "--each", "tc=9", "--clock", "9"): "--each tc= sets what clock has set already: give only one of them",
    (*TWO, "--each", "tc=40/60"): "--each: tc: '40/60' is a time for 40 moves, which cannot be played: write",
    (*TWO, "--each"): "--each needs a word NAME=VALUE; write --each tc=10+0.1 option.Hash=64",
    (*TWO, "--each", "restart=on"): "--each: 'restart=on' is unknown; there are tc=, st=, depth=, nodes=, timemargin=",
    (*TWO, "--each=restart=on"): "timemargin=, proto= and option.NAME=, as in --each tc=10+0.1 option.Hash=64",
    (*TWO, "--each", "proto=xboard"): "--each: proto: 'xboard' is not uci, the only protocol of engines here",
    (*TWO, "--each", "st=0"): "--each: st: '0' is not a number of seconds above 0",
    (*TWO, "--openings", "book.pgn"): "--openings needs file; write --openings file=book.pgn plies=16",
    (*TWO, "--openings", "file=x", "order=any"): "--openings: order: 'any' is neither random nor sequential",
    (): "BOTS: a match needs at least two bots",
    (CHESS, "random", "--variant", "rbc"): "chess plays chess960, crazyhouse, standard, and not rbc",
    (*TWO, "--sprt", "elo0=0"): "--sprt needs elo0 and elo1; write --sprt elo0=0 elo1=10",
    (*TWO, "--sprt", "elo0=0 elo1=5"): "--sprt: elo0: '0 elo1=5' is not a number; write --sprt elo0=0 elo1=10",
    (*TWO, "--sprt=elo2=0"): "--sprt: 'elo2=0' is unknown; there are elo0=, elo1=, alpha=, beta= and model=, as in",
    (*TWO, "--sprt", "elo0=5", "elo1=5"): "--sprt: elo0=5 is not below elo1=5",
    (*TWO, "--sprt", "elo0=0", "elo1=nan"): "--sprt: elo1=nan is not from -10000 to 10000",
    (*TWO, "--resign", "movecount=3"): "--resign needs movecount and score; write --resign movecount=3 score=600",
    (*TWO, "--resign"): "--resign needs movecount and score; write --resign movecount=3 score=600",
    (
        *TWO,
        "--resign=score=-5",
    ): "--resign: score: '-5' is not a whole number of at least 1; write --resign",
    (*TWO, "--resign", "movecount=3", "score=600", "twosided=2"): "twosided: '2' is neither true nor false; write",
    (*TWO, "--draw", "movecount=3", "score=6"): "--draw needs movenumber, movecount and score; write --draw movenumber",
    (*TWO, "--draw=moves=6"): "--draw: 'moves=6' is unknown; there are movenumber=, movecount= and score=, as in",
    (*TWO, "--variant", "rbc", "--draw", "movenumber=4", "movecount=3", "score=6"): "no draw can be agreed in rbc",
    (*TWO, "--clock", "40/60+0.6"): "'40/60+0.6' is a time for 40 moves, which cannot be played: write the time for",
    (*TWO, "--clock", "40/60"): "'40/60' is a time for 40 moves, which cannot be played: write the time for the whole",
    (
        *TWO,
        "--sprt",
        "elo0=0",
        "elo1=5",
        "alhpa=0.1",
    ): "--sprt needs exactly two bots, and not one=random, two=random, alhpa=0.1",
    (*TWO, "--openings", "file=/no/such.pgn"): "openings: /no/such.pgn: No such file or directory",
    (*TWO, "--clock", "0+1"): "or none, with times above 0",
    (*TWO, "--clock", "nan"): "'nan' is no clock: write 300, 180+2, 1/0.05",
    (*TWO, "--player", "x"): "--player goes with --server",
    (*TWO, "--tls"): "--tls goes with --server",
}


def test_words_of_fastchess_mean_what_they_mean_there(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    words = ("--each", "tc=8+0.1", "timemargin=50", "proto=uci", "option.seed=7", "--rounds", 3, "--max-moves", 2)
    assert run(*TWO, *words, "--variant", "standard", "--json-out", path)[0] == 0
    assert len(games(path)) == 6, "each round has two games"
    assert games(path)[0]["clock"] == {"initial": 8.0, "increment": 0.1, "lag": 1.0, "margin": 0.05}
    assert lines(path)[0]["arguments"]["options"] == ["seed=7"]


def test_command_line_has_at_most_25_options() -> None:
    _, said, _ = run("--help")
    assert len(re.findall(r"^  --(?!help)\w", said, re.MULTILINE)) <= 25
    assert re.findall(r"^(\w.*):$", said, re.MULTILINE)[:4] == ["Games", "Rules", "Output", "Another server"]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_arguments_are_reported(arguments: tuple[str, ...]) -> None:
    status, said, complaints = run(*arguments)
    assert (status, said) == (2, "")
    assert WRONG[arguments] in " ".join(complaints.split())


def test_unreachable_server_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE_SECONDS", 0.1)
    status, _, complaints = run(*TWO, "--server", "localhost:1")
    assert status == 1
    assert complaints.startswith("Error: cannot connect to localhost:1: ")
