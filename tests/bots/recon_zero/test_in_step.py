"""``gmd match --in-step`` with recon-zero, and its matches by clocks, as users run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="needs numba: .venv/bin/pip install -e '.[env]'")

from gm_arena.match.match import parts_of
from gm_arena.match.openings import Opening
from gm_arena.match.plan import fixtures
from gm_recon import read_json
from tests.arena.matches import PATIENCE, command, games, lines, run, same_whenever, summary
from tests.bots.recon_zero.learning import checkpoint, needs_torch
from tests.cli.commands import gmd
from tests.serving import environment

pytestmark = pytest.mark.slow

#: The bot without a network, in games that are soon over and prove nothing.
PLAIN = "plain=recon-zero:checkpoint=none,simulations=2,determinisations=2"
STEP = ("--in-step", 2, "--games", 4, "--max-moves", 6)


def test_bot_plays_programs_and_itself_and_each_game_is_kept_whole(tmp_path: Path) -> None:
    record, pgn = tmp_path / "match.jsonl", tmp_path / "match.pgn"
    others = ("AttackerBot", "random:seed=2", "other=recon-zero:checkpoint=none,simulations=1,determinisations=1")
    files = ("--json-out", record, "--pgn-out", pgn)
    status, said, complaints = run(PLAIN, *others, "--tournament", "gauntlet", *STEP, *files)
    assert status == 0, complaints
    played = games(record)
    assert [game["game"] for game in played] == list(range(1, 13))
    assert {tuple(met["bots"]) for met in summary(record)["meetings"]} == {
        ("plain", "AttackerBot"), ("plain", "random:seed=2"), ("plain", "other")
    }  # fmt: skip
    assert "AttackerBot" in said
    for game in played:
        history = read_json(json.dumps(game["history"])).history
        assert [None if turn.taken is None else turn.taken.uci() for turn in history.turns] == [
            None if move == "0000" else move for move in game["moves"]
        ]
        assert game["plies"] == len(game["moves"]) <= 12
        assert game["ending"] in ("king capture", "turn limit", "too long", "lost track", "opponent lost track")
    for file in (record, pgn):
        shown = gmd("replay", file, "--game", 3)
        assert shown.status == 0, shown.err
        assert "the truth" in shown.out


def test_same_seed_plays_the_same_games_in_any_number_of_processes_and_parts(tmp_path: Path) -> None:
    against = ("other=recon-zero:checkpoint=none,simulations=1,determinisations=1", "--seed", 3)
    found = []
    for number, size in ((1, 2), (2, 2), (2, 3)):
        path = tmp_path / f"{number} {size}.jsonl"
        options = ("--in-step", size, "--games", 6, "--max-moves", 20, "--concurrency", number, "--json-out", path)
        assert run(PLAIN, *against, *options)[0] == 0
        found.append(same_whenever(games(path)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("send", "number"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)])
def test_signal_shows_the_games_played_and_leaves_no_process(
    send: Callable[[int, signal.Signals], None], number: signal.Signals
) -> None:
    """A terminal's Ctrl-C goes to all processes, ``kill`` to one."""
    arguments = command(PLAIN, "AttackerBot", "--in-step", 2, "--games", 10_000)
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        arguments, env=environment(), stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("game 1: ")
    send(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)  # no process has the pipes any more
    assert process.returncode == 128 + number
    assert "plain against AttackerBot: won" in out
    assert "Traceback" not in err


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_parts_have_games_of_the_same_two_whatever_number_is_played_at_once(size: int) -> None:
    plan = fixtures(3, 7, [Opening("start")], kind="gauntlet")
    parts = parts_of(plan, size)
    assert parts[0][0].number == 1
    assert sorted(fixture.number for part in parts for fixture in part) == list(range(1, 15))
    assert all(len(part) <= size and len({frozenset(each.bots) for each in part}) == 1 for part in parts)
    assert len(parts) == 2 * -(-7 // size)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((PLAIN, "random", "--clock", "60"), "--in-step plays without clocks and servers: leave out clock"),
        ((PLAIN, "random", "--server", ":7100"), "--in-step plays without clocks and servers: leave out server"),
        (("random", "minimax", "--variant", "rbc"), "--in-step: neither random nor minimax plays games in step"),
        ((PLAIN, "codingame:cat"), "codingame:cat plays chess960, crazyhouse, standard, and not rbc"),
        ((PLAIN, "attacker=AttackerBot", "--ray", "nowhere"), "'nowhere' is none of HOST:PORT, auto and local"),
    ],
)
def test_what_games_in_step_lack_is_refused(arguments: tuple[object, ...], reason: str) -> None:
    status, _, err = run(*arguments, *STEP)
    assert status == 2
    assert reason in " ".join(err.split())


@needs_torch
def test_match_goes_on_only_with_the_same_network(tmp_path: Path) -> None:
    path, file = tmp_path / "games.jsonl", checkpoint(tmp_path / "latest.pt", 1)
    asked = (f"new=recon-zero:checkpoint={file},simulations=2,determinisations=2", "RandomBot", "--max-moves", 2)
    assert run(*asked, "--json-out", path)[0] == 0
    played = games(path)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines(path)[:2]))
    status, said, _ = run(*asked, "--json-out", path, "--resume")
    assert (status, said.splitlines()[0]) == (0, "1 games were played before")
    assert [game["white"] for game in games(path)] == [game["white"] for game in played] == ["new", "RandomBot"]
    checkpoint(file, 3)
    status, _, complaints = run(*asked, "--json-out", path, "--resume")
    assert status == 1
    assert "games.jsonl belongs to another match: its bots is" in complaints


def test_bot_thinks_in_the_processes_of_the_match(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    options = ("--games", 4, "--concurrency", 2, "--max-moves", 2)
    status, _, complaints = run(PLAIN, "RandomBot", *options, "--json-out", path)
    assert (status, complaints) == (0, "")
    assert [game["faults"] for game in games(path)] == [{}] * 4
