"""A match that several machines play: each game counts once, whoever is lost, and all find one machine's verdict."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gm_arena.match.joining import compared, played_game, record_of
from gm_arena.match.openings import Opening
from gm_arena.match.plan import Fixture
from gm_client.blocking import WorkClaim, connect
from tests.arena.matches import PATIENCE, TWO, command, games, played, run, same_whenever, summary
from tests.arena.test_contest import page
from tests.serving import Served, environment, served

#: A match with wins of both sides, which ends after some of its games.
MATCH = (*TWO, "--variant", "crazyhouse", "--max-moves", 50, "--games", 40, "--sprt", "elo0=0", "elo1=300")
JOIN = ("--join", "spring")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served("--data", str(tmp_path / "data"), "--http", "--http-port", "0") as daemon:
        yield daemon


class Alone(NamedTuple):
    """The match as one machine plays it: its record, its games, and its summary."""

    record: Path
    games: list[dict[str, Any]]
    summary: dict[str, Any]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    record = tmp_path_factory.mktemp("alone") / "alone.jsonl"
    return Alone(record, *played(record, *MATCH, "--concurrency", 2))


class Machine:
    """A process of ``gmd match``.

    :ivar record: the file of its games.
    """

    def __init__(self, process: subprocess.Popen[str], record: Path) -> None:
        self.process, self.record = process, record

    def reaches(self, number: int) -> None:
        """Return once a game is over, and all before it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(f"game {number}:"):
                return
        raise AssertionError(f"the match has ended before game {number}")

    def ended(self) -> str:
        """Return what it prints from now to its end."""
        out, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, out
        return out


