"""Long matches: the stronger side is found, a match runs unattended, and the runner's own cost is small."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.arena.matches import AT_RANDOM, lines, nuisance, played, run, summary
from tests.proofs import cases
from tests.tools import require_tool

pytestmark = pytest.mark.slow

RANDOM, ATTACKER = "reconchess:reconchess.bots.random_bot", "reconchess:reconchess.bots.attacker_bot"

#: Clocks are shown to the millisecond: the time that a clock charged is the difference of two such numbers.
CLOCK_STEPS = 0.0021

#: A few plies of many openings, so that no two pairs of games are the same.
BOOK = ["e4 e5", "e4 c5", "e4 e6", "e4 c6", "d4 d5", "d4 Nf6", "c4 e5", "c4 c5", "Nf3 d5", "Nf3 c5"]
BOOK += [f"{first} {answer}" for first in ("g3", "b3", "f4", "Nc3", "e3") for answer in ("d5", "e5")]


@pytest.mark.nightly
def test_stockfish_with_twice_the_time_wins_more_games(tmp_path: Path) -> None:
    """The times are 200 and 100 milliseconds a move."""
    stockfish, book = require_tool("stockfish"), tmp_path / "book.pgn"
    book.write_text("".join(f"1. {' '.join(moves.split())} *\n\n" for moves in BOOK))
    bots = [
        f"{name}=uci[movetime={seconds},Threads=1,Hash=16]:{stockfish}"
        for name, seconds in (("slow", 0.2), ("fast", 0.1))
    ]
    # One game at a time: two engines that share a processor do not have the time that they are given.
    arguments = ("--games", 40, "--openings", f"file={book}", "--seed", 1)
    records, totals = played(tmp_path / "match.jsonl", *bots, *arguments)
    (meeting,) = totals["meetings"]
    print(f"won {meeting['wins']}, drawn {meeting['draws']}, lost {meeting['losses']}: Elo {meeting['elo']}")
    assert totals["faults"] == {}
    assert len(records) == 40
    assert meeting["wins"] > meeting["losses"]


@pytest.mark.nightly
def test_long_match_of_blind_chess_runs_unattended(tmp_path: Path) -> None:
    games = cases(4)
    arguments = (RANDOM, ATTACKER, "--games", games, "--concurrency", 2, "--seed", 3)
    records, totals = played(tmp_path / "match.jsonl", *arguments, "--clock", "60+1")
    assert len(records) == totals["games"] == games
    assert totals["faults"] == {}
    assert {record["ending"] for record in records} <= {
        "king capture",
        "draw_reversible_moves",
        "turn limit",
        "fifty-move rule",
    }
    print(Counter(record["ending"] for record in records), totals["meetings"])


@pytest.mark.nightly
def test_trout_bot_finishes_its_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is by other authors. Its engine may crash on a request, which loses its game; the other bot never fails."""
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", str(require_tool("stockfish")))
    bots = ("trout=reconchess:reconchess.bots.trout_bot", f"other={ATTACKER}")
    records, totals = played(tmp_path / "match.jsonl", *bots, "--max-moves", 1, "--games", cases(2))
    assert len(records) == cases(2)
    assert totals["faults"].keys() <= {"trout"}


def test_sixteen_games_at_once_are_charged_the_bots_time_and_not_the_runners(tmp_path: Path) -> None:
    """This is the worst case: the bots answer at once, so that all the time goes into the runner.

    The clock is long, so that nothing here depends on the speed of the machine but the lag of a second.
    """
    games = max(16, cases(8))
    terms = ("--variant", "standard", "--clock", "100000", "--max-moves", 20)
    path = tmp_path / "match.jsonl"
    arguments = (f"one={AT_RANDOM}", f"two={AT_RANDOM}", *terms, "--games", games, "--concurrency", 16)
    status, _, complaints = run(*arguments, "--json-out", path, "--quiet")
    assert (status, complaints) == (0, "")
    totals = summary(path)
    assert totals["faults"] == {}
    assert totals["games"] == games == len(lines(path)) - 2
    rows = [row for game in lines(path)[1:-1] for rows in game["times"].values() for row in rows]
    assert max(row[2] - row[1] for row in rows if row[2] is not None) < CLOCK_STEPS


def test_bots_own_time_does_not_count_as_overhead(tmp_path: Path) -> None:
    """A bot takes a while for each move: the clock charges that, and the overhead does not grow with it."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\n"
        "for _ in range(int(input())): input()\n"
        "print('moves', flush=True)\n"
        "while True:\n"
        "    moves = [input() for _ in range(int(input()))]\n"
        "    time.sleep(0.2)\n"
        "    print(moves[0], flush=True)\n"
    )
    bots = (f"slow=codingame:python3 {slow}", nuisance())
    terms = ("--variant", "standard", "--clock", "100000", "--max-moves", 8, "--games", 1)
    records, _ = played(tmp_path / "m.jsonl", *bots, *terms)
    used = [times[1] for times in records[0]["times"]["white"]]
    charged = [times[2] for times in records[0]["times"]["white"][1:]]
    assert min(used) >= 0.2
    assert all(seconds >= 0.199 for seconds in charged)
    assert max(seconds - own for seconds, own in zip(charged, used[1:], strict=True)) < CLOCK_STEPS
