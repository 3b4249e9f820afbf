"""Faulty bots in a match lose their games, and affect nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from gm_arena.match import game as game_module
from tests.arena.matches import SHORT, TWO, games, nuisance, played, run

#: The ending, PGN's word for it, and the reason.
TROUBLES = {
    "die": ("crash", "abandoned", "ended, with exit status 3"),
    "flood": ("flood", "rules infraction", "wrote a line of more than 1048576 bytes"),
    "eat": ("crash", "abandoned", "ended, with exit status 1"),
    "illegal": ("illegal move", "rules infraction", "'a1a1' is not a legal move in"),
    "garbage": ("protocol", "rules infraction", "'hello?'"),
    "close": ("crash", "abandoned", "closed its standard output"),
}


def terminations(pgn: Path) -> list[str]:
    """Return the Termination tags of a PGN file."""
    return re.findall(r'^\[Termination "(.*)"\]$', pgn.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    "trouble",
    ["die", "flood", "illegal", "garbage", *(pytest.param(name, marks=pytest.mark.slow) for name in ("close", "eat"))],
)
def test_each_kind_of_fault_is_named(trouble: str, tmp_path: Path) -> None:
    path, pgn = tmp_path / "match.jsonl", tmp_path / "match.pgn"
    limits: list[object] = ["--clock", "300", "--variant", "standard", "--max-moves", 20]
    if trouble == "eat":  # with so many games at a time, the share of the machine's memory is small, and soon eaten
        limits += ["--concurrency", 100]
    status, said, complaints = run(nuisance(trouble), "random", *limits, "--json-out", path, "--pgn-out", pgn)
    ending, termination, reason = TROUBLES[trouble]
    assert status == 0
    assert terminations(pgn) == [termination] * 2
    assert [(game["result"], game["ending"]) for game in games(path)] == [("0-1", ending), ("1-0", ending)]
    assert reason in games(path)[0]["faults"]["white"]["reason"]
    assert f"{trouble} lost by: {ending} 2" in said
    assert trouble == "eat" or reason in complaints  # games at a time have processes, whose output is their own


@pytest.mark.slow
@pytest.mark.parametrize(("trouble", "clock"), [("hang", "1.5"), ("complain", "none")])
def test_bot_that_does_not_answer_stalls(
    trouble: str, clock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is its clock, where there is one."""
    monkeypatch.setattr(game_module, "STALL_SECONDS", 1.5)
    path, pgn = tmp_path / "match.jsonl", tmp_path / "match.pgn"
    arguments = (nuisance(trouble), "random", "--variant", "standard", "--games", 1, "--pgn-out", pgn)
    records, totals = played(path, *arguments, "--clock", clock)
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", "stall")]
    assert terminations(pgn) == ["time forfeit"]
    assert totals["faults"] == {trouble: {"stall": 1}}


@pytest.mark.slow
def test_other_games_continue_when_a_bot_floods(tmp_path: Path) -> None:
    arguments = (nuisance("complain"), nuisance("flood"), *TWO, *SHORT)
    records, totals = played(tmp_path / "match.jsonl", *arguments, "--clock", "5", "--concurrency", 6)
    assert len(records) == 12
    assert totals["faults"].keys() == {"complain", "flood"}
    assert {game["ending"] for game in records if {game["white"], game["black"]} == {"one", "two"}} == {"move limit"}


@pytest.mark.slow
def test_engine_that_writes_endlessly_about_a_move_loses(tmp_path: Path) -> None:
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
        tmp_path / "match.jsonl", f"uci:{sys.executable} {flood}", "random", "--clock", "60", "--games", 1
    )
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", "flood")]


def test_bot_that_does_not_start_again_loses_its_games(tmp_path: Path) -> None:
    """It is started once before the first game, to check that it can be."""
    bot = tmp_path / "bot"
    bot.write_text('#!/bin/bash\nread; rm "$0"; echo uciok; read\n')
    bot.chmod(0o755)
    records, totals = played(tmp_path / "match.jsonl", f"once=uci:{bot}", "random", "--variant", "standard")
    assert [(game["result"], game["ending"], game["plies"]) for game in records] == [
        ("0-1", "crash", 0),
        ("1-0", "crash", 0),
    ]
    assert totals["faults"] == {"once": {"crash": 2}}


def test_white_loses_when_both_bots_fail_as_a_game_begins(tmp_path: Path) -> None:
    """Otherwise the loser would depend on chance, and a match would not repeat itself."""
    bot = tmp_path / "bot"
    bot.write_text("#!/bin/bash\nwhile read line; do case $line in uci) echo uciok;; isready) exit 5;; esac; done\n")
    bot.chmod(0o755)
    arguments = (f"one=uci:{bot}", f"two=uci:{bot}", "--games", 6, "--concurrency", 3)
    records, totals = played(tmp_path / "match.jsonl", *arguments)
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", "crash")] * 6
    assert totals["faults"] == {"one": {"crash": 3}, "two": {"crash": 3}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sense", "move", "ending"),
    [
        ("raise ValueError('square: 64 is not a square')", "", "crash"),
        ("return 64", "", "illegal move"),
        ("return None", "return chess.Move.from_uci('e1e8')", "illegal move"),
    ],
)
def test_player_in_a_file_crashes_by_what_it_raises_and_not_by_what_it_chooses(
    sense: str, move: str, ending: str, tmp_path: Path
) -> None:
    """Its own exception may have the words of a refusal."""
    bot = tmp_path / "wrong_player.py"
    bot.write_text(
        "import chess, gm_recon\n"
        "class Wrong(gm_recon.Player):\n"
        f"    def choose_sense(self, *_):\n        {sense}\n"
        f"    def choose_move(self, *_):\n        {move or 'return None'}\n"
    )
    records, _ = played(tmp_path / "match.jsonl", f"reconchess:{bot}", "random", "--variant", "rbc", "--games", 1)
    assert [(game["result"], game["ending"]) for game in records] == [("0-1", ending)]


@pytest.mark.parametrize("bot", ["codingame:/no/such/bot", "uci:/no/such/bot", "uci:true"])
def test_bot_that_never_starts_ends_the_match(bot: str, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    status, said, complaints = run(bot, "random", "--variant", "standard", "--json-out", path)
    assert (status, said) == (2, "")
    assert re.search(r"Error: (codingame|uci):.* (cannot be started|is no UCI engine)", complaints)
    assert len(path.read_text().splitlines()) == 1  # the match may be begun again in its place
