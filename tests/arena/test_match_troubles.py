"""In a match bots that do wrong lose their games, and nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.arena.matches import AT_RANDOM, SHORT, TWO, games, nuisance, played, run

TROUBLES = {
    "die": ("crash", "ended, with exit status 3"),
    "flood": ("flood", "wrote a line of more than 1048576 bytes"),
    "eat": ("crash", "ended, with exit status 1"),
    "illegal": ("illegal move", "'a1a1' is not a legal move in"),
    "garbage": ("protocol", "'hello?'"),
    "close": ("crash", "closed its standard output"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_a_bot_does_wrong_is_told_apart(trouble: str, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    limits = ("--max-memory", 256, "--clock", "30", "--variant", "standard", "--max-moves", 20)
    status, said, complaints = run(nuisance(trouble), AT_RANDOM, *limits, "--json-out", path)
    ending, reason = TROUBLES[trouble]
    assert status == 0
    assert [(game["result"], game["ending"]) for game in games(path)] == [("0-1", ending), ("1-0", ending)]
    assert reason in games(path)[0]["faults"]["white"]["reason"]
    assert f"{trouble} lost by: {ending} 2" in said
    assert reason in complaints


@pytest.mark.parametrize(("trouble", "terms"), [("hang", "--clock"), ("complain", "--stall")])
def test_a_bot_that_does_not_answer_stalls(trouble: str, terms: str, tmp_path: Path) -> None:
    """By the clock, where there is one; else after as long as was said."""
    path = tmp_path / "match.jsonl"
    records, told = played(path, nuisance(trouble), AT_RANDOM, "--variant", "standard", "--games", 1, terms, "1.5")
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", "stall")]
    assert told["faults"] == {trouble: {"stall": 1}}


def test_games_beside_a_bot_that_floods_go_on(tmp_path: Path) -> None:
    arguments = (nuisance("complain"), nuisance("flood"), *TWO, *SHORT)
    records, told = played(tmp_path / "match.jsonl", *arguments, "--clock", "5", "--concurrency", 6)
    assert len(records) == 12
    assert told["faults"].keys() == {"complain", "flood"}
    assert {game["ending"] for game in records if {game["white"], game["black"]} == {"one", "two"}} == {"move limit"}


def test_an_engine_that_writes_without_end_about_a_move(tmp_path: Path) -> None:
    flood = tmp_path / "flood.py"
    flood.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    answers = {'uci': 'uciok', 'isready': 'readyok'}\n"
        "    print(answers.get(line.strip(), ''), flush=True)\n"
        "    while line.startswith('go'):\n"
        "        sys.stdout.write('info string so much to say\\n' * 1000)\n"
    )
    records, _ = played(
        tmp_path / "match.jsonl", f"uci:{sys.executable} {flood}", AT_RANDOM, "--clock", "60", "--games", 1
    )
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", "flood")]


def test_a_bot_that_does_not_start_again_loses_its_games(tmp_path: Path) -> None:
    """It is started once before the first game, to see that there is such a bot."""
    bot = tmp_path / "bot"
    bot.write_text('#!/bin/bash\nread; rm "$0"; echo uciok; read\n')
    bot.chmod(0o755)
    records, told = played(tmp_path / "match.jsonl", f"once=uci:{bot}", AT_RANDOM, "--variant", "standard")
    assert [(game["result"], game["ending"], game["plies"]) for game in records] == [
        ("0-1", "crash", 0),
        ("1-0", "crash", 0),
    ]
    assert told["faults"] == {"once": {"crash": 2}}


def test_where_both_fail_as_a_game_begins_white_has_lost(tmp_path: Path) -> None:
    """It is a matter of chance else, and the same match not the same twice."""
    bot = tmp_path / "bot"
    bot.write_text("#!/bin/bash\nwhile read line; do case $line in uci) echo uciok;; isready) exit 5;; esac; done\n")
    bot.chmod(0o755)
    arguments = (f"one=uci:{bot}", f"two=uci:{bot}", "--games", 6, "--concurrency", 3)
    records, told = played(tmp_path / "match.jsonl", *arguments)
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", "crash")] * 6
    assert told["faults"] == {"one": {"crash": 3}, "two": {"crash": 3}}


@pytest.mark.parametrize("bot", ["codingame:/no/such/bot", "uci:/no/such/bot", "uci:true"])
def test_a_bot_that_cannot_be_started_at_all_is_no_opponent(bot: str, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    status, said, complaints = run(bot, AT_RANDOM, "--variant", "standard", "--json-out", path)
    assert (status, said) == (2, "")
    assert re.search(r"Error: (codingame|uci):.* cannot be started", complaints)
    assert len(path.read_text().splitlines()) == 1  # in the place of which the match may be begun again