@contextmanager
def machine(server: Served, record: Path, *options: object) -> Iterator[Machine]:
    where = ("--server", f"127.0.0.1:{server.port}", *JOIN, "--lease", 2)
    arguments = command(*MATCH, *where, "--json-out", record, *options)
    with subprocess.Popen(arguments, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Machine(process, record)
        finally:
            process.kill()


def verdict_of(record: Path) -> dict[str, Any]:
    """Return a match's summary, without what its machine has measured."""
    return {name: value for name, value in summary(record).items() if name not in ("overhead", "hand_over")}


def counted(data: Path) -> list[tuple[int, str, str]]:
    """Return number, worker and result of each game that is over, as the database has them."""
    with closing(sqlite3.connect(data / "games.sqlite")) as connection:
        query = "SELECT number, worker, result FROM match_games WHERE result IS NOT NULL ORDER BY number"
        return connection.execute(query).fetchall()


@pytest.mark.long
def test_three_machines_of_which_one_is_killed_find_the_verdict_of_one(
    server: Served, tmp_path: Path, alone: Alone
) -> None:
    with ExitStack() as running:
        machines = [running.enter_context(machine(server, tmp_path / f"{name}.jsonl")) for name in "abc"]
        machines[0].reaches(2)
        machines[0].process.send_signal(signal.SIGKILL)
        outputs = [each.ended() for each in machines[1:]]
    assert alone.summary["sprt"]["accepted"] is not None
    for each in machines[1:]:
        assert verdict_of(each.record) == verdict_of(alone.record)
    assert all(output.splitlines()[-1] == alone.summary["verdict"] for output in outputs)

    there = counted(tmp_path / "data")
    played_alone = len(alone.games)
    assert [number for number, _, _ in there][:played_alone] == list(range(1, played_alone + 1))
    assert [result for _, _, result in there][:played_alone] == [game["result"] for game in alone.games]
    own = [game for each in machines for game in games(each.record)]
    assert len({game["game"] for game in own}) == len(own)  # no game is in two files
    by_number = {game["game"]: game for game in own}
    for game in alone.games:
        if game["game"] in by_number:
            assert same_whenever([by_number[game["game"]]]) == same_whenever([game])
    workers = {number: worker for number, worker, _ in there}
    for each in machines[1:]:
        assert len({workers[game["game"]] for game in games(each.record)}) == 1
    assert "Match of Crazyhouse, over" in page(server.http, "/contests/1")


@pytest.mark.long
def test_killed_machine_resumes_its_part(server: Served, tmp_path: Path, alone: Alone) -> None:
    record = tmp_path / "a.jsonl"
    with machine(server, record) as killed:
        killed.reaches(3)
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait(PATIENCE)
    before = games(record)
    with machine(server, record, "--resume", "--pgn-out", tmp_path / "a.pgn") as again:
        again.ended()
    assert verdict_of(record) == verdict_of(alone.record)
    numbers = [game["game"] for game in games(record)]
    assert games(record)[: len(before)] == before
    assert len(set(numbers)) == len(numbers)
    assert {worker for _, worker, _ in counted(tmp_path / "data")} == {lines_contest(record)}
    assert (tmp_path / "a.pgn").read_text().count("[Event ") == len(numbers)


def lines_contest(record: Path) -> str:
    """Return the name of a record's machine."""
    return str(json.loads(record.read_text().splitlines()[0])["contest"])


def test_stopped_machine_gives_its_games_back_at_once(server: Served, tmp_path: Path) -> None:
    with machine(server, tmp_path / "a.jsonl", "--lease", 3600) as stopped:
        stopped.reaches(1)
        stopped.process.send_signal(signal.SIGINT)
        assert stopped.process.wait(PATIENCE) == 130
    with closing(sqlite3.connect(tmp_path / "data/games.sqlite")) as connection:
        query = "SELECT count(*) FROM match_games WHERE worker IS NOT NULL AND result IS NULL"
        assert connection.execute(query).fetchone() == (0,)
    assert "Match of Crazyhouse, stopped" in page(server.http, "/contests/1")


def test_machine_that_comes_after_the_end_prints_the_verdict(server: Served, tmp_path: Path) -> None:
    where = ("--server", f"127.0.0.1:{server.port}", *JOIN)
    short = (*TWO, "--variant", "standard", "--max-moves", 4, "--games", 3)
    status, first, err = run(*short, *where)
    assert status == 0, err
    status, later, err = run(*short, *where, "--json-out", tmp_path / "none.jsonl")
    assert status == 0, err
    assert "0 of these 3 games were played here" in err
    assert later.splitlines()[-1] == first.splitlines()[-1]
    assert games(tmp_path / "none.jsonl") == []
    assert summary(tmp_path / "none.jsonl")["games"] == 3


def test_other_arguments_are_refused_with_what_differs(server: Served) -> None:
    where = ("--server", f"127.0.0.1:{server.port}", *JOIN)
    short = (*TWO, "--variant", "standard", "--max-moves", 4)
    assert run(*short, *where)[0] == 0
    for options, difference in (
        (("--games", 4), "games is 2 in this match, not 4"),
        (("--seed", 7), "seed is 0 in this match, not 7"),
        (("--sprt", "elo0=0", "elo1=5"), 'sprt is [] in this match, not ["elo0=0", "elo1=5"]'),
    ):
        status, _, err = run(*short, *where, *options)
        assert (status, difference in err) == (1, True), err


def test_join_needs_a_server_and_a_record_keeps_its_name(tmp_path: Path, server: Served) -> None:
    status, _, err = run(*TWO, *JOIN)
    assert (status, "--join goes with --server" in err) == (2, True)
    record = ("--json-out", tmp_path / "a.jsonl")
    where = ("--server", f"127.0.0.1:{server.port}", *record)
    short = (*TWO, "--variant", "standard", "--max-moves", 4)
    assert run(*short, *where, *JOIN)[0] == 0
    for other in ((), ("--join", "autumn")):
        status, _, err = run(*short, *where, *other, "--resume")
        assert status == 1
        assert "belongs to another match: its join is" in err


def test_record_of_a_match_that_the_server_has_forgotten_is_refused(server: Served, tmp_path: Path) -> None:
    short = (*TWO, "--variant", "standard", "--max-moves", 4, "--json-out", tmp_path / "a.jsonl", *JOIN)
    assert run(*short, "--server", f"127.0.0.1:{server.port}")[0] == 0
    with served() as other:
        status, _, err = run(*short, "--resume", "--server", f"127.0.0.1:{other.port}")
    assert status == 1
    assert "the server has forgotten this match: the record here has 2 games of it, and the server 0" in err


def test_result_of_another_program_ends_the_match(server: Served) -> None:
    short = (*TWO, "--variant", "standard", "--max-moves", 4, *JOIN, "--server", f"127.0.0.1:{server.port}")
    assert run(*short)[0] == 0
    with closing(sqlite3.connect(Path(server_data(server)) / "games.sqlite")) as connection:
        connection.execute("UPDATE match_games SET detail = 'something' WHERE number = 2")
        connection.commit()
    status, _, err = run(*short)
    assert status == 1
    assert "game 2 was reported by something else than gmd match" in err


def server_data(server: Served) -> str:
    arguments = server.process.args
    assert isinstance(arguments, list | tuple)
    return str(arguments[list(arguments).index("--data") + 1])


def test_game_passes_between_machines_as_its_summary_needs_it() -> None:
    record = {
        "game": 3, "result": "1-0", "game_id": 77, "start_fen": "x", "moves": ["e2e4"], "plies": 1, "seconds": 1.23456,
        "ending": "illegal move",
    }  # fmt: skip
    fixture = Fixture(3, 1, 0, 2, Opening("start"), (0, 1, 1))
    found = record_of(played_game(record), fixture, ["a", "b"], {})
    assert (found["white"], found["black"], found["pair"], found["opening"]) == ("b", "a", (0, 1, 1), "start")
    assert (found["result"], found["ending"], found["plies"]) == ("1-0", "illegal move", 1)
    assert found["seconds"] == 1.235
    other = record_of(played_game(record | {"moves": ["e2e3"]}), fixture, ["a", "b"], {})
    assert found["moves"] != other["moves"]


def test_long_arguments_are_compared_by_their_digest() -> None:
    (version, short, long) = compared({"seed": 7, "bots": ["x" * 500], "join": "spring"})
    assert version.startswith("gmd=")
    assert short == "seed=7"
    assert long.startswith("bots=sha256:")
    assert compared({"bots": ["x" * 501]})[1] != long


def test_repeated_request_of_the_client_gets_the_same_games(server: Served) -> None:
    with connect("127.0.0.1", server.port) as client:
        claim: WorkClaim = {"worker": "w" * 16, "arguments": ["a=1"], "games": 4, "want": 2}
        reply = client.work("t" * 16, claim)
        assert reply["share"]["hold"] == [1, 2]
        assert client.work("t" * 16, claim) == reply
